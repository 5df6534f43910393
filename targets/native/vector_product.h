/* Products of a few rows with two vectors of columns, their sums in registers:
 * arrays of accumulators would be kept in memory by compilers of today, so each
 * has a name. */
#ifndef TARGETS_NATIVE_VECTOR_PRODUCT_H
#define TARGETS_NATIVE_VECTOR_PRODUCT_H

#include "targets/native/vector.h"

#ifndef NATIVE_GROUP
#define NATIVE_GROUP 6
#endif

#define PAIR_OF_VECTORS ((size_t)2 * NATIVE_WIDTH)

#define ROWS_1(M) M(0)
#define ROWS_2(M) ROWS_1(M) M(1)
#define ROWS_3(M) ROWS_2(M) M(2)
#define ROWS_4(M) ROWS_3(M) M(3)
#define ROWS_6(M) ROWS_4(M) M(4) M(5)
#define ROWS_8(M) ROWS_6(M) M(6) M(7)
#define ROWS_12(M) ROWS_8(M) M(8) M(9) M(10) M(11)

#define PRODUCT_ZERO(r) vec x##r = {0}, y##r = {0};
#define PRODUCT_STEP(r) \
	{ \
		const vec s = vec_all(a[r * NATIVE_WIDTH + j]); \
		x##r += s * b0; \
		y##r += s * b1; \
	}
#define PRODUCT_STORE(r) \
	vec_store(c + r * PAIR_OF_VECTORS, x##r); \
	vec_store(c + r * PAIR_OF_VECTORS + NATIVE_WIDTH, y##r);

/* c[n][pair] = a b: a is [depth / width][NATIVE_GROUP][width], the first n rows
 * counting, b [depth][pair]. */
#define PRODUCT(n) \
	static __attribute__((noinline, unused)) void product_##n( \
	    const float *restrict a, const float *restrict b, size_t depth, \
	    float *restrict c) \
	{ \
		ROWS_##n(PRODUCT_ZERO) for (size_t k = 0; k < depth; \
		                            k += NATIVE_WIDTH) \
		{ \
			_Pragma("GCC unroll 4") for (size_t j = 0; \
			                             j < NATIVE_WIDTH; j++) \
			{ \
				const vec b0 = vec_load(b); \
				const vec b1 = vec_load(b + NATIVE_WIDTH); \
\
				b += PAIR_OF_VECTORS; \
				ROWS_##n(PRODUCT_STEP) \
			} \
			a += (size_t)NATIVE_GROUP * NATIVE_WIDTH; \
		} \
		ROWS_##n(PRODUCT_STORE) \
	}

PRODUCT(2)
PRODUCT(4)
PRODUCT(6)
#if NATIVE_GROUP > 6
PRODUCT(8)
PRODUCT(12)
#endif

/* Of `rows` rows, or as many as fit; up to the group's are written. */
static inline void
product_rows(
    const float *a, const float *b, size_t depth, float *c, size_t rows)
{
	if (rows <= 2)
		product_2(a, b, depth, c);
	else if (rows <= 4)
		product_4(a, b, depth, c);
#if NATIVE_GROUP > 6
	else if (rows <= 6)
		product_6(a, b, depth, c);
	else if (rows <= 8)
		product_8(a, b, depth, c);
	else
		product_12(a, b, depth, c);
#else
	else
		product_6(a, b, depth, c);
#endif
}

#endif
