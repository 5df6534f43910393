/* Convolutions and products of bytes. Rows are gathered as numbers of 16 bits less their
 * zero, pairs of them are multiplied and added into 32 bits by one instruction: no sum
 * saturates, whatever the weights are. */
#ifndef TARGETS_NATIVE_VECTOR_INTEGER_H
#define TARGETS_NATIVE_VECTOR_INTEGER_H

#include "targets/native/integer_form.h"
#include "targets/native/vector_bytes.h"
#include "targets/native/vector_pairs.h"
#include "targets/native/vector_product.h"

/* TUNING: pairs whose weights, two vectors each, stay in the first cache. */
#define INTEGER_SLICE ((size_t)256)

/* What lines of a window are copied in. */
#define INTEGER_CHUNK ((size_t)16)

/* Rows of a block: from `first` on. */
struct integer_block {
	size_t first, n;
	/* Groups of [padded / SHORTS][rows][SHORTS] of 16 bits; of bytes, in quads,
	 * [padded / VECTOR_BYTES][rows][VECTOR_BYTES]. */
	int32_t *at;
	int32_t *sum; /* [rows][pair] */
};

/* Bytes that a gathered row takes: what is copied in chunks is written beyond it. */
ALWAYS size_t
integer_row_bytes(const struct integer_form *f)
{
	return f->padded + 2 * INTEGER_CHUNK;
}

static size_t
integer_numbers(const struct integer_form *f)
{
	/* rows as they are read, their sums, a group of rows as bytes */
	return f->block * (f->padded / 2 + PAIR_OF_VECTORS)
	    + NATIVE_GROUP * integer_row_bytes(f) / 4 + 1;
}

/* ---- rows as they are read ---- */

/* One row, `rows` of which lie side by side. Weights beyond its end are zeros, so what is
 * read there is of no matter, where there is something to read. */
static inline void
integer_spread(const struct integer_form *f, const uint8_t *from,
    const uint8_t *end, int32_t zero, int32_t *to, size_t rows)
{
	uint8_t last[SHORTS] = {0};

	for (size_t k = 0; k < f->padded; k += SHORTS, from += SHORTS) {
		if ((size_t)(end - from) < SHORTS) {
			memcpy(last, from, (size_t)(end - from));
			from = last;
			end = last + SHORTS;
		}
		*(shorts *)to =
		    shorts_of_codes(from, f->from_unsigned) - (int16_t)zero;
		to += rows * NATIVE_WIDTH;
	}
}

/* In chunks, as long as they are there: what is written beyond is written again, or
 * read for nothing. */
ALWAYS void
integer_line_copy(
    uint8_t *to, const uint8_t *from, size_t n, const uint8_t *end)
{
	if ((size_t)(end - from) < n + INTEGER_CHUNK) {
		memcpy(to, from, n);
		return;
	}
	for (size_t i = 0; i < n; i += INTEGER_CHUNK)
		memcpy(to + i, from + i, INTEGER_CHUNK);
}

/* A window's line of which a part lies outside: `y` in the image or not, from x on. */
static inline void
integer_border(const struct integer_window *w, const uint8_t *image, int64_t y,
    int64_t x, int32_t zero, uint8_t *to)
{
	const size_t c = w->channels;

	for (size_t k = 0; k < w->kernel[1]; k++, to += c) {
		const int64_t at = x + (int64_t)k * w->dilation[1];

		if (y < 0 || y >= (int64_t)w->height || at < 0
		    || at >= (int64_t)w->width)
			memset(to, zero, c);
		else
			memcpy(to,
			    image + ((size_t)y * w->width + (size_t)at) * c, c);
	}
}

ALWAYS bool
integer_is_within(const struct integer_window *w, int64_t y, int64_t x)
{
	return y >= 0 && y < (int64_t)w->height && x >= 0
	    && x + (int64_t)w->kernel[1] <= (int64_t)w->width
	    && w->dilation[1] == 1;
}

/* Where an output pixel is. */
struct integer_pixel {
	size_t image, row, column;
};

ALWAYS struct integer_pixel
integer_pixel_of(const struct integer_window *w, size_t row)
{
	const size_t area = w->rows * w->columns, at = row % area;

	return (struct integer_pixel){
	    row / area, at / w->columns, at % w->columns};
}

