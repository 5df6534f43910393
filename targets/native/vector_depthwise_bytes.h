/* Convolutions of each channel of bytes by itself: two taps of a channel, one below the
 * other, are a pair, whose products are added up in 32 bits by one instruction. Two lines
 * are made pairs once for all windows of a row, and kept for the next ones. */
#ifndef TARGETS_NATIVE_VECTOR_DEPTHWISE_BYTES_H
#define TARGETS_NATIVE_VECTOR_DEPTHWISE_BYTES_H

#include "targets/native/depthwise_bytes_form.h"
#include "targets/native/vector_bytes.h"
#include "targets/native/vector_pairs.h"

/* Outputs whose sums fit the registers. */
#define TAPS_OUTPUTS ((size_t)4)

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

/* Of a part's channels, bytes from one column to the next's. */
struct taps_line {
	const uint8_t *from;
	size_t step;
};

/* So many columns of two lines as pairs. */
ALWAYS shorts *
taps_pair(const struct taps_line *a, const struct taps_line *b, size_t n,
    bool is_unsigned, shorts *to)
{
	for (size_t i = 0; i < n; i++, to += 2) {
		const shorts x =
		    shorts_of_codes(a->from + i * a->step, is_unsigned);
		const shorts y =
		    shorts_of_codes(b->from + i * b->step, is_unsigned);

		to[0] = (shorts)TAPS_LOW(x, y);
		to[1] = (shorts)TAPS_HIGH(x, y);
	}
	return to;
}

/* Line y of an image from column x on, or what lies around it. */
static inline struct taps_line
taps_line_at(const struct depthwise_bytes *d, const uint8_t *image, int64_t y,
    size_t x, size_t at)
{
	const struct integer_window *w = &d->window;

	if (y < 0 || y >= (int64_t)w->height)
		return (struct taps_line){d->beyond + at, 0};
	return (struct taps_line){
	    image + ((size_t)y * w->width + x) * w->channels + at, w->channels};
}

/* All columns that a row's windows reach, of line y and the one below it. */
ALWAYS void
taps_pair_lines(const struct depthwise_bytes *d, const uint8_t *image,
    int64_t y, size_t at, bool is_unsigned, shorts *to)
{
	const struct integer_window *w = &d->window;
	const struct taps_line beyond = {d->beyond + at, 0};
	const int64_t x = -w->before[1];
	const size_t left = x < 0 ? (size_t)-x : 0;
	const size_t first = x < 0 ? 0 : (size_t)x;
	const size_t before = left < d->reach ? left : d->reach;
	const size_t there = w->width > first ? w->width - first : 0;
	const size_t n = d->reach - before < there ? d->reach - before : there;
	const struct taps_line a = taps_line_at(d, image, y, first, at);
	const struct taps_line b =
	    taps_line_at(d, image, y + w->dilation[0], first, at);

	to = taps_pair(&beyond, &beyond, before, is_unsigned, to);
	to = taps_pair(&a, &b, n, is_unsigned, to);
	taps_pair(&beyond, &beyond, d->reach - before - n, is_unsigned, to);
}

/* Pairs of lines, of a part's channels, that are used again by the next rows. */
struct taps_ring {
	size_t *made; /* [ring] which line it is, counted from 1; 0: none */
	shorts *pairs; /* [ring][reach][2] */
	const shorts *line[TAPS_LINES]; /* those of a row */
};

static void
taps_make(const struct depthwise_bytes *d, const uint8_t *image, size_t row,
    size_t at, struct taps_ring *ring)
{
	const struct integer_window *w = &d->window;
	size_t line = row * (size_t)w->stride[0];

	for (size_t i = 0; 2 * i < w->kernel[0]; i++) {
		const int64_t y = (int64_t)line - w->before[0];
		const size_t slot = line % d->ring;
		shorts *to = ring->pairs + slot * d->reach * 2;

		if (ring->made[slot] != line + 1 && d->from_unsigned)
			taps_pair_lines(d, image, y, at, true, to);
		else if (ring->made[slot] != line + 1)
			taps_pair_lines(d, image, y, at, false, to);
		ring->made[slot] = line + 1;
		ring->line[i] = to;
		line += 2 * (size_t)w->dilation[0];
	}
}

