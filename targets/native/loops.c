#include "targets/native/loops.h"

#include <stdbool.h>
#include <string.h>

/* ---- finding ---- */

static size_t
common_divisor(size_t a, size_t b)
{
	while (b) {
		const size_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The longest runs of one step that all of `order` divides into; what is left of it
 * is where each begins, *n of them. */
static struct move_loop
take_loop(uint32_t *order, size_t *n)
{
	struct move_loop l = {*n, 1};

	if (*n > 1)
		l.step = (ptrdiff_t)order[1] - (ptrdiff_t)order[0];
	for (size_t i = 1; i < *n && l.n > 1; i++)
		if ((ptrdiff_t)order[i] - (ptrdiff_t)order[i - 1] != l.step)
			l.n = common_divisor(l.n, i);
	*n /= l.n;
	for (size_t i = 0; i < *n; i++)
		order[i] = order[i * l.n];
	return l;
}

void
move_loops_find(
    struct move_loops *l, uint32_t *order, size_t n, struct arena *a)
{
	l->inner = take_loop(order, &n);
	l->outer = take_loop(order, &n);
	l->nblocks = n;
	l->block = (const uint32_t *)arena_copy(a, order, n * sizeof *order);
}

/* ---- moving ---- */

/* TUNING: bytes of a square that is transposed in the first cache. */
#define SQUARE 64

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Two rows, byte by byte: the compiler makes vectors of it. */
static void
interleave(uint8_t *restrict to, const uint8_t *restrict a,
    const uint8_t *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		to[2 * i] = a[i];
		to[2 * i + 1] = b[i];
	}
}

/* to[j][k] = from[k * step + j] */
static void
transpose(uint8_t *restrict to, const uint8_t *restrict from, size_t rows,
    size_t columns, ptrdiff_t step)
{
	for (size_t j0 = 0; j0 < rows; j0 += SQUARE)
		for (size_t k0 = 0; k0 < columns; k0 += SQUARE) {
			const size_t j1 = smaller(j0 + SQUARE, rows);
			const size_t k1 = smaller(k0 + SQUARE, columns);

			for (size_t j = j0; j < j1; j++)
				for (size_t k = k0; k < k1; k++)
					to[j * columns + k] =
					    from[(ptrdiff_t)k * step
					        + (ptrdiff_t)j];
		}
}

static void
move_run(uint8_t *restrict to, const uint8_t *restrict from,
    const struct move_loop *l)
{
	if (l->step == 1)
		memcpy(to, from, l->n);
	else if (l->step == 0)
		memset(to, from[0], l->n);
	else
		for (size_t i = 0; i < l->n; i++)
			to[i] = from[(ptrdiff_t)i * l->step];
}

static void
move_block(uint8_t *restrict to, const uint8_t *restrict from,
    const struct move_loops *l)
{
	const bool crosses = l->outer.n > 1 && l->outer.step == 1
	    && l->inner.n > 1 && l->inner.step != 1;

	if (crosses && l->inner.n == 2)
		interleave(to, from, from + l->inner.step, l->outer.n);
	else if (crosses)
		transpose(to, from, l->outer.n, l->inner.n, l->inner.step);
	else
		for (size_t i = 0; i < l->outer.n; i++)
			move_run(to + i * l->inner.n,
			    from + (ptrdiff_t)i * l->outer.step, &l->inner);
}

void
move_bytes(uint8_t *restrict to, const uint8_t *restrict from,
    const struct move_loops *l)
{
	const size_t each = l->outer.n * l->inner.n;

	for (size_t i = 0; i < l->nblocks; i++)
		move_block(to + i * each, from + l->block[i], l);
}
