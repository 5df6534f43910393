/* Products of a few rows with two vectors of columns, their sums in registers:
 * arrays of accumulators would be kept in memory by compilers of today, so each
 * has a name. */
#ifndef TARGETS_NATIVE_VECTOR_PRODUCT_H
#define TARGETS_NATIVE_VECTOR_PRODUCT_H

#include <stdbool.h>

#include "targets/native/vector.h"

#ifndef NATIVE_GROUP
#define NATIVE_GROUP 6
#endif

#define PAIR_OF_VECTORS ((size_t)2 * NATIVE_WIDTH)

#define ROWS_1(M) M(0)
#define ROWS_2(M) ROWS_1(M) M(1)
#define ROWS_3(M) ROWS_2(M) M(2)
#define ROWS_4(M) ROWS_3(M) M(3)
#define ROWS_5(M) ROWS_4(M) M(4)
#define ROWS_6(M) ROWS_5(M) M(5)
#define ROWS_7(M) ROWS_6(M) M(6)
#define ROWS_8(M) ROWS_7(M) M(7)
#define ROWS_9(M) ROWS_8(M) M(8)
#define ROWS_10(M) ROWS_9(M) M(9)
#define ROWS_11(M) ROWS_10(M) M(10)
#define ROWS_12(M) ROWS_11(M) M(11)
#define ROWS_13(M) ROWS_12(M) M(12)
#define ROWS_14(M) ROWS_13(M) M(13)
#define ROWS_15(M) ROWS_14(M) M(14)
#define ROWS_16(M) ROWS_15(M) M(15)

/* to[n][pair] = from + a b. */
struct row_product {
	const float
	    *a; /* [depth / width] blocks, `step` apart, of [n][width] */
	size_t step;
	const float *b; /* [depth][pair] */
	size_t depth; /* the last block of `a` counts as far as it goes */
	const float *from; /* [pair], rows `from_step` apart, or one for all */
	size_t from_step;
	float *
	    to; /* [width], rows `to_step` apart; the second vector `other` on */
	size_t to_step, other;
	bool last; /* sums are no less than low and no more than high */
	float low, high;
	/* What is fetched meanwhile, or NULL: for a block of `a` so many lines,
	 * ahead_row apart, and ahead_step on for the next. */
	const float *ahead;
	size_t ahead_lines, ahead_row, ahead_step;
};

#define PRODUCT_PLACE(r) \
	__builtin_prefetch(to + r * p->to_step, 1); \
	__builtin_prefetch(to + r * p->to_step + p->other, 1);
#define PRODUCT_START(r) \
	vec x##r = vec_load(from + r * p->from_step); \
	vec y##r = vec_load(from + r * p->from_step + NATIVE_WIDTH);
#define PRODUCT_STEP(r) \
	{ \
		const vec s = vec_all(a[r * NATIVE_WIDTH + j]); \
		x##r += s * b0; \
		y##r += s * b1; \
	}
#define PRODUCT_ROW(n) \
	const vec b0 = vec_load(b), b1 = vec_load(b + NATIVE_WIDTH); \
\
	b += PAIR_OF_VECTORS; \
	ROWS_##n(PRODUCT_STEP)
#define PRODUCT_BOUND(r) \
	x##r = vec_floor_at(x##r, p->low); \
	y##r = vec_floor_at(y##r, p->low); \
	x##r = vec_ceil_at(x##r, p->high); \
	y##r = vec_ceil_at(y##r, p->high);
#define PRODUCT_STORE(r) \
	vec_store(to + r * p->to_step, x##r); \
	vec_store(to + r * p->to_step + p->other, y##r);

#define PRODUCT(n) \
	static __attribute__((noinline)) void product_##n( \
	    const struct row_product *p) \
	{ \
		const float *a = p->a, *b = p->b, *from = p->from; \
		const float *ahead = p->ahead; \
		float *to = p->to; \
		size_t k = 0; \
\
		if (p->last) { \
			ROWS_##n(PRODUCT_PLACE) \
		} \
		ROWS_##n(PRODUCT_START) for (; k + NATIVE_WIDTH <= p->depth; \
		                             k += NATIVE_WIDTH) \
		{ \
			_Pragma("GCC unroll 4") for (size_t j = 0; \
			                             j < NATIVE_WIDTH; j++){ \
			    PRODUCT_ROW(n)} a += p->step; \
			if (ahead) { \
				for (size_t j = 0; j < p->ahead_lines; j++) \
					__builtin_prefetch( \
					    ahead + j * p->ahead_row, 0, 2); \
				ahead += p->ahead_step; \
			} \
		} \
		for (size_t j = 0; k + j < p->depth; j++) { \
			PRODUCT_ROW(n) \
		} \
		if (p->last) { \
			ROWS_##n(PRODUCT_BOUND) \
		} \
		ROWS_##n(PRODUCT_STORE) \
	}

PRODUCT(1)
PRODUCT(2)
PRODUCT(3)
PRODUCT(4)
PRODUCT(5)
PRODUCT(6)
#if NATIVE_GROUP > 6
PRODUCT(7)
PRODUCT(8)
PRODUCT(9)
PRODUCT(10)
PRODUCT(11)
PRODUCT(12)
#endif

/* Of n + 1 rows. */
static void (*const product_of[NATIVE_GROUP])(const struct row_product *p) = {
    product_1, product_2, product_3, product_4, product_5, product_6,
#if NATIVE_GROUP > 6
    product_7, product_8, product_9, product_10, product_11, product_12
#endif
};

/* Groups of as equal size as may be: group i begins here. */
ALWAYS size_t
group_at(size_t n, size_t groups, size_t i)
{
	return n * i / groups;
}

ALWAYS size_t
groups_of(size_t n)
{
	return (n + NATIVE_GROUP - 1) / NATIVE_GROUP;
}

/* c[rows][pair] = a b, rows `step` apart, the second vector `other` on: a is
 * [depth / width][NATIVE_GROUP][width], the first rows counting, or as many as fit. */
ALWAYS void
product_to(const float *a, const float *b, size_t depth, float *c, size_t rows,
    size_t step, size_t other)
{
	static const float none[PAIR_OF_VECTORS];
	const size_t n = rows < NATIVE_GROUP ? rows : NATIVE_GROUP;
	const struct row_product p = {a, (size_t)NATIVE_GROUP * NATIVE_WIDTH, b,
	    depth, none, 0, c, step, other, false, 0, 0, NULL, 0, 0, 0};

	product_of[n - 1](&p);
}

/* Side by side: c is [rows][pair]. */
static inline void
product_rows(
    const float *a, const float *b, size_t depth, float *c, size_t rows)
{
	product_to(a, b, depth, c, rows, PAIR_OF_VECTORS, NATIVE_WIDTH);
}

/* As the next product reads it: c is [2][NATIVE_GROUP][width]. */
static inline void
product_apart(
    const float *a, const float *b, size_t depth, float *c, size_t rows)
{
	product_to(a, b, depth, c, rows, NATIVE_WIDTH,
	    (size_t)NATIVE_GROUP * NATIVE_WIDTH);
}

#endif
