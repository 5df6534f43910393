/* Loops over bytes, which the compiler makes vectors of. */
#ifndef TARGETS_NATIVE_VECTOR_BYTES_H
#define TARGETS_NATIVE_VECTOR_BYTES_H

#include <math.h>

#include "targets/native/byte_loops.h"
#include "targets/native/vector.h"
#include "targets/native/vector_pairs.h"
#include "targets/native/vector_table.h"

ALWAYS float
byte_value(uint8_t x, const struct byte_code *c)
{
	return ((c->is_unsigned ? (float)x : (float)(int8_t)x) - c->zero)
	    * c->scale;
}

/* What codes are of: whole numbers from low to high, and what zero is among them. */
struct code_range {
	float low, high;
	int32_t zero;
};

ALWAYS struct code_range
code_range_of(float zero, bool is_unsigned)
{
	const struct byte_limits l = byte_limits(is_unsigned);

	return (struct code_range){l.low - zero, l.high - zero, (int32_t)zero};
}

ALWAYS vec
vec_of_bits(bits x)
{
	return __builtin_convertvector(x, vec);
}

/* A number between two whole ones is rounded to a whole one between them, so bounds come
 * first. What BYTE_ROUNDER was added to has the whole number in its last bits. */
ALWAYS bits
codes_near(vec x, const struct code_range *r)
{
	const vec near =
	    vec_ceil_at(vec_floor_at(x, r->low), r->high) + BYTE_ROUNDER;

	return (bits)near - ((bits)vec_all(BYTE_ROUNDER) - bits_all(r->zero));
}

/* The last byte of each lane. Compilers take them out one by one. */
ALWAYS void
codes_store(uint8_t *to, bits x, size_t n)
{
	uint8_t codes[NATIVE_WIDTH];

#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	_mm_storeu_si128((__m128i *)codes, _mm512_cvtepi32_epi8((__m512i)x));
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	const __m256i low = (__m256i)(x & bits_all(255));
	const __m128i words = _mm_packs_epi32(
	    _mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));

	_mm_storel_epi64((__m128i *)codes, _mm_packus_epi16(words, words));
#else
	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		codes[i] = (uint8_t)x[i];
#endif
	if (n >= NATIVE_WIDTH)
		memcpy(to, codes, sizeof codes);
	else
		memcpy(to, codes, n);
}

/* Two vectors' codes side by side. Narrowing saturates, so only what conversion to whole
 * numbers does not hold is bounded before. */
ALWAYS void
codes_store_pair(
    uint8_t *to, vec x, vec y, const struct code_range *r, bool is_unsigned)
{
#if NATIVE_WIDTH == 8 && defined(__AVX2__)
	const __m256i a = _mm256_cvtps_epi32(vec_ceil_at(x, r->high));
	const __m256i b = _mm256_cvtps_epi32(vec_ceil_at(y, r->high));
	const __m256i words = _mm256_adds_epi16(
	    _mm256_packs_epi32(a, b), _mm256_set1_epi16((int16_t)r->zero));
	const __m256i turned = _mm256_permute4x64_epi64(words, 0xd8);
	const __m128i low = _mm256_castsi256_si128(turned);
	const __m128i high = _mm256_extracti128_si256(turned, 1);

	_mm_storeu_si128((__m128i *)to,
	    is_unsigned ? _mm_packus_epi16(low, high)
	                : _mm_packs_epi16(low, high));
#else
	(void)is_unsigned;
	codes_store(to, codes_near(x, r), NATIVE_WIDTH);
	codes_store(to + NATIVE_WIDTH, codes_near(y, r), NATIVE_WIDTH);
#endif
}

