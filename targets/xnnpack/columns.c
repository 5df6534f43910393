/* Products with large matrices, as operators of some columns each: of the matrix's numbers
 * no more is in memory, beside what the library has packed, than of those columns. */
#include "targets/matrix_rows.h"
#include "targets/weights.h"
#include "targets/xnnpack/op.h"

/* TUNING: bytes of the columns of one operator: each takes milliseconds to read in a run,
 * and an operator more some microseconds. */
#define SLICE ((size_t)32 << 20)

/* TUNING: what is smaller is one operator, and read as a whole. */
#define LARGE (SLICE / 2)

/* A multiple of what any kernel of the library sums side by side. */
#define SIDE_BY_SIDE 64

/* Rows that are read at once, where a row has all columns' numbers. */
#define ROWS 64

struct column_reader {
	struct matrix_rows from;
	bool by_row; /* a row of the matrix is a column */
	size_t depth, all;
	size_t most; /* at once */
	float *floats; /* [depth][most], unless by row */
};

static void
open_columns(struct column_reader *c, const struct tensor *t,
    const struct product *p, const struct operator* o, struct arena *a)
{
	const size_t n =
	    SLICE / sizeof(float) / o->in / SIDE_BY_SIDE * SIDE_BY_SIDE;

	*c = (struct column_reader){.by_row = p->transpose_right,
	    .depth = o->in,
	    .all = o->out,
	    .most = n > 0 ? n : SIDE_BY_SIDE};
	if (!c->by_row)
		c->floats = arena_new(a, float, c->depth * c->most);
	matrix_rows_open(&c->from, t, p->alpha, c->by_row ? c->depth : c->all,
	    c->by_row ? c->most : 0, a);
}

/* Columns first.. as the operator reads them. */
static const float *
read_columns(struct column_reader *c, size_t first, size_t n)
{
	if (c->by_row)
		return matrix_rows_read(&c->from, first, n);
	for (size_t i = 0; i < c->depth; i += ROWS) {
		const size_t end = c->depth - i < ROWS ? c->depth : i + ROWS;

		for (size_t k = i; k < end; k++)
			matrix_part_read(
			    &c->from, k, first, n, c->floats + k * n);
		matrix_rows_let_go(&c->from, i, end - i);
	}
	return c->floats;
}

static bool
create_part(struct xnn_build *b, struct column_reader *c,
    const struct operator* whole, uint32_t part, const char *what)
{
	struct xnn_layer *l = b->layer;
	struct xnn_columns *more = part ? &l->more[part - 1] : NULL;
	struct operator* o = more ? &more->what : & l->what;
	const size_t first = part * c->most, left = c->all - first;
	bool ok;

	*o = *whole;
	o->out = left < c->most ? left : c->most;
	o->weights = read_columns(c, first, o->out);
	o->bias = whole->bias ? whole->bias + first : NULL;
	if (more)
		more->at = first * sizeof(float);
	ok = create_operator(b, o, more ? &more->instance : &l->instance, what);
	if (c->by_row)
		matrix_rows_let_go(&c->from, first, o->out);
	return ok;
}

bool
columns_wanted(const struct tensor *matrix)
{
	return matrix_is_large(matrix)
	    && matrix->count * sizeof(float) >= LARGE;
}

bool
create_columns(struct xnn_build *b, const struct tensor *matrix,
    const struct product *p, const char *what)
{
	struct xnn_layer *l = b->layer;
	const struct operator whole = l->what;
	struct column_reader c;
	bool ok = true;

	open_columns(&c, matrix, p, &whole, b->scratch);
	l->nmore = (uint32_t)((c.all - 1) / c.most);
	l->more = arena_new(b->arena, struct xnn_columns, l->nmore);
	for (uint32_t i = 0; ok && i <= l->nmore; i++)
		ok = create_part(b, &c, &whole, i, what);
	if (!ok)
		layer_release(l);
	return ok;
}
