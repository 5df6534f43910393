/* Vectors of NATIVE_WIDTH floats, in the compilers' own words: one source for every
 * instruction set, which the file that includes this one is compiled for. */
#ifndef TARGETS_NATIVE_VECTOR_H
#define TARGETS_NATIVE_VECTOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef NATIVE_WIDTH
#define NATIVE_WIDTH 4
#endif

#define VECTOR_BYTES (4 * NATIVE_WIDTH)

typedef float vec __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t bits __attribute__((vector_size(VECTOR_BYTES)));
/* As it lies in memory: nowhere in particular. */
typedef float unaligned
    __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

#define ALWAYS static inline __attribute__((always_inline))

#if NATIVE_WIDTH == 4
#define EACH(x) \
	{ \
		x, x, x, x \
	}
#elif NATIVE_WIDTH == 8
#define EACH(x) \
	{ \
		x, x, x, x, x, x, x, x \
	}
#else
#define EACH(x) \
	{ \
		x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x \
	}
#endif

ALWAYS vec
vec_all(float x)
{
	return (vec)EACH(x);
}

ALWAYS bits
bits_all(int32_t x)
{
	return (bits)EACH(x);
}

ALWAYS vec
vec_load(const float *at)
{
	return *(const unaligned *)at;
}

/* x, read once: compilers read it anew for every use that can be from memory. */
ALWAYS vec
vec_kept(vec x)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	__asm__("" : "+v"(x));
#elif NATIVE_WIDTH == 8 && defined(__AVX__) \
    || NATIVE_WIDTH == 4 && defined(__SSE__)
	__asm__("" : "+x"(x));
#endif
	return x;
}

ALWAYS void
vec_store(float *at, vec x)
{
	*(unaligned *)at = x;
}

ALWAYS vec
vec_only(bits mask, vec a)
{
	return (vec)((bits)a & mask);
}

/* vec_choose(): a where the mask's bits are set, else b. vec_floor_at(),
 * vec_ceil_at(): bounds; NaN is neither below nor above one, and stays (x86 gives the
 * second operand then). Compilers find no one instruction for what others spell. */
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
#define vec_choose(mask, a, b) \
	_mm512_mask_mov_ps(b, _mm512_movepi32_mask((__m512i)(mask)), a)
#define vec_floor_at(x, low) _mm512_max_ps(vec_all(low), x)
#define vec_ceil_at(x, high) _mm512_min_ps(vec_all(high), x)
#elif NATIVE_WIDTH == 8 && defined(__AVX__)
#define vec_choose(mask, a, b) _mm256_blendv_ps(b, a, (vec)(mask))
#define vec_floor_at(x, low) _mm256_max_ps(vec_all(low), x)
#define vec_ceil_at(x, high) _mm256_min_ps(vec_all(high), x)
#else
ALWAYS vec
vec_choose(bits mask, vec a, vec b)
{
	return (vec)(((bits)a & mask) | ((bits)b & ~mask));
}

ALWAYS vec
vec_floor_at(vec x, float low)
{
	return vec_choose(x < vec_all(low), vec_all(low), x);
}

ALWAYS vec
vec_ceil_at(vec x, float high)
{
	return vec_choose(x > vec_all(high), vec_all(high), x);
}
#endif

ALWAYS vec
vec_abs(vec x)
{
	return (vec)((bits)x & bits_all(0x7fffffff));
}

/* Whichever is more, `most` where x is NaN. */
ALWAYS vec
vec_most_of(vec x, vec most)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	return _mm512_max_ps(x, most);
#elif NATIVE_WIDTH == 8 && defined(__AVX__)
	return _mm256_max_ps(x, most);
#else
	return vec_choose(x > most, x, most);
#endif
}

/* The first n elements, or all of them. */
ALWAYS bits
first_lanes(size_t n)
{
	static const int32_t lane[] = {
	    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	bits lanes;

	memcpy(&lanes, lane, sizeof lanes);
	return lanes < bits_all(n < NATIVE_WIDTH ? (int32_t)n : NATIVE_WIDTH);
}

/* Those lanes of the vector at `at` that are before the end, none behind it: vectors of
 * four are two to a block, and the second may lie behind. */
ALWAYS bits
lanes_before(size_t end, size_t at)
{
	return first_lanes(end > at ? end - at : 0);
}

/* n elements, or a whole vector; zeros are read beyond. */
ALWAYS vec
vec_load_first(const float *at, size_t n)
{
	float part[NATIVE_WIDTH] = {0};

	if (n >= NATIVE_WIDTH)
		return vec_load(at);
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	(void)part;
	return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), at);
