/* Winograd convolution: a block of tiles is transformed, multiplied frequency by
 * frequency, and its sums are transformed back; then what follows is done to each
 * tile while it is in registers and the first cache. */
#ifndef TARGETS_NATIVE_VECTOR_WINOGRAD_H
#define TARGETS_NATIVE_VECTOR_WINOGRAD_H

#include "targets/native/vector_bytes.h"
#include "targets/native/vector_product.h"
#include "targets/native/vector_steps.h"
#include "targets/native/vector_tiles.h"
#include "targets/native/winograd.h"

#define MOST_OUTPUTS (WINOGRAD_LARGEST * WINOGRAD_LARGEST)

/* A tile: of which image, and the first of its outputs. */
struct tile {
	size_t image, y, x;
};

ALWAYS struct tile
tile_of(const struct winograd *w, size_t t)
{
	const size_t of_image = w->down * w->across;
	const size_t i = t % of_image;

	return (struct tile){
	    t / of_image, i / w->across * w->size, i % w->across * w->size};
}

/* Of an image the vector of channels at `at`. */
ALWAYS vec
image_floats(const struct winograd *w, const void *in, size_t at)
{
	(void)w;
	return vec_load((const float *)in + at);
}

ALWAYS vec
image_codes(const struct winograd *w, const void *in, size_t at)
{
	return codes_load((const uint8_t *)in + at, w->codes.from_unsigned)
	    - w->codes.from_zero;
}

/* A tile's inputs; beyond the image lie zeros. */
#define TILE_READ(name, load) \
	ALWAYS void name(const struct winograd *w, const struct tile *t, \
	    const void *in, size_t at, size_t side, vec *d) \
	{ \
		const int64_t y0 = (int64_t)t->y - w->above; \
		const int64_t x0 = (int64_t)t->x - w->before; \
		const int64_t height = (int64_t)w->height; \
		const int64_t width = (int64_t)w->width; \
		const int64_t n = (int64_t)side; \
		const size_t step = w->in.pixel; \
\
		if (y0 >= 0 && x0 >= 0 && y0 + n <= height \
		    && x0 + n <= width) { \
			at += (size_t)(y0 * width + x0) * step; \
			for (size_t y = 0; y < side; \
			     y++, at += w->width * step) \
				for (size_t x = 0; x < side; x++) \
					d[y * side + x] = \
					    load(w, in, at + x * step); \
			return; \
		} \
		for (int64_t y = y0; y < y0 + n; y++) \
			for (int64_t x = x0; x < x0 + n; x++, d++) \
				*d = y >= 0 && y < height && x >= 0 \
				        && x < width \
				    ? load(w, in, \
				        at + (size_t)(y * width + x) * step) \
				    : vec_all(0); \
	}
TILE_READ(tile_floats, image_floats)
TILE_READ(tile_codes, image_codes)
#undef TILE_READ

/* A tile's sums: what was multiplied, `step` floats from one frequency to the
 * next. */
ALWAYS void
tile_take(const float *from, size_t step, size_t n, vec *d)
{
	for (size_t i = 0; i < n; i++)
		d[i] = vec_load(from + i * step);
}

ALWAYS void
tile_put(float *to, size_t step, size_t n, const vec *d)
{
	for (size_t i = 0; i < n; i++)
		vec_store(to + i * step, d[i]);
}

/* Where the transforms of a block's tile lie: groups of rows as products read
 * them. */
ALWAYS size_t
row_at(const struct winograd *w, size_t row, size_t channel)
{
	const size_t group = row / NATIVE_GROUP;

	return (group * w->channels + channel) * NATIVE_GROUP
	    + row % NATIVE_GROUP * NATIVE_WIDTH;
}

#define FORTH(side) \
	/* Columns, then rows. */ \
	static inline void tile_forth_##side(const struct winograd *w, \
	    const struct tile *t, const void *in, size_t at, \
	    float *restrict to) \
	{ \
		vec d[(side) * (side)], e[(side) * (side)]; \
\
		if (w->codes.multiplier) \
			tile_codes(w, t, in, at, side, d); \
		else \
			tile_floats(w, t, in, at, side, d); \
		for (size_t x = 0; x < (side); x++) \
			tile_in_##side(d + x, side, e + x, side); \
		for (size_t y = 0; y < (side); y++) { \
			tile_in_##side(e + (side)*y, 1, d, 1); \
			tile_put(to + (side)*y * w->input_step, w->input_step, \
			    side, d); \
		} \
	}

