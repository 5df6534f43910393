/* Convolutions of bytes with windows of three by three as Winograd's F(2x2, 3x3) in whole
 * numbers: 16 products for four pixels in place of 36. Twice the matrix that weights are
 * multiplied by has no fractions, from either side, so all sums are four times the
 * definition's, and a quarter of them is exact. */
#ifndef TARGETS_NATIVE_VECTOR_BYTE_TILES_H
#define TARGETS_NATIVE_VECTOR_BYTE_TILES_H

#include "targets/native/vector_integer.h"

/* Rows of a product are tiles: a block has TILE_POINTS of what integer_block has. */
static size_t
byte_tiles_numbers(const struct integer_form *f)
{
	return TILE_POINTS * f->block * (f->padded / 2 + PAIR_OF_VECTORS)
	    + f->padded / 4 + 1;
}

/* ---- what comes in ---- */

/* One dimension: x0 - x2, x1 + x2, x2 - x1, x1 - x3. */
#define TILE_FORTH(t0, t1, t2, t3, x0, x1, x2, x3) \
	const shorts t0 = x0 - x2, t1 = x1 + x2, t2 = x2 - x1, t3 = x1 - x3;

/* A column of pixels, as numbers less their zero. */
#define TILE_COLUMN(k) \
	const shorts a##k = shorts_of_codes(from[k] + c, is_unsigned) - zero; \
	const shorts b##k = \
	    shorts_of_codes(from[4 + k] + c, is_unsigned) - zero; \
	const shorts c##k = \
	    shorts_of_codes(from[8 + k] + c, is_unsigned) - zero; \
	const shorts d##k = \
	    shorts_of_codes(from[12 + k] + c, is_unsigned) - zero; \
	TILE_FORTH(p##k, q##k, r##k, s##k, a##k, b##k, c##k, d##k)

#define TILE_ROW(i, x) \
	{ \
		TILE_FORTH(t0, t1, t2, t3, x##0, x##1, x##2, x##3) \
		*(shorts *)(to + (4 * i) * step) = t0; \
		*(shorts *)(to + (4 * i + 1) * step) = t1; \
		*(shorts *)(to + (4 * i + 2) * step) = t2; \
		*(shorts *)(to + (4 * i + 3) * step) = t3; \
	}

/* One tile, `rows` of which lie side by side, the points of each `step` apart. */
ALWAYS void
byte_tile_read(const uint8_t *const from[TILE_POINTS], size_t channels,
    bool is_unsigned, int16_t zero, int32_t *to, size_t rows, size_t step)
{
	for (size_t c = 0; c < channels;
	     c += SHORTS, to += rows * NATIVE_WIDTH) {
		TILE_COLUMN(0)
		TILE_COLUMN(1)
		TILE_COLUMN(2)
		TILE_COLUMN(3)
		TILE_ROW(0, p)
		TILE_ROW(1, q)
		TILE_ROW(2, r)
		TILE_ROW(3, s)
	}
}

/* Where a tile's pixels lie. */
static inline void
byte_tile_places(const struct integer_form *f, const struct integer_data *d,
    const struct integer_pixel *p, const uint8_t *blank,
    const uint8_t *from[TILE_POINTS])
{
	const struct integer_window *w = &f->window;
	const uint8_t *image =
	    d->in + p->image * w->height * w->width * w->channels;
	const int64_t top = 2 * (int64_t)p->row - w->before[0];
	const int64_t left = 2 * (int64_t)p->column - w->before[1];

	for (size_t i = 0; i < TILE_POINTS; i++) {
		const int64_t y = top + (int64_t)(i / 4);
		const int64_t x = left + (int64_t)(i % 4);
		const bool inside = y >= 0 && y < (int64_t)w->height && x >= 0
		    && x < (int64_t)w->width;

		from[i] = inside
		    ? image + ((size_t)y * w->width + (size_t)x) * w->channels
		    : blank;
	}
}

/* Tiles of the image, not pixels, are what a pixel's place counts here. */
ALWAYS struct integer_window
byte_tiles_window(const struct integer_form *f)
{
	struct integer_window w = f->window;

	w.rows = (w.rows + 1) / 2;
	w.columns = (w.columns + 1) / 2;
	return w;
}

/* `blank`: [padded] bytes, which lie around the image. */
static inline void
byte_tiles_read(const struct integer_form *f, const struct integer_block *b,
    const struct integer_data *d, uint8_t *blank)
{
	const struct integer_window w = byte_tiles_window(f);
	const size_t groups = groups_of(b->n), step = b->n * (f->padded / 2);
	struct integer_pixel p = integer_pixel_of(&w, b->first);
	const uint8_t *from[TILE_POINTS];

	memset(blank, d->zero, f->padded);
	for (size_t i = 0; i < groups; i++) {
		const size_t row = group_at(b->n, groups, i);
		const size_t n = group_at(b->n, groups, i + 1) - row;
		int32_t *to = b->at + row * (f->padded / 2);

		for (size_t r = 0; r < n; r++, to += NATIVE_WIDTH) {
			byte_tile_places(f, d, &p, blank, from);
			if (f->from_unsigned)
				byte_tile_read(from, f->padded, true,
				    (int16_t)d->zero, to, n, step);
			else
				byte_tile_read(from, f->padded, false,
				    (int16_t)d->zero, to, n, step);
			integer_pixel_next(&p, &w);
		}
	}
}

/* ---- what goes out ---- */

/* A column of four points' sums, and what two rows of pixels are made of. */
#define TILE_SUMS(k) \
	const bits a##k = bits_at(sum + (k)*step), \
	           b##k = bits_at(sum + (4 + k) * step), \
	           c##k = bits_at(sum + (8 + k) * step), \
	           d##k = bits_at(sum + (12 + k) * step); \
	const bits u##k = a##k + b##k + c##k, v##k = b##k - c##k - d##k;

/* What becomes of four pixels' sums, row by row, before it is rounded. */
ALWAYS void
byte_tile_back(
    const int32_t *sum, size_t step, bits bias, vec multiplier, vec to[4])
{
	TILE_SUMS(0)
	TILE_SUMS(1)
	TILE_SUMS(2)
	TILE_SUMS(3)

	to[0] = vec_of_bits(((u0 + u1 + u2) >> 2) + bias) * multiplier;
	to[1] = vec_of_bits(((u1 - u2 - u3) >> 2) + bias) * multiplier;
	to[2] = vec_of_bits(((v0 + v1 + v2) >> 2) + bias) * multiplier;
	to[3] = vec_of_bits(((v1 - v2 - v3) >> 2) + bias) * multiplier;
}

/* All tiles of a block, two vectors of filters. */
ALWAYS void
byte_tiles_finish(const struct integer_form *f, const struct integer_block *b,
    const struct integer_data *d, size_t filter, bool is_unsigned)
{
	const struct integer_window w = byte_tiles_window(f);
	const struct code_range range = code_range_of(f->zero, is_unsigned);
	const bits bias[2] = {bits_at(f->bias + filter),
	    bits_at(f->bias + filter + NATIVE_WIDTH)};
	const vec by[2] = {vec_load(f->multiplier + filter),
	    vec_load(f->multiplier + filter + NATIVE_WIDTH)};
	const size_t step = b->n * PAIR_OF_VECTORS;
	struct integer_pixel p = integer_pixel_of(&w, b->first);

	for (size_t r = 0; r < b->n; r++, integer_pixel_next(&p, &w)) {
		const int32_t *sum = b->sum + r * PAIR_OF_VECTORS;
		const size_t y = 2 * p.row, x = 2 * p.column;
		uint8_t *to = (uint8_t *)d->out + filter
		    + ((p.image * f->window.rows + y) * f->window.columns + x)
		        * f->outputs;
		const size_t down = f->window.columns * f->outputs;
		vec one[4], two[4];

		byte_tile_back(sum, step, bias[0], by[0], one);
		byte_tile_back(sum + NATIVE_WIDTH, step, bias[1], by[1], two);
		codes_store_pair(to, one[0], two[0], &range, is_unsigned);
		if (x + 1 < f->window.columns)
			codes_store_pair(to + f->outputs, one[1], two[1],
			    &range, is_unsigned);
		if (y + 1 == f->window.rows)
			continue;
		codes_store_pair(
		    to + down, one[2], two[2], &range, is_unsigned);
		if (x + 1 < f->window.columns)
			codes_store_pair(to + down + f->outputs, one[3], two[3],
			    &range, is_unsigned);
	}
}

/* ---- a block ---- */

/* One point of all tiles by two vectors of filters. */
static inline void
byte_tiles_point(const struct integer_form *f, const struct integer_block *b,
    size_t filter, size_t point)
{
	static const int32_t none[PAIR_OF_VECTORS];
	const size_t depth = f->padded / 2;
	const struct integer_block rows = {.n = b->n,
	    .at = b->at + point * b->n * depth,
	    .sum = b->sum + point * b->n * PAIR_OF_VECTORS};
	const struct integer_panel w = {.run = pairs_of,
	    .weights = (const int32_t *)f->weights
	        + (filter * TILE_POINTS + point * PAIR_OF_VECTORS) * depth,
	    .depth = depth,
	    .row = depth,
	    .begin = none};

	integer_rows(f, &rows, NULL, filter, &w);
}

static void
byte_tiles_unit(const struct integer_form *f, size_t unit, bool copied,
    const struct integer_data *d, int32_t *scratch)
{
	const size_t end = integer_part_at(f, unit, 1);
	const struct integer_block b =
	    integer_block_of(f, unit, scratch, TILE_POINTS * (f->padded / 2));

	if (!copied)
		byte_tiles_read(f, &b, d,
		    (uint8_t *)(b.sum
		        + TILE_POINTS * f->block * PAIR_OF_VECTORS));
	for (size_t k = integer_part_at(f, unit, 0); k < end;
	     k += PAIR_OF_VECTORS) {
		for (size_t point = 0; point < TILE_POINTS; point++)
			byte_tiles_point(f, &b, k, point);
		if (f->to_unsigned)
			byte_tiles_finish(f, &b, d, k, true);
		else
			byte_tiles_finish(f, &b, d, k, false);
	}
}

#undef TILE_FORTH
#undef TILE_COLUMN
#undef TILE_ROW
#undef TILE_SUMS

#endif
