/* Loops over bytes, which the compiler makes vectors of. */
#ifndef TARGETS_NATIVE_VECTOR_BYTES_H
#define TARGETS_NATIVE_VECTOR_BYTES_H

#include "targets/native/byte_loops.h"
#include "targets/native/vector.h"

#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
/* 64 bytes at a time: the lower half of the table or the upper, by the first bit. */
__attribute__((target("avx512vbmi,avx512bw"))) static size_t
table_wide(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
    const uint8_t *table)
{
	__m512i part[4];
	size_t i = 0;

	for (size_t k = 0; k < 4; k++)
		part[k] = _mm512_loadu_si512(table + 64 * k);
	for (; i + 64 <= n; i += 64) {
		const __m512i x = _mm512_loadu_si512(from + i);
		const __m512i low =
		    _mm512_permutex2var_epi8(part[0], x, part[1]);
		const __m512i high =
		    _mm512_permutex2var_epi8(part[2], x, part[3]);

		_mm512_storeu_si512(to + i,
		    _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high));
	}
	return i;
}

static size_t
table_vectors(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
    const uint8_t *table)
{
	return __builtin_cpu_supports("avx512vbmi")
	    ? table_wide(to, from, n, table)
	    : 0;
}
#else
static size_t
table_vectors(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
    const uint8_t *table)
{
	(void)to;
	(void)from;
	(void)n;
	(void)table;
	return 0;
}
#endif

static void
bytes_table(uint8_t *restrict to, const uint8_t *restrict from, size_t n,
    const uint8_t *table)
{
	for (size_t i = table_vectors(to, from, n, table); i < n; i++)
		to[i] = table[from[i]];
}

ALWAYS float
byte_value(uint8_t x, const struct byte_code *c)
{
	return ((c->is_unsigned ? (float)x : (float)(int8_t)x) - c->zero)
	    * c->scale;
}

/* Of constants, so that each loop is compiled without a choice in it. */
ALWAYS void
pair_loop(uint8_t *restrict to, const uint8_t *restrict a,
    const uint8_t *restrict b, size_t n, const struct byte_pair *p,
    enum byte_operation operation, bool is_unsigned, bool one)
{
	const struct byte_code ca = {p->a.scale, p->a.zero, is_unsigned};
	const struct byte_code cb = {p->b.scale, p->b.zero, is_unsigned};
	const struct byte_limits l = byte_limits(is_unsigned);
	const float scale = p->y.scale, zero = p->y.zero;

	for (size_t i = 0; i < n; i++) {
		const float x = byte_value(a[i], &ca);
		const float y = byte_value(b[one ? 0 : i], &cb);
		const float z = operation == BYTES_ADD ? x + y
		    : operation == BYTES_SUB           ? x - y
		                                       : x * y;

		to[i] = (uint8_t)(int32_t)byte_near(z / scale, zero, l);
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
	const struct byte_limits l = byte_limits(code->is_unsigned);
	const float scale = code->scale, zero = code->zero;

	for (size_t i = 0; i < n; i++) {
		const float y = x[i] / scale;
		const float near = byte_near(y, zero, l);

		/* NaN is nothing's equal */
		to[i] = (uint8_t)(int32_t)(y == y ? near : 0);
	}
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
