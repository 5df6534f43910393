/* Convolutions of each channel of bytes by itself: two taps of a channel are a pair, whose
 * products are added up in 32 bits by one instruction. */
#ifndef TARGETS_NATIVE_VECTOR_DEPTHWISE_BYTES_H
#define TARGETS_NATIVE_VECTOR_DEPTHWISE_BYTES_H

#include "targets/native/depthwise_bytes_form.h"
#include "targets/native/vector_bytes.h"
#include "targets/native/vector_pairs.h"

/* Two vectors' numbers in turn, a pair a lane: two vectors of pairs, in the order in which
 * the processor has them; TAPS_FIRST() and TAPS_SECOND() are of sums of such, in the
 * numbers' order. */
#if NATIVE_WIDTH == 16 && defined(__AVX512BW__)
#define TAPS_LOW(a, b) (bits) _mm512_unpacklo_epi16((__m512i)(a), (__m512i)(b))
#define TAPS_HIGH(a, b) (bits) _mm512_unpackhi_epi16((__m512i)(a), (__m512i)(b))
#define TAPS_FIRST(low, high) \
	__builtin_shufflevector( \
	    low, high, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23)
#define TAPS_SECOND(low, high) \
	__builtin_shufflevector(low, high, 8, 9, 10, 11, 24, 25, 26, 27, 12, \
	    13, 14, 15, 28, 29, 30, 31)
#elif NATIVE_WIDTH == 8 && defined(__AVX2__)
#define TAPS_LOW(a, b) (bits) _mm256_unpacklo_epi16((__m256i)(a), (__m256i)(b))
#define TAPS_HIGH(a, b) (bits) _mm256_unpackhi_epi16((__m256i)(a), (__m256i)(b))
#define TAPS_FIRST(low, high) \
	(bits) _mm256_permute2x128_si256((__m256i)(low), (__m256i)(high), 0x20)
#define TAPS_SECOND(low, high) \
	(bits) _mm256_permute2x128_si256((__m256i)(low), (__m256i)(high), 0x31)
#else
ALWAYS bits
taps_joined(const int16_t *a, const int16_t *b)
{
	int16_t pairs[SHORTS];
	bits x;

	for (size_t i = 0; i < NATIVE_WIDTH; i++) {
		pairs[2 * i] = a[i];
		pairs[2 * i + 1] = b[i];
	}
	memcpy(&x, pairs, sizeof x);
	return x;
}

ALWAYS bits
taps_joined_from(shorts a, shorts b, size_t first)
{
	int16_t numbers[2][SHORTS];

	memcpy(numbers[0], &a, sizeof a);
	memcpy(numbers[1], &b, sizeof b);
	return taps_joined(numbers[0] + first, numbers[1] + first);
}
#define TAPS_LOW(a, b) taps_joined_from(a, b, 0)
#define TAPS_HIGH(a, b) taps_joined_from(a, b, NATIVE_WIDTH)
#define TAPS_FIRST(low, high) (low)
#define TAPS_SECOND(low, high) (high)
#endif

ALWAYS shorts
shorts_at(const int16_t *at)
{
	return *(const shorts *)at;
}

static void
depthwise_bytes_packed(const int16_t *from, size_t pairs, int16_t *to)
{
	for (size_t i = 0; i < pairs;
	     i++, from += 2 * SHORTS, to += 2 * SHORTS) {
		const shorts a = shorts_at(from), b = shorts_at(from + SHORTS);

		*(shorts *)to = (shorts)TAPS_LOW(a, b);
		*(shorts *)(to + SHORTS) = (shorts)TAPS_HIGH(a, b);
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
	const struct integer_window *w = &d->window;
	const size_t image = row / w->rows * w->height * w->width;
	const int64_t x0 = (int64_t)column * w->stride[1] - w->before[1];
	int64_t y = (int64_t)(row % w->rows) * w->stride[0] - w->before[0];
	size_t n = 0;

	for (size_t i = 0; i < w->kernel[0]; i++, y += w->dilation[0])
		for (size_t k = 0; k < w->kernel[1]; k++) {
			const int64_t x = x0 + (int64_t)k * w->dilation[1];

			t->tap[n++] = y < 0 || y >= (int64_t)w->height || x < 0
			        || x >= (int64_t)w->width
			    ? d->beyond
			    : in
			        + (image + (size_t)y * w->width + (size_t)x)
			            * w->channels;
		}
	t->tap[n] = d->beyond;
}

/* What becomes of a vector's sums. */
ALWAYS vec
taps_scaled(const struct depthwise_bytes *d, bits sum, size_t at)
{
	return vec_of_bits(sum + bits_at(d->bias + at))
	    * vec_load(d->multiplier + at);
}

/* Two vectors of channels of one output. */
ALWAYS void
taps_sum(const struct depthwise_bytes *d, const struct taps_at *t, size_t pairs,
    size_t at, const int16_t *weights, const struct code_range *r,
    bool is_unsigned, uint8_t *to)
{
	bits low = {0}, high = {0};

	for (size_t i = 0; i < pairs; i++, weights += 2 * SHORTS) {
		const shorts a =
		    shorts_of_codes(t->tap[2 * i] + at, is_unsigned);
		const shorts b =
		    shorts_of_codes(t->tap[2 * i + 1] + at, is_unsigned);

		low = pairs_dot(low, TAPS_LOW(a, b), (bits)shorts_at(weights));
		high = pairs_dot(
		    high, TAPS_HIGH(a, b), (bits)shorts_at(weights + SHORTS));
	}
	codes_store_pair(to + at, taps_scaled(d, TAPS_FIRST(low, high), at),
	    taps_scaled(d, TAPS_SECOND(low, high), at + NATIVE_WIDTH), r,
	    d->to_unsigned);
}

static void
depthwise_bytes_row(const struct depthwise_bytes *d, size_t row,
    const uint8_t *in, uint8_t *out)
{
	const struct code_range r = code_range_of(d->zero, d->to_unsigned);
	const size_t pairs =
	    (d->window.kernel[0] * d->window.kernel[1] + 1) / 2;
	const size_t parts = (d->window.channels + SHORTS - 1) / SHORTS;
	uint8_t *to = out + row * d->window.columns * d->window.channels;
	struct taps_at taps;

	for (size_t x = 0; x < d->window.columns;
	     x++, to += d->window.channels) {
		taps_find(&taps, d, row, x, in);
		for (size_t p = 0; p < parts; p++) {
			const size_t at =
			    depthwise_part_at(p, SHORTS, d->window.channels);
			const int16_t *w = d->weights + p * pairs * 2 * SHORTS;

			if (d->from_unsigned)
				taps_sum(d, &taps, pairs, at, w, &r, true, to);
			else
				taps_sum(d, &taps, pairs, at, w, &r, false, to);
		}
	}
}

#endif