/* What becomes of a vector's sums. */
ALWAYS vec
taps_scaled(const struct depthwise_bytes *d, bits sum, size_t at)
{
	return vec_of_bits(sum + bits_at(d->bias + at))
	    * vec_load(d->multiplier + at);
}

/* Two vectors of channels of n neighbouring outputs, whose windows begin at a column. */
ALWAYS void
taps_sum(const struct depthwise_bytes *d, const struct taps_ring *ring,
    size_t column, size_t at, const shorts *weights, const struct code_range *r,
    size_t n, uint8_t *to)
{
	const struct integer_window *w = &d->window;
	const size_t step = 2 * (size_t)w->stride[1];
	bits low[TAPS_OUTPUTS] = {{0}}, high[TAPS_OUTPUTS] = {{0}};

	for (size_t i = 0; 2 * i < w->kernel[0]; i++) {
		const shorts *x = ring->line[i] + 2 * column;

		for (size_t k = 0; k < w->kernel[1]; k++) {
			const bits first = (bits)weights[0];
			const bits second = (bits)weights[1];

#pragma GCC unroll 4
			for (size_t o = 0; o < n; o++) {
				low[o] =
				    pairs_dot(low[o], (bits)x[o * step], first);
				high[o] = pairs_dot(
				    high[o], (bits)x[o * step + 1], second);
			}
			weights += 2;
			x += 2 * (size_t)w->dilation[1];
		}
	}
#pragma GCC unroll 4
	for (size_t o = 0; o < n; o++)
		codes_store_pair(to + o * w->channels + at,
		    taps_scaled(d, TAPS_FIRST(low[o], high[o]), at),
		    taps_scaled(
		        d, TAPS_SECOND(low[o], high[o]), at + NATIVE_WIDTH),
		    r, d->to_unsigned);
}

/* A row's outputs of two vectors of channels; of the last ones some twice, where they are
 * not whole groups. */
static void
taps_row(const struct depthwise_bytes *d, const struct taps_ring *ring,
    size_t at, const shorts *weights, uint8_t *to)
{
	const struct code_range r = code_range_of(d->zero, d->to_unsigned);
	const struct integer_window *w = &d->window;
	const size_t step = (size_t)w->stride[1];

	if (w->columns < TAPS_OUTPUTS) {
		for (size_t x = 0; x < w->columns; x++)
			taps_sum(d, ring, x * step, at, weights, &r, 1,
			    to + x * w->channels);
		return;
	}
	for (size_t x = 0; x < w->columns; x += TAPS_OUTPUTS) {
		const size_t most = w->columns - TAPS_OUTPUTS;
		const size_t first = x < most ? x : most;

		taps_sum(d, ring, first * step, at, weights, &r, TAPS_OUTPUTS,
		    to + first * w->channels);
	}
}

/* Some rows of an image, two vectors of channels after the other. */
static void
depthwise_bytes_rows(const struct depthwise_bytes *d, size_t unit,
    const uint8_t *in, uint8_t *out, int32_t *scratch)
{
	const struct integer_window *w = &d->window;
	const size_t blocks = depthwise_bytes_blocks(d);
	const size_t image = unit / blocks, first = unit % blocks * d->block;
	const size_t end =
	    first + d->block < w->rows ? first + d->block : w->rows;
	const size_t parts = (w->channels + SHORTS - 1) / SHORTS;
	const size_t each = (w->kernel[0] + 1) / 2 * w->kernel[1] * 2;
	const uint8_t *from = in + image * w->height * w->width * w->channels;
	uint8_t *to = out + image * w->rows * w->columns * w->channels;
	struct taps_ring ring = {.pairs = (shorts *)scratch,
	    .made = (size_t *)(scratch + d->ring * d->reach * SHORTS)};

	for (size_t p = 0; p < parts; p++) {
		const size_t at = depthwise_part_at(p, SHORTS, w->channels);

		memset(ring.made, 0, d->ring * sizeof *ring.made);
		for (size_t row = first; row < end; row++) {
			taps_make(d, from, row, at, &ring);
			taps_row(d, &ring, at,
			    (const shorts *)d->weights + p * each,
			    to + row * w->columns * w->channels);
		}
	}
}

#endif
