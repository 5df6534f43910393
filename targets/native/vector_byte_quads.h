/* Convolutions and products of bytes, four bytes of a lane at a time (AVX2 without VNNI:
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

#define FOURS_STEP(r) \
	{ \
		const bits s = bits_all(a[r * NATIVE_WIDTH + j]); \
		x##r = quads_of_bytes(x##r, s, b0); \
		y##r = quads_of_bytes(y##r, s, b1); \
	}
#define FOURS_COLUMN(n, b) \
	const bits b0 = bits_at(b); \
	const bits b1 = bits_at((b) + NATIVE_WIDTH); \
\
	ROWS_##n(FOURS_STEP)

#define FOURS(n) \
	static __attribute__((noinline)) void fours_##n( \
	    const struct pair_product *p) \
	{ \
		const int32_t *a = p->a, *b = p->b, *from = p->from; \
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
			     j++, b += PAIR_OF_VECTORS) { \
				FOURS_COLUMN(n, b) \
			} \
			a += (n)*NATIVE_WIDTH; \
		} \
		b = p->b_more; \
		for (size_t k = 0; k < p->more; k++, b += PAIR_OF_VECTORS) { \
			const size_t j = p->quad[k] % NATIVE_WIDTH; \
\
			a = p->whole \
			    + p->quad[k] / NATIVE_WIDTH * ((n)*NATIVE_WIDTH); \
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
static pair_run *const fours_of[NATIVE_GROUP] = {
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

static void
byte_quads_unit(const struct integer_form *f, size_t unit, bool copied,
    const struct integer_data *d, int32_t *scratch)
{
	const struct byte_quads *q = f->quads;
	const size_t row = f->padded / 4, end = integer_part_at(f, unit, 1);
	const struct integer_block b = integer_block_of(f, unit, scratch, row);
	int32_t begin[PAIR_OF_VECTORS];

	if (!copied)
		integer_copy(f, &b, d,
		    (uint8_t *)(b.sum + f->block * PAIR_OF_VECTORS),
		    byte_quads_spread, row);
	for (size_t k = integer_part_at(f, unit, 0); k < end;
	     k += PAIR_OF_VECTORS) {
		const uint32_t *start = q->start + k / PAIR_OF_VECTORS;
		const struct integer_panel w = {.run = fours_of,
		    .weights = q->at + k * q->quads,
		    .depth = q->quads,
		    .row = row,
		    .begin = begin,
		    .quad = q->quad + start[0],
		    .b_more = q->more + start[0] * PAIR_OF_VECTORS,
		    .more = start[1] - start[0]};

		byte_quads_begin(f, d, k, begin);
		integer_rows(f, &b, d, k, &w);
	}
}

#undef FOURS
#undef FOURS_STEP
#undef FOURS_COLUMN

#endif