#define BACK(size, side) \
	static inline void tile_back_##size##_##side(const struct winograd *w, \
	    const float *restrict from, vec *restrict out) \
	{ \
		vec d[(side) * (side)], e[(size) * (side)]; \
\
		tile_take(from, w->sum_step, (side) * (side), d); \
		for (size_t x = 0; x < (side); x++) \
			tile_out_##size##_##side(d + x, side, e + x, side); \
		for (size_t y = 0; y < (size); y++) \
			tile_out_##size##_##side( \
			    e + (side)*y, 1, out + (size)*y, 1); \
	}

FORTH(4)
FORTH(6)
FORTH(8)
BACK(2, 4)
BACK(4, 6)
BACK(6, 8)
BACK(2, 6)
BACK(4, 8)
#undef FORTH
#undef BACK

ALWAYS void
tile_forth(const struct winograd *w, const struct tile *t, const void *in,
    size_t at, float *to)
{
	if (w->side == 4)
		tile_forth_4(w, t, in, at, to);
	else if (w->side == 6)
		tile_forth_6(w, t, in, at, to);
	else
		tile_forth_8(w, t, in, at, to);
}

ALWAYS void
tile_back(const struct winograd *w, const float *from, vec *out)
{
	if (w->size == 6)
		tile_back_6_8(w, from, out);
	else if (w->size == 4 && w->side == 6)
		tile_back_4_6(w, from, out);
	else if (w->size == 4)
		tile_back_4_8(w, from, out);
	else if (w->side == 4)
		tile_back_2_4(w, from, out);
	else
		tile_back_2_6(w, from, out);
}

/* The outputs of a tile that the image has. */
struct patch {
	size_t at, rows, columns; /* first pixel, size */
};

ALWAYS struct patch
patch_of(const struct winograd *w, const struct tile *t)
{
	const size_t down = w->rows - t->y, right = w->columns - t->x;

	return (struct patch){t->y * w->columns + t->x,
	    down < w->size ? down : w->size, right < w->size ? right : w->size};
}

/* Another tensor's vectors of a patch. */
static inline void
patch_read(
    const struct winograd *w, const struct patch *p, const float *from, vec *to)
{
	from += p->at * w->out.pixel;
	for (size_t y = 0; y < p->rows; y++)
		for (size_t x = 0; x < p->columns; x++)
			*to++ = vec_load(
			    from + (y * w->columns + x) * w->out.pixel);
}

static inline void
patch_write(
    const struct winograd *w, const struct patch *p, const vec *from, float *to)
{
	to += p->at * w->out.pixel;
	for (size_t y = 0; y < p->rows; y++)
		for (size_t x = 0; x < p->columns; x++)
			vec_store(
			    to + (y * w->columns + x) * w->out.pixel, *from++);
}

/* The same as bytes; filters are whole vectors. */
static inline void
patch_encode(const struct winograd *w, const struct patch *p, size_t filter,
    const vec *from, uint8_t *to)
{
	const struct code_range r =
	    code_range_of(w->codes.to_zero, w->codes.to_unsigned);
	const vec factor = vec_load(w->codes.multiplier + filter);

	to += p->at * w->out.pixel;
	for (size_t y = 0; y < p->rows; y++)
		for (size_t x = 0; x < p->columns; x++)
			codes_store(to + (y * w->columns + x) * w->out.pixel,
			    codes_near(*from++ * factor, &r), NATIVE_WIDTH);
}

/* Bias, and all that follows, over a patch of n vectors. */
static inline void
patch_finish(const struct winograd *w, const struct patch *p, size_t filter,
    size_t at, const void *const *in, vec *x)
{
	const size_t n = p->rows * p->columns;
	const vec bias = vec_load(w->bias + filter);
	vec other[MOST_OUTPUTS];

	for (size_t i = 0; i < n; i++)
		x[i] += bias;
	for (uint32_t i = 0; i < w->steps.n; i++) {
		const struct native_step *s = &w->steps.step[i];

		if (s->channel) {
			other[0] = vec_load(s->channel + filter);
			step_operation(s, x, other, n, 0);
		} else if (s->port >= 0) {
			patch_read(
			    w, p, (const float *)in[s->port] + at, other);
			step_operation(s, x, other, n, 1);
		} else {
			step_function(s, x, n);
		}
	}
	if (filter + NATIVE_WIDTH > w->real)
		for (size_t i = 0; i < n; i++)
			x[i] = vec_only(lanes_before(w->real, filter), x[i]);
}