#if NATIVE_WIDTH == 8 && defined(__AVX2__)
/* Four vectors of whole numbers, less their zero, as codes. */
ALWAYS void
codes_store_four(uint8_t *to, const __m256i near[4], const struct code_range *r,
    bool is_unsigned)
{
	const __m256i zero = _mm256_set1_epi16((int16_t)r->zero);
	const __m256i first =
	    _mm256_adds_epi16(_mm256_packs_epi32(near[0], near[1]), zero);
	const __m256i second =
	    _mm256_adds_epi16(_mm256_packs_epi32(near[2], near[3]), zero);
	const __m256i codes = is_unsigned ? _mm256_packus_epi16(first, second)
	                                  : _mm256_packs_epi16(first, second);

	/* narrowing leaves the halves of all four beside each other */
	_mm256_storeu_si256((__m256i *)to,
	    _mm256_permutevar8x32_epi32(
	        codes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}
#endif

/* As many bytes as a vector has lanes. Compilers take them in one by one. */
ALWAYS vec
codes_load(const uint8_t *at, bool is_unsigned)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	const __m128i x = _mm_loadu_si128((const __m128i *)at);

	return vec_of_bits((bits)(is_unsigned ? _mm512_cvtepu8_epi32(x)
	                                      : _mm512_cvtepi8_epi32(x)));
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	const __m128i x = _mm_loadl_epi64((const __m128i *)at);

	return vec_of_bits((bits)(is_unsigned ? _mm256_cvtepu8_epi32(x)
	                                      : _mm256_cvtepi8_epi32(x)));
#else
	bits x = {0};

	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		x[i] = is_unsigned ? (int32_t)at[i] : (int32_t)(int8_t)at[i];
	return vec_of_bits(x);
#endif
}

/* Is any lane's bit set? */
ALWAYS bool
bits_any(bits x)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	return _mm512_test_epi32_mask((__m512i)x, (__m512i)x) != 0;
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#else
	int32_t any = 0;

	for (size_t i = 0; i < NATIVE_WIDTH; i++)
		any |= x[i];
	return any != 0;
#endif
}

/* SOURCE: a quotient of up to 383 steps and a product with the inverse are 2^-14 apart at most: further from the
 * middle of two whole numbers both are rounded to the same one. */
#define BYTE_MIDDLE (0.5f - 1.0f / 8192)

static void
floats_quantize_each(uint8_t *restrict to, const float *restrict x, size_t n,
    const struct byte_code *code)
{
	const struct byte_limits l = byte_limits(code->is_unsigned);
	const float scale = code->scale, zero = code->zero;

	for (size_t i = 0; i < n; i++) {
		const float y = x[i] / scale;
		const float near = byte_near(y, zero, l);

		/* NaN is nothing's equal */
		to[i] = (uint8_t)(int32_t)(y == y ? near : 0);
	}
}

/* How reals become codes. */
struct code_scale {
	const struct byte_code *code;
	struct code_range range;
	float by; /* 1 / scale */
	bool by_product; /* that is a number to multiply by */
};

ALWAYS struct code_scale
code_scale_of(const struct byte_code *code)
{
	const float by = 1 / code->scale;

	return (struct code_scale){code,
	    code_range_of(code->zero, code->is_unsigned), by, isfinite(by)};
}

/* Multiplied where that says what dividing does, which takes three times as long. */
ALWAYS void
codes_of_reals(uint8_t *to, vec x, const struct code_scale *s)
{
	const struct code_range *r = &s->range;
	const vec y = x * s->by;
	const vec kept = vec_ceil_at(vec_floor_at(y, r->low), r->high);
	const vec off = vec_abs(kept - ((kept + BYTE_ROUNDER) - BYTE_ROUNDER));

	bits codes = codes_near(y, r);

	/* NaN, which is nothing's equal, is 0 */
	if (bits_any(~(off <= vec_all(BYTE_MIDDLE))))
		codes = codes_near(x / s->code->scale, r) & (x == x);
	codes_store(to, codes, NATIVE_WIDTH);
}

#define FOUR_VECTORS ((size_t)4 * NATIVE_WIDTH)

/* Of four vectors, as codes_of_reals. What is too large or no number is far from what it
 * is converted to. */
