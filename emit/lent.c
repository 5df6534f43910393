#include "emit/lent.h"

#include <stdlib.h>
#include <string.h>

#include "ir/external.h"

/* TUNING: below this a second copy costs less than two files that need each
 * other; and a tensor this small lies in the model itself. */
#define MODEL_LEAST ((size_t)16 << 20)
#define TENSOR_LEAST ((size_t)4 << 10)

/* The model's own file; NULL: it has no bytes here. */
static const struct mapped_file *
own_file(const struct model *m)
{
	for (const struct mapping *x = m->mappings; x; x = x->next)
		if (!x->location)
			return &x->file;
	return NULL;
}

bool
lent_pays(const struct model *m)
{
	const struct mapped_file *f = own_file(m);

	return f && f->bytes >= MODEL_LEAST;
}

void
lent_add(
    struct lent *l, uint64_t from, uint64_t bytes, uint64_t to, struct arena *a)
{
	if (bytes < TENSOR_LEAST)
		return;
	if (l->n == l->room) {
		struct lent_piece *old = l->piece;

		l->room = l->room ? 2 * l->room : 256;
		l->piece = arena_new(a, struct lent_piece, l->room);
		if (l->n)
			memcpy(l->piece, old, l->n * sizeof *old);
	}
	l->piece[l->n++] = (struct lent_piece){from, bytes, to};
}

static int
compare_pieces(const void *x, const void *y)
{
	const struct lent_piece *a = x, *b = y;

	return (a->from > b->from) - (a->from < b->from);
}

void
lent_done(struct lent *l)
{
	if (l->n)
		qsort(l->piece, l->n, sizeof *l->piece, compare_pieces);
}

/* The last piece that begins at or before `at`. */
static const struct lent_piece *
piece_of(const struct lent *l, uint64_t at)
{
	uint32_t low = 0, high = l->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (l->piece[middle].from <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &l->piece[low - 1] : NULL;
}

bool
lent_find(const struct lent *l, const struct model *m, const struct tensor *t,
    uint64_t *to)
{
	const struct mapped_file *f = own_file(m);
	uintptr_t data = (uintptr_t)t->data, begin = f ? (uintptr_t)f->data : 0;
	const struct lent_piece *p;
	uint64_t at;

	if (t->kind != TENSOR_VIEW || t->made_up || t->bytes < TENSOR_LEAST
	    || !f || data < begin || data - begin > f->bytes)
		return false;
	at = data - begin;
	p = piece_of(l, at);
	if (!p || at - p->from > p->bytes
	    || t->bytes > p->bytes - (at - p->from))
		return false;
	*to = p->to + (at - p->from);
	return true;
}
