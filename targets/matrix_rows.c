#include "targets/matrix_rows.h"

#include <string.h>

#include "ir/base/file_guard.h"
#include "ir/halves.h"

/* TUNING: smaller ones are packed as a whole. A whole copy of the model's numbers, which are
 * seldom on a cache line there, is memory that nobody has touched yet: a tenth of what
 * it takes to open BERT-base and to run it once. */
#define LARGE ((size_t)1 << 20)

bool
matrix_is_large(const struct tensor *t)
{
	return t && t->count * sizeof(float) >= LARGE && t->dtype == DT_FLOAT
	    && tensor_is_numbers(t);
}

/* Of a number in the model. */
static size_t
width_of(const struct matrix_rows *m)
{
	return m->t->kind == TENSOR_HALVES ? 2 : sizeof(float);
}

void
matrix_rows_open(struct matrix_rows *m, const struct tensor *t, float factor,
    size_t row, size_t most, struct arena *a)
{
	*m = (struct matrix_rows){.t = t, .factor = factor, .row = row};
	if (t->kind == TENSOR_VIEW && factor == 1
	    && (uintptr_t)t->data % 64 == 0)
		return;
	m->floats = arena_new(a, float, most *row + 16); /* as tensor_data() */
	if (t->kind == TENSOR_FILL)
		matrix_part_read(m, 0, 0, most * row, m->floats);
}

/* Numbers from.. of them all. */
static void
read_numbers(const struct matrix_rows *m, size_t from, size_t n, float *to)
{
	const char *at = (const char *)m->t->data + from * width_of(m);

	if (m->t->kind == TENSOR_HALVES)
		halves_widen(m->t->held, at, n, to);
	else
		memcpy(to, at, n * sizeof(float));
	for (size_t i = 0; m->factor != 1 && i < n; i++)
		to[i] *= m->factor;
}

void
matrix_part_read(
    const struct matrix_rows *m, size_t row, size_t from, size_t n, float *to)
{
	float x;

	if (m->t->kind != TENSOR_FILL) {
		read_numbers(m, row * m->row + from, n, to);
		return;
	}
	memcpy(&x, m->t->fill, sizeof x);
	for (size_t i = 0; i < n; i++)
		to[i] = x * m->factor;
}

const float *
matrix_rows_read(struct matrix_rows *m, size_t first, size_t n)
{
	if (m->t->kind == TENSOR_FILL)
		return m->floats;
	if (!m->floats)
		return (const float *)m->t->data + first * m->row;
	read_numbers(m, first * m->row, n * m->row, m->floats);
	return m->floats;
}

void
matrix_rows_let_go(const struct matrix_rows *m, size_t first, size_t n)
{
	const size_t row = m->row * width_of(m);

	if (m->t->kind != TENSOR_FILL)
		file_guard_let_go(
		    (const char *)m->t->data + first * row, n * row);
}
