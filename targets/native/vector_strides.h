/* Elements moved in strided loops: runs, matrices that are transposed a square of
 * vectors at a time, and the rest one by one. All bits stay. */
#ifndef TARGETS_NATIVE_VECTOR_STRIDES_H
#define TARGETS_NATIVE_VECTOR_STRIDES_H

#include "targets/native/strides.h"
#include "targets/native/vector.h"

/* TUNING: bytes from which on the C library copies as fast as can be. */
#define COPY_LARGE 2048

ALWAYS void
run_copy(float *to, const float *from, size_t n)
{
	size_t i = 0;

	if (n * sizeof *to >= COPY_LARGE) {
		memcpy(to, from, n * sizeof *to);
		return;
	}
	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
		vec_store(to + i, vec_load(from + i));
	if (i < n)
		vec_store_first(to + i, vec_load_first(from + i, n - i), n - i);
}

ALWAYS void
run_fill(float *to, const float *from, size_t n)
{
	const vec x = vec_all(*from);
	size_t i = 0;

	for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
		vec_store(to + i, x);
	if (i < n)
		vec_store_first(to + i, x, n - i);
}

/* Words, since floats may be no numbers. */
ALWAYS void
run_every(uint32_t *to, const uint32_t *from, const struct stride_loop *l)
{
	const ptrdiff_t read = l->from, write = l->to;

	for (ptrdiff_t i = 0; i < (ptrdiff_t)l->n; i++)
		to[i * write] = from[i * read];
}

/* Every second one, or backwards: the last vector reads nothing beyond. */
static void
run_strided(float *to, const float *from, const struct stride_loop *l)
{
	const size_t n = l->n;
	struct stride_loop rest = *l;
	size_t i = 0;

	if (l->to == 1 && l->from == 2)
		for (; i + NATIVE_WIDTH < n; i += NATIVE_WIDTH)
			vec_store(to + i,
			    VEC_EVEN(vec_load(from + 2 * i),
			        vec_load(from + 2 * i + NATIVE_WIDTH)));
	else if (l->to == 1 && l->from == -1)
		for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
			vec_store(to + i,
			    VEC_BACK(vec_load(from - i - (NATIVE_WIDTH - 1))));
	rest.n -= (uint32_t)i;
	run_every((uint32_t *)to + (ptrdiff_t)i * l->to,
	    (const uint32_t *)from + (ptrdiff_t)i * l->from, &rest);
}

/* to[j * rows + k] = from[k * columns + j]: a square, or what is there of one. */
ALWAYS void
turn_square(float *to, const float *from, const struct stride_loop *across,
    const struct stride_loop *down, size_t k, size_t j)
{
	const size_t ks =
	    across->n - k < NATIVE_WIDTH ? across->n - k : NATIVE_WIDTH;
	const size_t js =
	    down->n - j < NATIVE_WIDTH ? down->n - j : NATIVE_WIDTH;
	vec x[NATIVE_WIDTH];

	from += (ptrdiff_t)k * across->from + (ptrdiff_t)j;
	to += (ptrdiff_t)j * down->to + (ptrdiff_t)k;
	if (ks == NATIVE_WIDTH && js == NATIVE_WIDTH) {
		for (ptrdiff_t i = 0; i < NATIVE_WIDTH; i++)
			x[i] = vec_load(from + i * across->from);
		vec_turn(x);
		for (ptrdiff_t i = 0; i < NATIVE_WIDTH; i++)
			vec_store(to + i * down->to, x[i]);
		return;
	}
	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		x[i] = i < ks
		    ? vec_load_first(from + (ptrdiff_t)i * across->from, js)
		    : vec_all(0);
	vec_turn(x);
	for (size_t i = 0; i < js; i++)
		vec_store_first(to + (ptrdiff_t)i * down->to, x[i], ks);
}

static void
turn(float *to, const float *from, const struct stride_loop *l)
{
	for (size_t j = 0; j < l[1].n; j += NATIVE_WIDTH)
		for (size_t k = 0; k < l[0].n; k += NATIVE_WIDTH)
			turn_square(to, from, &l[0], &l[1], k, j);
}

/* Planes read side by side, as pixels of three or four channels are made of them. */
static void
interleave(uint32_t *restrict to, const uint32_t *restrict from,
    ptrdiff_t plane, size_t planes, size_t n)
{
	if (planes == 3)
		for (size_t i = 0; i < n; i++) {
			to[3 * i] = from[i];
			to[3 * i + 1] = from[(ptrdiff_t)i + plane];
			to[3 * i + 2] = from[(ptrdiff_t)i + 2 * plane];
		}
	else
		for (size_t i = 0; i < n; i++) {
			to[4 * i] = from[i];
			to[4 * i + 1] = from[(ptrdiff_t)i + plane];
			to[4 * i + 2] = from[(ptrdiff_t)i + 2 * plane];
			to[4 * i + 3] = from[(ptrdiff_t)i + 3 * plane];
		}
}