#else
	for (size_t i = 0; i < n; i++)
		part[i] = at[i];
	return vec_load(part);
#endif
}

ALWAYS void
vec_store_first(float *at, vec x, size_t n)
{
	float part[NATIVE_WIDTH];

	if (n >= NATIVE_WIDTH) {
		vec_store(at, x);
		return;
	}
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	(void)part;
	_mm512_mask_storeu_ps(at, (__mmask16)((1u << n) - 1), x);
#else
	vec_store(part, x);
	for (size_t i = 0; i < n; i++)
		at[i] = part[i];
#endif
}

/* The lower and the upper halves of two, element by element in turn. */
#if NATIVE_WIDTH == 4
#define VEC_TURN_LOWER(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define VEC_TURN_UPPER(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#elif NATIVE_WIDTH == 8
#define VEC_TURN_LOWER(a, b) \
	__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define VEC_TURN_UPPER(a, b) \
	__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define VEC_TURN_LOWER(a, b) \
	__builtin_shufflevector( \
	    a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define VEC_TURN_UPPER(a, b) \
	__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, \
	    13, 29, 14, 30, 15, 31)
#endif

/* Of two vectors every second element; of one the elements backwards. */
#if NATIVE_WIDTH == 4
#define VEC_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6)
#define VEC_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7)
#define VEC_BACK(a) __builtin_shufflevector(a, a, 3, 2, 1, 0)
#elif NATIVE_WIDTH == 8
#define VEC_EVEN(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define VEC_ODD(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define VEC_BACK(a) __builtin_shufflevector(a, a, 7, 6, 5, 4, 3, 2, 1, 0)
#else
#define VEC_EVEN(a, b) \
	__builtin_shufflevector( \
	    a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define VEC_ODD(a, b) \
	__builtin_shufflevector( \
	    a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define VEC_BACK(a) \
	__builtin_shufflevector( \
	    a, a, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#endif

/* A square of NATIVE_WIDTH vectors, transposed: interleaving the first half of the rows
 * with the second is one bit of the places turned over, so as often as there are bits. */
ALWAYS void
vec_turn(vec x[NATIVE_WIDTH])
{
	vec y[NATIVE_WIDTH];

	for (size_t bit = 1; bit < NATIVE_WIDTH; bit *= 2) {
		for (size_t i = 0; i < NATIVE_WIDTH / 2; i++) {
			const vec a = x[i], b = x[i + NATIVE_WIDTH / 2];

			y[2 * i] = VEC_TURN_LOWER(a, b);
			y[2 * i + 1] = VEC_TURN_UPPER(a, b);
		}
		memcpy(x, y, sizeof y);
	}
}

/* Of each of NATIVE_WIDTH vectors the largest element, or the sum, in their order:
 * the halves of two are interleaved and made one, until one is left. */
#define VEC_FOLD(name, op) \
	ALWAYS vec name(const vec *from) \
	{ \
		vec x[NATIVE_WIDTH]; \
\
		memcpy(x, from, sizeof x); \
		for (size_t n = NATIVE_WIDTH / 2; n > 0; n /= 2) \
			for (size_t i = 0; i < n; i++) { \
				const vec a = VEC_TURN_LOWER(x[i], x[i + n]); \
				const vec b = VEC_TURN_UPPER(x[i], x[i + n]); \
\
				x[i] = op(a, b); \
			} \
		return x[0]; \
	}
#define VEC_SUM(a, b) ((a) + (b))
VEC_FOLD(vec_most_of_each, vec_most_of)
VEC_FOLD(vec_total_of_each, VEC_SUM)

/* The sum of a vector's lanes. */
ALWAYS float
vec_sum(vec x)
{
#if NATIVE_WIDTH == 16
	x += __builtin_shufflevector(
	    x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
	x += __builtin_shufflevector(
	    x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
	x += __builtin_shufflevector(
	    x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
	x += __builtin_shufflevector(
	    x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
#elif NATIVE_WIDTH == 8
	x += __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
	x += __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
	x += __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
#else
	x += __builtin_shufflevector(x, x, 2, 3, 0, 1);
	x += __builtin_shufflevector(x, x, 1, 0, 3, 2);
#endif
	return x[0];
}

#endif
