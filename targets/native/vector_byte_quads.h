/* Convolutions and products of bytes, four pairs of bytes at a time (AVX2 without VNNI:
 * three instructions for 32 products where pairs of 16 bits take four). Exact: weights are
 * such that no sum of two products saturates (struct byte_quads). */
#ifndef TARGETS_NATIVE_VECTOR_BYTE_QUADS_H
#define TARGETS_NATIVE_VECTOR_BYTE_QUADS_H

#include "targets/native/vector_integer.h"

/* Unsigned bytes times signed ones, four in each lane, all added to it. */
DOT bits
quads_of_bytes(bits sum, bits a, bits w)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512BW__)
	return sum
	    + (bits)_mm512_madd_epi16(
	        _mm512_maddubs_epi16((__m512i)a, (__m512i)w),
	        _mm512_set1_epi16(1));
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	return sum
	    + (bits)_mm256_madd_epi16(
	        _mm256_maddubs_epi16((__m256i)a, (__m256i)w),
	        _mm256_set1_epi16(1));
#else
	const bits even = bits_all(0x00ff00ff);
	const shorts codes = (shorts)w;

	sum = pairs_dot(sum, a & even, (bits)((codes << 8) >> 8));
	return pairs_dot(sum, (a >> 8) & even, (bits)(codes >> 8));
#endif
}

static size_t
byte_quads_numbers(const struct integer_form *f)
{
	return f->block * (f->padded / 4 + PAIR_OF_VECTORS)
	    + NATIVE_GROUP * integer_row_bytes(f) / 4 + 1;
}

/* ---- rows as they are read ---- */

/* Signed bytes are 128 more as unsigned ones. */
static inline void
byte_quads_spread(const struct integer_form *f, const uint8_t *from,
    const uint8_t *end, int32_t zero, int32_t *to, size_t rows)
{
	const bits turned =
	    bits_all(f->from_unsigned ? 0 : (int32_t)0x80808080);
	uint8_t last[VECTOR_BYTES] = {0};

	(void)zero; /* sums begin with less for it */
	for (size_t k = 0; k < f->padded;
	     k += VECTOR_BYTES, from += VECTOR_BYTES) {
		bits x;

		if ((size_t)(end - from) < VECTOR_BYTES) {
			memcpy(last, from, (size_t)(end - from));
			from = last;
			end = last + VECTOR_BYTES;
		}
		x = bits_at(from) ^ turned;
		memcpy(to, &x, sizeof x);
		to += rows * NATIVE_WIDTH;
	}
}

/* ---- sums ---- */

/* As a pair_product, of quads: a is [depth / width][n][width] of them. */
struct quad_product {
	const int8_t *b; /* [depth][pair][4] */
	const uint32_t *quad; /* [more] of the whole depth, once more */
	const int8_t *b_more;
	const int32_t *a_whole; /* what `quad` counts in */
	size_t more;
};

#define FOURS_STEP(r) \
	{ \
		const bits s = bits_all(a[r * NATIVE_WIDTH + j]); \
		x##r = quads_of_bytes(x##r, s, b0); \
		y##r = quads_of_bytes(y##r, s, b1); \
	}
#define FOURS_COLUMN(n, b) \
	const bits b0 = bits_at(b); \
	const bits b1 = bits_at((b) + VECTOR_BYTES); \
\
	ROWS_##n(FOURS_STEP)

#define FOURS(n) \
	static __attribute__((noinline)) void fours_##n( \
	    const struct pair_product *p, const struct quad_product *q) \
	{ \
		const int32_t *a = p->a, *from = p->from; \
		const int8_t *b = q->b; \
		int32_t *to = p->to; \
\
		ROWS_##n(PAIRS_START) for (size_t k = 0; k < p->depth; \
		                           k += NATIVE_WIDTH) \
		{ \
			const size_t left = p->depth - k; \
			const size_t most = \
			    left < NATIVE_WIDTH ? left : NATIVE_WIDTH; \
\
			for (size_t j = 0; j < most; \
			     j++, b += 2 * VECTOR_BYTES) { \
				FOURS_COLUMN(n, b) \
			} \
			a += (n)*NATIVE_WIDTH; \
		} \
		b = q->b_more; \
		for (size_t k = 0; k < q->more; k++, b += 2 * VECTOR_BYTES) { \
			const size_t j = q->quad[k] % NATIVE_WIDTH; \
\
			a = q->a_whole \
			    + q->quad[k] / NATIVE_WIDTH * ((n)*NATIVE_WIDTH); \
			FOURS_COLUMN(n, b) \
		} \
		PAIRS_END(n) \
	}