/* Outputs of a whole tile, left those the image has, side by side. */
static inline void
patch_cut(const struct winograd *w, const struct patch *p, vec *x)
{
	for (size_t y = 1; y < p->rows && p->columns < w->size; y++)
		for (size_t i = 0; i < p->columns; i++)
			x[y * p->columns + i] = x[y * w->size + i];
}

/* ---- the three passes over a block ---- */

struct tile_block {
	size_t first, n; /* tiles */
	size_t group, from, to; /* filters of a group */
};

static inline void
block_forth(const struct winograd *w, const struct tile_block *b,
    const void *in, float *to)
{
	for (size_t t = 0; t < b->n; t++) {
		const struct tile tile = tile_of(w, b->first + t);

		for (size_t c = 0; c < w->channels; c += NATIVE_WIDTH) {
			const size_t at = pixels_at(
			    &w->in, tile.image, b->group * w->channels + c);

			tile_forth(w, &tile, in, at, to + row_at(w, t, c));
		}
	}
}

static inline void
block_multiply(const struct winograd *w, const struct tile_block *b,
    const float *in, float *sum)
{
	const size_t side = w->side, first = b->group * side * side;

	for (size_t f = 0; f < side * side; f++)
		for (size_t k = b->from; k < b->to; k += PAIR_OF_VECTORS) {
			const float *weights = w->weights
			    + ((first + f) * w->filters + k) * w->channels;
			const float *a = in + f * w->input_step;
			float *c = sum + f * w->sum_step + k * w->block;

			for (size_t t = 0; t < b->n; t += NATIVE_GROUP) {
				product_rows(
				    a, weights, w->channels, c, b->n - t);
				a += w->channels * NATIVE_GROUP;
				c += PAIR_OF_VECTORS * NATIVE_GROUP;
			}
		}
}

static inline void
block_back(const struct winograd *w, const struct tile_block *b,
    const float *sum, const void *const *in, void *out)
{
	const size_t end = b->to < w->stored ? b->to : w->stored;
	vec x[MOST_OUTPUTS];

	for (size_t k = b->from; k < end; k += NATIVE_WIDTH)
		for (size_t t = 0; t < b->n; t++) {
			const struct tile tile = tile_of(w, b->first + t);
			const struct patch patch = patch_of(w, &tile);
			const size_t filter = b->group * w->stored + k;
			const size_t at =
			    pixels_at(&w->out, tile.image, filter);
			const float *from = sum
			    + k / PAIR_OF_VECTORS * PAIR_OF_VECTORS * w->block
			    + t * PAIR_OF_VECTORS + k % PAIR_OF_VECTORS;

			tile_back(w, from, x);
			patch_cut(w, &patch, x);
			patch_finish(w, &patch, filter, at, in, x);
			if (w->codes.multiplier)
				patch_encode(
				    w, &patch, filter, x, (uint8_t *)out + at);
			else
				patch_write(w, &patch, x, (float *)out + at);
		}
}

static void
winograd_unit(const struct winograd *w, size_t unit, bool there, float *scratch,
    const void *const *in, void *out)
{
	const size_t side = w->side, of_group = winograd_units_of_group(w);
	const size_t part = unit % w->parts;
	const size_t pairs = w->filters / PAIR_OF_VECTORS;
	const size_t first = unit % of_group / w->parts * w->block;
	const struct tile_block b = {.first = first,
	    .group = unit / of_group,
	    .n = w->tiles - first < w->block ? w->tiles - first : w->block,
	    .from = pairs * part / w->parts * PAIR_OF_VECTORS,
	    .to = pairs * (part + 1) / w->parts * PAIR_OF_VECTORS};
	float *sum = scratch + side * side * w->input_step;

	if (!there)
		block_forth(w, &b, in[w->port], scratch);
	block_multiply(w, &b, scratch, sum);
	block_back(w, &b, sum, in, out);
}

#endif