ALWAYS void
codes_of_four(
    uint8_t *to, vec x0, vec x1, vec x2, vec x3, const struct code_scale *s)
{
#if NATIVE_WIDTH == 8 && defined(__AVX2__)
	const vec x[4] = {x0, x1, x2, x3};
	__m256i near[4], most = _mm256_setzero_si256();

#pragma GCC unroll 4
	for (size_t k = 0; k < 4; k++) {
		const vec y = x[k] * s->by;

		near[k] = _mm256_cvtps_epi32(y);
		most = _mm256_max_epi32(
		    most, (__m256i)vec_abs(y - _mm256_cvtepi32_ps(near[k])));
	}
	if (!bits_any((bits)_mm256_cmpgt_epi32(
	        most, (__m256i)vec_all(BYTE_MIDDLE)))) {
		codes_store_four(to, near, &s->range, s->code->is_unsigned);
		return;
	}
#endif
	codes_of_reals(to, x0, s);
	codes_of_reals(to + NATIVE_WIDTH, x1, s);
	codes_of_reals(to + 2 * NATIVE_WIDTH, x2, s);
	codes_of_reals(to + 3 * NATIVE_WIDTH, x3, s);
}

/* What as many bytes as a vector has lanes mean. */
ALWAYS vec
codes_value(const uint8_t *at, const struct byte_code *c)
{
	return (codes_load(at, c->is_unsigned) - c->zero) * c->scale;
}

ALWAYS void
channels_loop(uint8_t *restrict to, const uint8_t *restrict from, size_t rows,
    size_t n, const struct byte_channels *c, bool from_unsigned)
{
	struct byte_limits l = byte_limits(c->to_unsigned);
	const float *restrict scale = c->scale, *restrict shift = c->shift;
	const float zero = c->zero;

	l.low = c->least > l.low ? c->least : l.low;
	for (size_t k = 0; k < rows; k++, to += n, from += n)
		for (size_t i = 0; i < n; i++) {
			const float x = from_unsigned ? (float)from[i]
			                              : (float)(int8_t)from[i];
			const float y = x * scale[i] + shift[i];
			const float near =
			    (y + BYTE_ROUNDER) - BYTE_ROUNDER + zero;

			to[i] =
			    (uint8_t)(int32_t)byte_between(near, l.low, l.high);
		}
}

static void
bytes_channels(uint8_t *restrict to, const uint8_t *restrict from, size_t rows,
    size_t n, const struct byte_channels *c)
{
	if (c->from_unsigned)
		channels_loop(to, from, rows, n, c, true);
	else
		channels_loop(to, from, rows, n, c, false);
}

ALWAYS float
byte_combined(enum byte_operation operation, float x, float y)
{
	return operation == BYTES_ADD ? x + y
	    : operation == BYTES_SUB  ? x - y
	                              : x * y;
}

/* Of as many bytes as a vector has lanes; of b one for all, or as many. */
ALWAYS vec
pair_combined(enum byte_operation operation, vec x, const uint8_t *b,
    const struct byte_code *code, bool one)
{
	const vec y =
	    one ? vec_all(byte_value(b[0], code)) : codes_value(b, code);

	return operation == BYTES_ADD ? x + y
	    : operation == BYTES_SUB  ? x - y
	                              : x * y;
}

#define PAIR_AT(i) \
	pair_combined( \
	    operation, codes_value(a + (i), &ca), one ? b : b + (i), &cb, one)

/* Of constants, so that each loop is compiled without a choice in it. */
ALWAYS void
pair_loop(uint8_t *restrict to, const uint8_t *restrict a,
    const uint8_t *restrict b, size_t n, const struct byte_pair *p,
    enum byte_operation operation, bool is_unsigned, bool one)
{
	const struct byte_code ca = {p->a.scale, p->a.zero, is_unsigned};
	const struct byte_code cb = {p->b.scale, p->b.zero, is_unsigned};
	const struct byte_code cy = {p->y.scale, p->y.zero, is_unsigned};
	const struct code_scale steps = code_scale_of(&cy);
	size_t i = 0;

	if (steps.by_product) {
		for (; i + FOUR_VECTORS <= n; i += FOUR_VECTORS)
			codes_of_four(to + i, PAIR_AT(i),
			    PAIR_AT(i + NATIVE_WIDTH),
			    PAIR_AT(i + 2 * NATIVE_WIDTH),
			    PAIR_AT(i + 3 * NATIVE_WIDTH), &steps);
		for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
			codes_of_reals(to + i, PAIR_AT(i), &steps);
	}
	for (; i < n; i++) {
		const float z = byte_combined(operation, byte_value(a[i], &ca),
		    byte_value(b[one ? 0 : i], &cb));

		floats_quantize_each(to + i, &z, 1, &cy);
	}
}

