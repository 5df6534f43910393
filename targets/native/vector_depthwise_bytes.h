/* Convolutions of each channel of bytes by itself: two taps of a channel are a pair, whose
 * products are added up in 32 bits by one instruction. */
#ifndef TARGETS_NATIVE_VECTOR_DEPTHWISE_BYTES_H
#define TARGETS_NATIVE_VECTOR_DEPTHWISE_BYTES_H

#include "targets/native/depthwise_bytes_form.h"
#include "targets/native/vector_bytes.h"
#include "targets/native/vector_pairs.h"

/* Two vectors of pairs, in the order in which the processor interleaves. */
struct pair_of_taps {
	bits low, high;
};

ALWAYS struct pair_of_taps
taps_interleaved(shorts a, shorts b)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512BW__)
	return (struct pair_of_taps){
	    (bits)_mm512_unpacklo_epi16((__m512i)a, (__m512i)b),
	    (bits)_mm512_unpackhi_epi16((__m512i)a, (__m512i)b)};
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	return (struct pair_of_taps){
	    (bits)_mm256_unpacklo_epi16((__m256i)a, (__m256i)b),
	    (bits)_mm256_unpackhi_epi16((__m256i)a, (__m256i)b)};
#else
	int16_t pairs[2 * SHORTS];
	struct pair_of_taps p;

	for (size_t i = 0; i < SHORTS; i++) {
		pairs[2 * i] = a[i];
		pairs[2 * i + 1] = b[i];
	}
	memcpy(&p, pairs, sizeof p);
	return p;
#endif
}

/* Sums of such, in the channels' order. */
ALWAYS struct pair_of_taps
taps_in_order(struct pair_of_taps p)
{
#if NATIVE_WIDTH == 16 && defined(__AVX512BW__)
	const __m512i a = _mm512_setr_epi32(
	    0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
	const __m512i b = _mm512_setr_epi32(
	    8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);

	return (struct pair_of_taps){
	    (bits)_mm512_permutex2var_epi32((__m512i)p.low, a, (__m512i)p.high),
	    (bits)_mm512_permutex2var_epi32(
	        (__m512i)p.low, b, (__m512i)p.high)};
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
	return (struct pair_of_taps){(bits)_mm256_permute2x128_si256(
	                                 (__m256i)p.low, (__m256i)p.high, 0x20),
	    (bits)_mm256_permute2x128_si256(
	        (__m256i)p.low, (__m256i)p.high, 0x31)};
#else
	return p;
#endif
}

static void
depthwise_bytes_packed(const int16_t *from, size_t pairs, int16_t *to)
{
	for (size_t i = 0; i < pairs; i++, from += 2 * SHORTS) {
		shorts a, b;
		struct pair_of_taps p;

		memcpy(&a, from, sizeof a);
		memcpy(&b, from + SHORTS, sizeof b);
		p = taps_interleaved(a, b);
		memcpy(to + 2 * i * SHORTS, &p, sizeof p);
	}
}

/* Where the taps of an output lie; one more where their number is odd. */
struct taps_at {
	const uint8_t *tap[DEPTHWISE_TAPS + 1];
};

static inline void
taps_find(struct taps_at *t, const struct depthwise_bytes *d, size_t row,
    size_t column, const uint8_t *in)
{
	const size_t image = row / d->rows * d->height * d->width;
	const int64_t x0 = (int64_t)column * d->stride[1] - d->before[1];
	int64_t y = (int64_t)(row % d->rows) * d->stride[0] - d->before[0];
	size_t n = 0;

	for (size_t i = 0; i < d->kernel[0]; i++, y += d->dilation[0])
		for (size_t k = 0; k < d->kernel[1]; k++) {
			const int64_t x = x0 + (int64_t)k * d->dilation[1];

			t->tap[n++] = y < 0 || y >= (int64_t)d->height || x < 0
			        || x >= (int64_t)d->width
			    ? d->beyond
			    : in
			        + (image + (size_t)y * d->width + (size_t)x)
			            * d->channels;
		}
	t->tap[n] = d->beyond;
}

/* Two vectors of channels of one output. */
ALWAYS void
taps_sum(const struct depthwise_bytes *d, const struct taps_at *t, size_t pairs,
    size_t at, const int16_t *weights, const struct code_range *r, uint8_t *to)
{
	struct pair_of_taps w, x, sum = {{0}, {0}};

	for (size_t i = 0; i < pairs; i++, weights += 2 * SHORTS) {
		memcpy(&w, weights, sizeof w);
		x = taps_interleaved(
		    shorts_of_codes(t->tap[2 * i] + at, d->from_unsigned),
		    shorts_of_codes(t->tap[2 * i + 1] + at, d->from_unsigned));
		sum.low = pairs_dot(sum.low, x.low, w.low);
		sum.high = pairs_dot(sum.high, x.high, w.high);
	}
	sum = taps_in_order(sum);
	codes_store(to + at,
	    codes_near(vec_of_bits(sum.low + bits_at(d->bias + at))
	            * vec_load(d->multiplier + at),
	        r),
	    NATIVE_WIDTH);
	codes_store(to + at + NATIVE_WIDTH,
	    codes_near(
	        vec_of_bits(sum.high + bits_at(d->bias + at + NATIVE_WIDTH))
	            * vec_load(d->multiplier + at + NATIVE_WIDTH),
	        r),
	    NATIVE_WIDTH);
}

static void
depthwise_bytes_row(const struct depthwise_bytes *d, size_t row,
    const uint8_t *in, uint8_t *out)
{
	const struct code_range r = code_range_of(d->zero, d->to_unsigned);
	const size_t pairs = (d->kernel[0] * d->kernel[1] + 1) / 2;
	const size_t parts = (d->channels + SHORTS - 1) / SHORTS;
	uint8_t *to = out + row * d->columns * d->channels;
	struct taps_at taps;

	for (size_t x = 0; x < d->columns; x++, to += d->channels) {
		taps_find(&taps, d, row, x, in);
		for (size_t p = 0; p < parts; p++)
			taps_sum(d, &taps, pairs,
			    depthwise_part_at(p, SHORTS, d->channels),
			    d->weights + p * pairs * 2 * SHORTS, &r, to);
	}
}

#endif