FOURS(1)
FOURS(2)
FOURS(3)
FOURS(4)
FOURS(5)
FOURS(6)
#if NATIVE_GROUP > 6
FOURS(7)
FOURS(8)
FOURS(9)
FOURS(10)
FOURS(11)
FOURS(12)
#endif

/* Of n + 1 rows. */
static void (*const fours_of[NATIVE_GROUP])(
    const struct pair_product *p, const struct quad_product *q) = {
    fours_1, fours_2, fours_3, fours_4, fours_5, fours_6,
#if NATIVE_GROUP > 6
    fours_7, fours_8, fours_9, fours_10, fours_11, fours_12
#endif
};

/* ---- a block ---- */

/* What sums begin with: the bias, less what is read for zero. */
static inline void
byte_quads_begin(const struct integer_form *f, const struct integer_data *d,
    size_t filter, int32_t *to)
{
	const bits zero = bits_all(d->zero + (f->from_unsigned ? 0 : 128));

	for (size_t i = 0; i < PAIR_OF_VECTORS; i += NATIVE_WIDTH) {
		const bits x = bits_at(f->bias + filter + i)
		    - zero * bits_at(f->quads->sum + filter + i);

		memcpy(to + i, &x, sizeof x);
	}
}

/* All rows by two vectors of filters, a slice of the depth at a time. */
static inline void
byte_quads_pair(const struct integer_form *f, const struct integer_block *b,
    const struct integer_data *d, size_t filter)
{
	const struct byte_quads *w = f->quads;
	const size_t groups = groups_of(b->n), pair = filter / PAIR_OF_VECTORS;
	int32_t begin[PAIR_OF_VECTORS];

	byte_quads_begin(f, d, filter, begin);
	for (size_t c = 0; c < w->quads; c += INTEGER_SLICE)
		for (size_t i = 0; i < groups; i++) {
			const size_t row = group_at(b->n, groups, i);
			const size_t n = group_at(b->n, groups, i + 1) - row;
			const bool last = w->quads - c <= INTEGER_SLICE;
			const int32_t *at = b->at + row * (f->padded / 4);
			int32_t *sum = b->sum + row * PAIR_OF_VECTORS;
			struct pair_product p = {.a = at + c * n,
			    .depth = last ? w->quads - c : INTEGER_SLICE,
			    .from = c ? sum : begin,
			    .from_step = c ? PAIR_OF_VECTORS : 0,
			    .to = sum};
			struct quad_product q = {.b = w->at
			        + (filter * w->quads + c * PAIR_OF_VECTORS) * 4,
			    .a_whole = at};

			if (last) {
				q.quad = w->quad + w->start[pair];
				q.b_more = w->more
				    + w->start[pair] * PAIR_OF_VECTORS * 4;
				q.more = w->start[pair + 1] - w->start[pair];
				integer_set_codes(
				    &p, f, d, b->first + row, filter);
			}
			fours_of[n - 1](&p, &q);
			if (last && !p.codes)
				integer_finish(
				    f, d, sum, b->first + row, n, filter);
		}
}

static void
byte_quads_unit(const struct integer_form *f, size_t unit, bool copied,
    const struct integer_data *d, int32_t *scratch)
{
	const size_t pairs = f->filters / PAIR_OF_VECTORS;
	const size_t part = unit % f->parts;
	const size_t first = unit / f->parts * f->block;
	const size_t left = f->rows - first;
	const struct integer_block b = {.first = first,
	    .n = left < f->block ? left : f->block,
	    .at = scratch,
	    .sum = scratch + f->block * (f->padded / 4)};

	if (!copied)
		integer_copy(f, &b, d,
		    (uint8_t *)(b.sum + f->block * PAIR_OF_VECTORS),
		    byte_quads_spread, f->padded / 4);
	for (size_t k = pairs * part / f->parts;
	     k < pairs * (part + 1) / f->parts; k++)
		byte_quads_pair(f, &b, d, k * PAIR_OF_VECTORS);
}

#undef FOURS
#undef FOURS_STEP
#undef FOURS_COLUMN

#endif