ALWAYS void
integer_pixel_next(struct integer_pixel *p, const struct integer_window *w)
{
	if (++p->column < w->columns)
		return;
	p->column = 0;
	if (++p->row < w->rows)
		return;
	p->row = 0;
	p->image++;
}

/* The bytes under the window of an output pixel, at `to`. */
static inline void
integer_gather(const struct integer_form *f, const struct integer_data *d,
    const struct integer_pixel *p, uint8_t *to)
{
	const struct integer_window *w = &f->window;
	const size_t line = w->kernel[1] * w->channels;
	const uint8_t *image =
	    d->in + p->image * w->height * w->width * w->channels;
	const int64_t x = (int64_t)p->column * w->stride[1] - w->before[1];
	int64_t y = (int64_t)p->row * w->stride[0] - w->before[0];

	for (size_t k = 0; k < w->kernel[0]; k++, y += w->dilation[0]) {
		if (integer_is_within(w, y, x))
			integer_line_copy(to,
			    image
			        + ((size_t)y * w->width + (size_t)x)
			            * w->channels,
			    line, d->end);
		else
			integer_border(w, image, y, x, d->zero, to);
		to += line;
	}
}

/* One row as a product reads it, `rows` of which lie side by side. */
typedef void row_spread(const struct integer_form *f, const uint8_t *from,
    const uint8_t *end, int32_t zero, int32_t *to, size_t rows);

/* A row is so many numbers of 32 bits. A group's rows are gathered before any is read
 * again: what was just written in pieces is waited for. */
ALWAYS void
integer_copy(const struct integer_form *f, const struct integer_block *b,
    const struct integer_data *d, uint8_t *bytes, row_spread *spread,
    size_t row_numbers)
{
	const size_t groups = groups_of(b->n), each = integer_row_bytes(f);
	struct integer_pixel p = {0, 0, 0};

	if (!f->window.in_place)
		p = integer_pixel_of(&f->window, b->first);
	for (size_t i = 0; i < groups; i++) {
		const size_t row = group_at(b->n, groups, i);
		const size_t n = group_at(b->n, groups, i + 1) - row;
		const uint8_t *from = d->in + (b->first + row) * f->depth;
		int32_t *to = b->at + row * row_numbers;

		for (size_t r = 0; r < n && !f->window.in_place; r++) {
			integer_gather(f, d, &p, bytes + r * each);
			integer_pixel_next(&p, &f->window);
		}
		for (size_t r = 0; r < n; r++, to += NATIVE_WIDTH)
			if (f->window.in_place)
				spread(f, from + r * f->depth, d->end, d->zero,
				    to, n);
			else
				spread(f, bytes + r * each,
				    bytes + (r + 1) * each, d->zero, to, n);
	}
}

/* ---- sums ---- */

/* to[n][pair] = from + a b, lanes of pairs of 16 bits or of quads of bytes. */
struct pair_product {
	const int32_t *a; /* [depth / width][n][width] */
	const int32_t *b; /* [depth][pair] */
	size_t depth; /* of pairs whole vectors */
	const int32_t *from; /* [pair], rows `from_step` apart */
	size_t from_step;
	int32_t *to;
	/* Or codes of them, of vectors of filters that are all there; else NULL. */
	uint8_t *codes; /* [pair], rows codes_step apart */
	size_t codes_step;
	const float *multiplier; /* [pair] */
	struct code_range range;
	bool to_unsigned;
	/* Of quads, those multiplied once more: which of `whole` they are. */
	const uint32_t *quad; /* [more] */
	const int32_t *b_more; /* [more][pair] */
	const int32_t *whole; /* a, from its beginning */
	size_t more;
};

typedef void pair_run(const struct pair_product *p);

#define PAIRS_START(r) \
	bits x##r = bits_at(from + r * p->from_step); \
	bits y##r = bits_at(from + r * p->from_step + NATIVE_WIDTH);
#define PAIRS_STEP(r) \
	{ \
		const bits s = bits_all(a[r * NATIVE_WIDTH + j]); \
		x##r = pairs_dot(x##r, s, b0); \
		y##r = pairs_dot(y##r, s, b1); \
	}
