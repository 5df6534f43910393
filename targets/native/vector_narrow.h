/* Weights in blocks of 4 or 8 bits times a few rows. A vector of 32-bit words holds
 * 8 or 4 codes a lane: shifted and masked they are as many vectors of weights, and a
 * row is packed in the order in which these come, so that no code is moved. */
#ifndef TARGETS_NATIVE_VECTOR_NARROW_H
#define TARGETS_NATIVE_VECTOR_NARROW_H

#include "targets/native/narrow_form.h"
#include "targets/native/vector.h"
#include "targets/native/vector_product.h"

/* Words are shifted without a sign. */
typedef uint32_t words __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t words_unaligned
    __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

/* Two columns, as far as one call goes: words of codes, and per block of them a
 * weight is (code - zero) * scale, which is 0 where the code is the zero. */
struct narrow_side {
	const unsigned char *codes[NARROW_COLUMNS];
	const float *scale[NARROW_COLUMNS], *zero[NARROW_COLUMNS];
	size_t from, to; /* vectors of words */
	uint32_t bits; /* 4 or 8 */
	uint32_t block_words; /* log2 of the words that share a scale */
};

static size_t
narrow_stride(const struct narrow *w)
{
	const size_t whole = NATIVE_WIDTH * (32 / w->bits);

	return (w->depth + whole - 1) / whole * whole;
}

static void
narrow_pack(const struct narrow_form *f, const float *from, float *to)
{
	const size_t each = 32 / f->weights.bits, depth = f->weights.depth;
	const size_t whole = NATIVE_WIDTH * each;

	for (size_t r = 0; r < f->rows; r++, from += depth)
		for (size_t k = 0; k < f->stride; k++, to++) {
			const size_t in = k % whole;
			const size_t at = k - in + in % NATIVE_WIDTH * each
			    + in / NATIVE_WIDTH;

			*to = at < depth ? from[at] : 0;
		}
}

ALWAYS words
words_load(const unsigned char *at)
{
	return *(const words_unaligned *)at;
}

/* One number of each block, for the lanes that hold its words. */
ALWAYS vec
narrow_spread(const float *at, uint32_t shift)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	const __m512i lane = _mm512_setr_epi32(
	    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	const uint32_t n = shift < 4 ? 16u >> shift : 1;

	return _mm512_permutexvar_ps(
	    _mm512_srl_epi32(lane, _mm_cvtsi32_si128((int)shift)),
	    _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), at));
#else
	float all[NATIVE_WIDTH];

	for (uint32_t i = 0; i < NATIVE_WIDTH; i++)
		all[i] = at[i >> shift];
	return vec_load(all);
#endif
}