#define PAIR_OF(operation, is_unsigned) \
	(p->one ? pair_loop(to, a, b, n, p, operation, is_unsigned, true) \
	        : pair_loop(to, a, b, n, p, operation, is_unsigned, false))

static void
bytes_pair(uint8_t *restrict to, const uint8_t *restrict a,
    const uint8_t *restrict b, size_t n, const struct byte_pair *p)
{
	const bool u = p->y.is_unsigned;

	switch (p->operation) {
	case BYTES_ADD:
		u ? PAIR_OF(BYTES_ADD, true) : PAIR_OF(BYTES_ADD, false);
		break;
	case BYTES_SUB:
		u ? PAIR_OF(BYTES_SUB, true) : PAIR_OF(BYTES_SUB, false);
		break;
	default:
		u ? PAIR_OF(BYTES_MUL, true) : PAIR_OF(BYTES_MUL, false);
		break;
	}
}

/* Lanes' own, least ones with their sign turned: each is the greatest of its kind. */
static void
floats_range_of(const float *restrict x, size_t n, float *low, float *high)
{
	const vec least = vec_all(-*low), most = vec_all(*high);
	vec l[2] = {least, least}, h[2] = {most, most};
	float lanes[2][NATIVE_WIDTH];
	size_t i = 0;

	for (; i + 2 * NATIVE_WIDTH <= n; i += 2 * NATIVE_WIDTH)
		for (size_t k = 0; k < 2; k++) {
			const vec y = vec_load(x + i + k * NATIVE_WIDTH);

			l[k] = vec_most_of(-y, l[k]);
			h[k] = vec_most_of(y, h[k]);
		}
	vec_store(lanes[0], vec_most_of(l[0], l[1]));
	vec_store(lanes[1], vec_most_of(h[0], h[1]));
	for (size_t k = 0; k < NATIVE_WIDTH; k++) {
		*low = -lanes[0][k] < *low ? -lanes[0][k] : *low;
		*high = lanes[1][k] > *high ? lanes[1][k] : *high;
	}
	for (; i < n; i++) {
		*low = x[i] < *low ? x[i] : *low;
		*high = x[i] > *high ? x[i] : *high;
	}
}

static void
floats_quantize(uint8_t *restrict to, const float *restrict x, size_t n,
    const struct byte_code *code)
{
	const struct code_scale steps = code_scale_of(code);
	size_t i = 0;

	if (steps.by_product) {
		for (; i + FOUR_VECTORS <= n; i += FOUR_VECTORS)
			codes_of_four(to + i, vec_load(x + i),
			    vec_load(x + i + NATIVE_WIDTH),
			    vec_load(x + i + 2 * NATIVE_WIDTH),
			    vec_load(x + i + 3 * NATIVE_WIDTH), &steps);
		for (; i + NATIVE_WIDTH <= n; i += NATIVE_WIDTH)
			codes_of_reals(to + i, vec_load(x + i), &steps);
	}
	floats_quantize_each(to + i, x + i, n - i, code);
}

static void
bytes_floats(float *restrict to, const uint8_t *restrict from, size_t n,
    const struct byte_code *code)
{
	const struct byte_code u = {code->scale, code->zero, true};
	const struct byte_code s = {code->scale, code->zero, false};

	if (code->is_unsigned)
		for (size_t i = 0; i < n; i++)
			to[i] = byte_value(from[i], &u);
	else
		for (size_t i = 0; i < n; i++)
			to[i] = byte_value(from[i], &s);
}

static void
floats_number(
    float *restrict to, const float *restrict x, size_t n, float instead)
{
	for (size_t i = 0; i < n; i++)
		to[i] = x[i] == x[i] ? x[i] : instead;
}

static void
bytes_sum(int32_t *restrict sum, const uint8_t *restrict from, size_t rows,
    size_t n, bool is_unsigned)
{
	for (size_t r = 0; r < rows; r++, from += n)
		if (is_unsigned)
			for (size_t i = 0; i < n; i++)
				sum[i] += from[i];
		else
			for (size_t i = 0; i < n; i++)
				sum[i] += (int8_t)from[i];
}

#endif