#define PAIRS_STORE(r) \
	memcpy(to + r * PAIR_OF_VECTORS, &x##r, sizeof x##r); \
	memcpy(to + r * PAIR_OF_VECTORS + NATIVE_WIDTH, &y##r, sizeof y##r);

#define PAIRS_CODES(r, is_unsigned) \
	codes_store_pair(p->codes + r * p->codes_step, \
	    vec_of_bits(x##r) * first, vec_of_bits(y##r) * second, &p->range, \
	    is_unsigned);
#define PAIRS_UNSIGNED(r) PAIRS_CODES(r, true)
#define PAIRS_SIGNED(r) PAIRS_CODES(r, false)

#define PAIRS_END(n) \
	if (p->codes) { \
		const vec first = vec_load(p->multiplier); \
		const vec second = vec_load(p->multiplier + NATIVE_WIDTH); \
\
		if (p->to_unsigned) { \
			ROWS_##n(PAIRS_UNSIGNED) \
		} else { \
			ROWS_##n(PAIRS_SIGNED) \
		} \
	} else { \
		ROWS_##n(PAIRS_STORE) \
	}

#define PAIRS(n) \
	static __attribute__((noinline)) void pairs_##n( \
	    const struct pair_product *p) \
	{ \
		const int32_t *a = p->a, *b = p->b, *from = p->from; \
		int32_t *to = p->to; \
\
		ROWS_##n(PAIRS_START) for (size_t k = 0; k < p->depth; \
		                           k += NATIVE_WIDTH) \
		{ \
			_Pragma("GCC unroll 4") for (size_t j = 0; \
			                             j < NATIVE_WIDTH; j++) \
			{ \
				const bits b0 = bits_at(b); \
				const bits b1 = bits_at(b + NATIVE_WIDTH); \
\
				b += PAIR_OF_VECTORS; \
				ROWS_##n(PAIRS_STEP) \
			} \
			a += (n)*NATIVE_WIDTH; \
		} \
		PAIRS_END(n) \
	}

PAIRS(1)
PAIRS(2)
PAIRS(3)
PAIRS(4)
PAIRS(5)
PAIRS(6)
#if NATIVE_GROUP > 6
PAIRS(7)
PAIRS(8)
PAIRS(9)
PAIRS(10)
PAIRS(11)
PAIRS(12)
#endif

/* Of n + 1 rows. */
static pair_run *const pairs_of[NATIVE_GROUP] = {
    pairs_1, pairs_2, pairs_3, pairs_4, pairs_5, pairs_6,
#if NATIVE_GROUP > 6
    pairs_7, pairs_8, pairs_9, pairs_10, pairs_11, pairs_12
#endif
};

/* ---- what becomes of them ---- */

/* Of n rows one vector of filters. */
static inline void
integer_to_codes(const struct integer_form *f, const int32_t *sum, size_t n,
    size_t filter, uint8_t *to)
{
	const struct code_range range = code_range_of(f->zero, f->to_unsigned);
	const vec factor = vec_load(f->multiplier + filter);

	for (size_t r = 0; r < n; r++, to += f->outputs) {
		const bits sums = bits_at(sum + r * PAIR_OF_VECTORS);

		codes_store(to, codes_near(vec_of_bits(sums) * factor, &range),
		    f->outputs - filter);
	}
}

static inline void
integer_to_floats(const struct integer_form *f, const int32_t *sum, size_t n,
    size_t filter, float scale, float *to)
{
	const vec factor = vec_load(f->multiplier + filter) * scale;
	const vec shift = vec_load(f->shift + filter);

	for (size_t r = 0; r < n; r++, to += f->outputs)
		vec_store_first(to,
		    vec_of_bits(bits_at(sum + r * PAIR_OF_VECTORS)) * factor
		        + shift,
		    f->outputs - filter);
}

/* Of n rows two vectors of filters, or those that are there. */
static inline void
integer_finish(const struct integer_form *f, const struct integer_data *d,
    const int32_t *sum, size_t row, size_t n, size_t filter)
{
	const size_t at = row * f->outputs + filter;

	for (size_t k = 0; k < PAIR_OF_VECTORS && filter + k < f->outputs;
	     k += NATIVE_WIDTH)
		if (f->to_floats)
			integer_to_floats(f, sum + k, n, filter + k, d->scale,
			    (float *)d->out + at + k);
		else
			integer_to_codes(f, sum + k, n, filter + k,
			    (uint8_t *)d->out + at + k);
}

/* ---- a block ---- */

/* How sums become codes, if those are of two whole vectors of filters. */
static inline void
integer_set_codes(
    struct pair_product *p, const struct integer_form *f, size_t filter)
{
	p->codes_step = f->outputs;
	p->multiplier = f->multiplier + filter;
	p->range = code_range_of(f->zero, f->to_unsigned);
	p->to_unsigned = f->to_unsigned;
}

/* What rows are multiplied by for two vectors of filters. */
struct integer_panel {
	pair_run *const *run; /* [NATIVE_GROUP] of n + 1 rows */
	const int32_t *weights; /* [depth][pair] */
	size_t depth, row; /* a row has `row` numbers, of which depth count */
	const int32_t *begin; /* [pair] what sums begin with */
	const uint32_t *quad; /* [more] as in a pair_product */
	const int32_t *b_more;
	size_t more;
};

/* All rows of a block, a slice of the depth at a time. d: where what becomes of the sums
 * goes; or NULL, and they stay. */
ALWAYS void
integer_rows(const struct integer_form *f, const struct integer_block *b,
    const struct integer_data *d, size_t filter, const struct integer_panel *w)
{
	const bool to_codes =
	    d && !f->to_floats && filter + PAIR_OF_VECTORS <= f->outputs;
	const size_t groups = groups_of(b->n);
	struct pair_product p = {.quad = w->quad, .b_more = w->b_more};

	if (to_codes)
		integer_set_codes(&p, f, filter);
	for (size_t c = 0; c < w->depth; c += INTEGER_SLICE) {
		const bool last = w->depth - c <= INTEGER_SLICE;

		p.b = w->weights + c * PAIR_OF_VECTORS;
		p.depth = last ? w->depth - c : INTEGER_SLICE;
		p.from_step = c ? PAIR_OF_VECTORS : 0;
		p.more = last ? w->more : 0;
		for (size_t i = 0, row = 0, n; i < groups; i++, row += n) {
			int32_t *sum = b->sum + row * PAIR_OF_VECTORS;

			n = group_at(b->n, groups, i + 1) - row;
			p.whole = b->at + row * w->row;
			p.a = p.whole + c * n;
			p.from = c ? sum : w->begin;
			p.to = sum;
			if (last && to_codes)
				p.codes = (uint8_t *)d->out
				    + (b->first + row) * f->outputs + filter;
			w->run[n - 1](&p);
			if (last && d && !to_codes)
				integer_finish(
				    f, d, sum, b->first + row, n, filter);
		}
	}
}

/* The block of a unit, at the scratch's beginning: a row has so many numbers. */
ALWAYS struct integer_block
integer_block_of(
    const struct integer_form *f, size_t unit, int32_t *scratch, size_t row)
{
	const size_t first = unit / f->parts * f->block;
	const size_t left = f->rows - first;

	return (struct integer_block){.first = first,
	    .n = left < f->block ? left : f->block,
	    .at = scratch,
	    .sum = scratch + f->block * row};
}

/* The first filter of a unit's part, or, of one part more, of the next's. */
ALWAYS size_t
integer_part_at(const struct integer_form *f, size_t unit, size_t more)
{
	const size_t pairs = f->filters / PAIR_OF_VECTORS;

	return pairs * (unit % f->parts + more) / f->parts * PAIR_OF_VECTORS;
}

static void
integer_unit(const struct integer_form *f, size_t unit, bool copied,
    const struct integer_data *d, int32_t *scratch)
{
	const size_t depth = f->padded / 2, end = integer_part_at(f, unit, 1);
	const struct integer_block b =
	    integer_block_of(f, unit, scratch, depth);

	if (!copied)
		integer_copy(f, &b, d,
		    (uint8_t *)(b.sum + f->block * PAIR_OF_VECTORS),
		    integer_spread, depth);
	for (size_t k = integer_part_at(f, unit, 0); k < end;
	     k += PAIR_OF_VECTORS) {
		const struct integer_panel w = {.run = pairs_of,
		    .weights = (const int32_t *)f->weights + k * depth,
		    .depth = depth,
		    .row = depth,
		    .begin = f->bias + k};

		integer_rows(f, &b, d, k, &w);
	}
}

#endif