/* Codes i of all words, as numbers. */
ALWAYS vec
narrow_codes(words v, uint32_t i, uint32_t width)
{
	const words moved = v >> (i * width);

#if NATIVE_WIDTH == 16 && defined(__AVX512F__)
	if (width == 4) /* the last four bits choose one of 16 numbers */
		return _mm512_permutexvar_ps((__m512i)moved,
		    _mm512_setr_ps(
		        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
#endif
	return __builtin_convertvector(
	    (bits)moved & bits_all((1 << width) - 1), vec);
}

#define NARROW_BEGIN(r) vec x##r = {0}, y##r = {0};
#define NARROW_STEP(r) \
	{ \
		const vec s = vec_load(a + (r)*stride); \
		x##r += s * w0; \
		y##r += s * w1; \
	}
#define NARROW_GIVE(r) \
	sum[NARROW_COLUMNS * (r)] += vec_sum(x##r); \
	sum[NARROW_COLUMNS * (r) + 1] += vec_sum(y##r);

/* sum[n][2] += rows of a, `stride` floats apart, times both columns. */
#define NARROW(n) \
	ALWAYS void narrow_of_##n(const float *a, size_t stride, \
	    const struct narrow_side *side, uint32_t width, float *sum) \
	{ \
		const uint32_t each = 32 / width; \
\
		ROWS_##n(NARROW_BEGIN) for (size_t i = side->from; \
		                            i < side->to; i++) \
		{ \
			const size_t block = \
			    i * NATIVE_WIDTH >> side->block_words; \
			const words v0 = \
			    words_load(side->codes[0] + i * VECTOR_BYTES); \
			const words v1 = \
			    words_load(side->codes[1] + i * VECTOR_BYTES); \
			const vec s0 = narrow_spread( \
			    side->scale[0] + block, side->block_words); \
			const vec s1 = narrow_spread( \
			    side->scale[1] + block, side->block_words); \
			const vec z0 = narrow_spread( \
			    side->zero[0] + block, side->block_words); \
			const vec z1 = narrow_spread( \
			    side->zero[1] + block, side->block_words); \
\
			_Pragma("GCC unroll 8") for (uint32_t j = 0; j < each; \
			                             j++) \
			{ \
				const vec w0 = \
				    (narrow_codes(v0, j, width) - z0) * s0; \
				const vec w1 = \
				    (narrow_codes(v1, j, width) - z1) * s1; \
\
				ROWS_##n(NARROW_STEP) a += NATIVE_WIDTH; \
			} \
		} \
		ROWS_##n(NARROW_GIVE) \
	} \
	static __attribute__((noinline)) void narrow_##n(const float *a, \
	    size_t stride, const struct narrow_side *side, float *sum) \
	{ \
		if (side->bits == 4) \
			narrow_of_##n(a, stride, side, 4, sum); \
		else \
			narrow_of_##n(a, stride, side, 8, sum); \
	}

NARROW(1)
NARROW(2)
NARROW(4)
#if NATIVE_GROUP > 6
NARROW(8)
#endif

/* As many rows as there are registers for; how many it were. */
static inline size_t
narrow_rows(const float *a, size_t stride, const struct narrow_side *side,
    size_t rows, float *sum)
{
#if NATIVE_GROUP > 6
	if (rows >= 8)
		return narrow_8(a, stride, side, sum), 8;
#endif
	if (rows >= 4)
		return narrow_4(a, stride, side, sum), 4;
	if (rows >= 2)
		return narrow_2(a, stride, side, sum), 2;
	return narrow_1(a, stride, side, sum), 1;
}

/* TUNING: of rows that are multiplied at once, half the first cache. */
#define NARROW_PIECE ((size_t)24576)

/* Bytes of a column that hold its codes, in whole words; others may follow. */
static inline size_t
narrow_bytes(const struct narrow *w)
{
	const size_t each = 32 / w->bits;

	return (w->depth + each - 1) / each * 4;
}

/* Two columns, all whole vectors of them. */
static struct narrow_side
narrow_side(const struct narrow *w, size_t left, size_t right)
{
	const size_t column[] = {left, right};
	const size_t bytes = (w->blocks << w->block_shift) * w->bits / 8;
	struct narrow_side s = {
	    .to = narrow_bytes(w) / VECTOR_BYTES,
	    .bits = w->bits,
	    .block_words = w->block_shift - (w->bits == 4 ? 3 : 2),
	};

	for (uint32_t i = 0; i < NARROW_COLUMNS; i++) {
		s.codes[i] = w->codes + column[i] * bytes;
		s.scale[i] = w->scale + column[i] * w->blocks;
		s.zero[i] = w->zero + column[i] * w->blocks;
	}
	return s;
}

/* Fewer words than a vector, with zeros behind them. */
struct narrow_rest {
	unsigned char codes[NARROW_COLUMNS][VECTOR_BYTES];
	float scale[NARROW_COLUMNS][NATIVE_WIDTH];
	float zero[NARROW_COLUMNS][NATIVE_WIDTH];
};

static struct narrow_side
narrow_last(const struct narrow *w, struct narrow_side s, struct narrow_rest *r)
{
	const size_t block = s.to * NATIVE_WIDTH >> s.block_words;
	const size_t left = (w->blocks - block) * sizeof(float);

	memset(r, 0, sizeof *r);
	for (uint32_t i = 0; i < NARROW_COLUMNS; i++) {
		memcpy(r->codes[i], s.codes[i] + s.to * VECTOR_BYTES,
		    narrow_bytes(w) % VECTOR_BYTES);
		memcpy(r->scale[i], s.scale[i] + block, left);
		memcpy(r->zero[i], s.zero[i] + block, left);
		s.codes[i] = r->codes[i];
		s.scale[i] = r->scale[i];
		s.zero[i] = r->zero[i];
	}
	s.from = 0;
	s.to = 1;
	return s;
}

/* Add to all rows of two columns, or of one twice. */
static void
narrow_add(const struct narrow_form *f, const float *packed,
    const struct narrow_side *s, float *left, float *right)
{
	const size_t columns = f->weights.columns;
	size_t done;

	for (size_t r = 0; r < f->rows; r += done) {
		float sum[NARROW_COLUMNS * NARROW_ROWS] = {0};

		done = narrow_rows(
		    packed + r * f->stride, f->stride, s, f->rows - r, sum);
		for (size_t i = 0; i < done; i++) {
			left[(r + i) * columns] += sum[NARROW_COLUMNS * i];
			if (right != left)
				right[(r + i) * columns] +=
				    sum[NARROW_COLUMNS * i + 1];
		}
	}
}

static void
narrow_begin(const struct narrow_form *f, size_t from, size_t to, float *result)
{
	for (size_t r = 0; r < f->rows; r++)
		for (size_t c = from; c < to; c++)
			result[r * f->weights.columns + c] =
			    f->bias ? f->bias[c] : 0;
}

/* Vectors [from, to) of two columns at a time, or (rest) what is behind the last. */
static void
narrow_each(const struct narrow_form *f, const float *packed,
    const size_t column[2], size_t from, size_t to, float *result)
{
	const struct narrow *w = &f->weights;

	packed += from * NATIVE_WIDTH * (32 / w->bits);
	for (size_t c = column[0]; c < column[1]; c += NARROW_COLUMNS) {
		const size_t next = c + 1 < column[1] ? c + 1 : c;
		struct narrow_side s = narrow_side(w, c, next);
		struct narrow_rest rest;

		if (from < to) {
			s.from = from;
			s.to = to;
		} else {
			s = narrow_last(w, s, &rest);
		}
		narrow_add(f, packed, &s, result + c, result + next);
	}
}

/* Of all columns as many vectors as leave the rows in the first cache; then on. */
static void
narrow_columns(const struct narrow_form *f, const float *packed, size_t from,
    size_t to, float *result)
{
	const struct narrow *w = &f->weights;
	const size_t rows = f->rows < NARROW_ROWS ? f->rows : NARROW_ROWS;
	const size_t piece =
	    NARROW_PIECE / (VECTOR_BYTES * (32 / w->bits)) / rows;
	const size_t all = narrow_bytes(w) / VECTOR_BYTES;
	const size_t column[2] = {from, to};

	narrow_begin(f, from, to, result);
	for (size_t at = 0; at < all; at += piece)
		narrow_each(f, packed, column, at,
		    at + piece < all ? at + piece : all, result);
	if (narrow_bytes(w) % VECTOR_BYTES)
		narrow_each(f, packed, column, all, all, result);
}

#endif