/* Rows so short that a loop over one is known here. */
#define COPY_ROWS(words) \
	for (uint32_t r = 0; r < l->n; r++) \
		memcpy(to + (ptrdiff_t)r * l->to, \
		    from + (ptrdiff_t)r * l->from, (words) * sizeof *to);

static void
copy_rows(float *to, const float *from, size_t n, const struct stride_loop *l)
{
	switch (n) {
	case 1:
		COPY_ROWS(1)
		return;
	case 2:
		COPY_ROWS(2)
		return;
	case 3:
		COPY_ROWS(3)
		return;
	case 4:
		COPY_ROWS(4)
		return;
	case 8:
		COPY_ROWS(8)
		return;
	default:
		for (uint32_t r = 0; r < l->n; r++)
			run_copy(to + (ptrdiff_t)r * l->to,
			    from + (ptrdiff_t)r * l->from, n);
	}
}

/* The two inner loops. */
static void
move_plane(float *to, const float *from, const struct stride_shape *s)
{
	const struct stride_loop *l = s->loop;

	if (s->kind == STRIDE_TURN) {
		turn(to, from, l);
		return;
	}
	if (s->kind == STRIDE_COPY) {
		copy_rows(to, from, l[0].n, &l[1]);
		return;
	}
	if (l[0].from == 1 && l[1].to == 1 && l[0].to == (int32_t)l[1].n
	    && (l[1].n == 3 || l[1].n == 4)) {
		interleave((uint32_t *)to, (const uint32_t *)from, l[1].from,
		    l[1].n, l[0].n);
		return;
	}
	for (uint32_t r = 0; r < l[1].n; r++) {
		if (s->kind == STRIDE_FILL)
			run_fill(to, from, l[0].n);
		else
			run_strided(to, from, &l[0]);
		to += l[1].to;
		from += l[1].from;
	}
}

/* Of elements that are no words. */
#define MOVE_PLANE(name, type) \
	static void name( \
	    type *to, const type *from, const struct stride_shape *s) \
	{ \
		const struct stride_loop *l = s->loop; \
\
		for (ptrdiff_t r = 0; r < (ptrdiff_t)l[1].n; r++) { \
			type *row = to + r * l[1].to; \
			const type *at = from + r * l[1].from; \
\
			if (s->kind == STRIDE_COPY) \
				memcpy(row, at, l[0].n * sizeof *row); \
			else \
				for (ptrdiff_t i = 0; i < (ptrdiff_t)l[0].n; \
				     i++) \
					row[i * l[0].to] = at[i * l[0].from]; \
		} \
	}
MOVE_PLANE(move_halves, uint16_t)
MOVE_PLANE(move_longs, uint64_t)

/* Of elements of a size, planes in loops 2 to k. */
#define MOVE_LOOPS(name, type, plane) \
	static void name(type *to, const type *from, \
	    const struct stride_shape *s, uint32_t k) \
	{ \
		const struct stride_loop *l = &s->loop[k]; \
\
		if (k < 2) { \
			plane(to, from, s); \
			return; \
		} \
		for (ptrdiff_t i = 0; i < (ptrdiff_t)l->n; i++) \
			name(to + i * l->to, from + i * l->from, s, k - 1); \
	}
MOVE_LOOPS(move_word_loops, float, move_plane)
MOVE_LOOPS(move_half_loops, uint16_t, move_halves)
MOVE_LOOPS(move_long_loops, uint64_t, move_longs)

static void
strides_piece(const struct strides *s, const struct stride_piece *p,
    const void *from, void *to)
{
	const struct stride_shape *shape = &s->shape[p->shape];
	const uint32_t k = shape->nloops < 2 ? 1 : shape->nloops - 1;

	if (s->size == 4)
		move_word_loops((float *)to + p->to,
		    (const float *)from + p->from, shape, k);
	else if (s->size == 2)
		move_half_loops((uint16_t *)to + p->to,
		    (const uint16_t *)from + p->from, shape, k);
	else
		move_long_loops((uint64_t *)to + p->to,
		    (const uint64_t *)from + p->from, shape, k);
}

static void
strides_pieces(const struct strides *s, const void *const *source, void *out,
    uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i < last; i++)
		strides_piece(s, &s->piece[i], source[s->piece[i].source], out);
}

#endif
