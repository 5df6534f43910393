/* Convolution of single pixels: of a block of pixels, two vectors of filters at a
 * time are summed over slices of the channels whose weights stay in the first cache;
 * behind the last slice what follows is done to a group of pixels. */
#ifndef TARGETS_NATIVE_VECTOR_POINTWISE_H
#define TARGETS_NATIVE_VECTOR_POINTWISE_H

#include "targets/native/pointwise.h"
#include "targets/native/vector_product.h"
#include "targets/native/vector_steps.h"

/* TUNING: channels whose weights, two vectors each, stay in the first cache. */
#define SLICE ((size_t)256)

/* TUNING: weights of so many numbers are read anew for each block from far away. */
#define FAR ((size_t)256 << 10)

/* Pixels of a block: an image's, from `first` on. */
struct pixel_block {
	size_t image, first, n;
	const float *at; /* the image's channels, or those of the block */
	const float *next; /* what is read for the next block */
	size_t from; /* first filter */
	bool far; /* weights are in no private cache */
};

/* ---- pixels as they are read ---- */

/* Pixels first on, n of an image, to [channels / width][n][width]. */
static inline void
group_copy(const struct pointwise *p, size_t first, size_t n, const float *from,
    const float *gate, float *to)
{
	const struct pixel_entry *e = &p->entry;
	size_t at[NATIVE_GROUP];

	for (size_t i = 0; i < n; i++)
		at[i] = (first + i) / p->columns * p->down
		    + (first + i) % p->columns * p->right;
	for (size_t c = 0; c < p->channels; c += NATIVE_WIDTH) {
		const float *channel = from + pixels_at(&p->in, 0, c);
		const size_t there = p->there - c;
		const vec scale = e->scale ? vec_load(e->scale + c)
		    : gate                 ? vec_load_first(gate + c, there)
		                           : vec_all(1);
		const vec shift =
		    e->shift ? vec_load(e->shift + c) : vec_all(0);

		for (size_t i = 0; i < n; i++, to += NATIVE_WIDTH) {
			const vec x = vec_load_first(channel + at[i], there);

			vec_store(to, vec_floor_at(x * scale + shift, e->low));
		}
	}
}

static inline void
block_copy(const struct pointwise *p, const struct pixel_block *b,
    const void *const *in, float *to)
{
	const float *from = (const float *)in[p->port] + b->image * p->in.image;
	const float *gate = NULL;
	const size_t groups = groups_of(b->n);

	if (p->entry.gate >= 0)
		gate = (const float *)in[p->entry.gate]
		    + b->image * p->entry.gate_step;
	for (size_t i = 0; i < groups; i++) {
		const size_t row = group_at(b->n, groups, i);
		const size_t n = group_at(b->n, groups, i + 1) - row;

		group_copy(
		    p, b->first + row, n, from, gate, to + row * p->channels);
	}
}

/* ---- sums as they are written ---- */

/* The first `there` of a vector, or all of it. */
ALWAYS void
group_read(const float *from, size_t step, vec *x, size_t n, size_t there)
{
	for (size_t i = 0; i < n; i++)
		x[i] = vec_load_first(from + i * step, there);
}

ALWAYS void
group_write(float *to, size_t step, const vec *x, size_t n, size_t there)
{
	for (size_t i = 0; i < n; i++)
		vec_store_first(to + i * step, x[i], there);
}

/* One vector of filters of n pixels; `at` is where the first lies. */
static inline void
group_finish(const struct pointwise *p, const float *sum, size_t n,
    size_t filter, size_t at, const void *const *in, float *out)
{
	const size_t there = p->stored - filter;
	const bool written = filter + NATIVE_WIDTH <= p->real
	    && steps_end_in_function(&p->steps);
	vec x[NATIVE_GROUP], other[NATIVE_GROUP];

	group_read(sum, PAIR_OF_VECTORS, x, n, NATIVE_WIDTH);
	for (uint32_t i = 0; i < p->steps.n; i++) {
		const struct native_step *s = &p->steps.step[i];

		if (s->channel) {
			other[0] = vec_load(s->channel + filter);
			step_operation(s, x, other, n, 0);
		} else if (s->port >= 0) {
			group_read((const float *)in[s->port] + at,
			    p->out.pixel, other, n, there);
			step_operation(s, x, other, n, 1);
		} else if (written && i + 1 == p->steps.n) {
			step_function_to(s, x, n, out + at, p->out.pixel);
		} else {
			step_function(s, x, n);
		}
	}
	if (written)
		return;
	if (filter + NATIVE_WIDTH > p->real)
		for (size_t i = 0; i < n; i++)
			x[i] = vec_only(lanes_before(p->real, filter), x[i]);
	group_write(out + at, p->out.pixel, x, n, there);
}

/* ---- a block ---- */

/* Of a block n pixels from `row` on, `depth` channels from c on, two vectors of
 * filters. */
struct pixel_part {
	size_t row, n, c, depth, filter;
	size_t group, groups; /* which it is, and how many there are */
	bool last; /* of the channels */
};

#define LINE (64 / sizeof(float))

/* Of the next filters' weights each group fetches its share: all at once they would come
 * faster than memory gives them. */
static inline void
fetch_weights(const struct pointwise *p, const struct pixel_part *g,
    struct row_product *m)
{
	const size_t all = NATIVE_WIDTH * PAIR_OF_VECTORS / LINE;
	const size_t share = (all + g->groups - 1) / g->groups;
	const size_t blocks = g->depth / NATIVE_WIDTH;

	if (g->group * share >= all)
		return;
	m->ahead = m->b + p->channels * PAIR_OF_VECTORS
	    + g->group * blocks * share * LINE;
	m->ahead_lines = share;
	m->ahead_row = LINE;
	m->ahead_step = share * LINE;
}

/* What is read next: behind the first filters' groups the next pixels, behind the
 * others' the next weights, where those are far away. */
static inline void
look_ahead(const struct pointwise *p, const struct pixel_block *b,
    const struct pixel_part *g, struct row_product *m)
{
	if (g->filter == b->from) {
		m->ahead = b->next + g->row * p->right
		    + g->c / p->in.lanes * p->in.block;
		m->ahead_lines = NATIVE_WIDTH;
		m->ahead_row = p->right;
		m->ahead_step = p->in.block;
	} else if (b->far) {
		fetch_weights(p, g, m);
	}
}

/* Summed up in `sum`. It is made where it is read: copying what was just written in
 * smaller pieces waits for these. */
ALWAYS void
part_product(struct row_product *m, const struct pointwise *p,
    const struct pixel_block *b, const struct pixel_part *g, float *sum)
{
	*m = (struct row_product){.a = b->at + g->row * NATIVE_WIDTH
	        + g->c / NATIVE_WIDTH * p->in.block,
	    .step = p->in.block,
	    .b = p->weights + g->filter * p->channels + g->c * PAIR_OF_VECTORS,
	    .depth = g->depth,
	    .from = g->c ? sum : p->bias + g->filter,
	    .from_step = g->c ? PAIR_OF_VECTORS : 0,
	    .to = sum,
	    .to_step = PAIR_OF_VECTORS,
	    .other = NATIVE_WIDTH,
	    .last = g->last,
	    .low = p->low,
	    .high = p->high};

	if (p->copies) {
		m->a = b->at + g->row * p->channels + g->c * g->n;
		m->step = g->n * NATIVE_WIDTH;
	}
	look_ahead(p, b, g, m);
}

/* Sums that nothing is done to are written where they belong. */
static inline void
part_run(const struct pointwise *p, const struct pixel_block *b,
    const struct pixel_part *g, float *sum, const void *const *in, float *out)
{
	const bool whole = g->last && p->steps.n == 0
	    && g->filter + PAIR_OF_VECTORS <= p->real;
	const size_t pixel = (b->first + g->row) * p->out.pixel;
	struct row_product m;

	part_product(&m, p, b, g, sum);
	if (whole) {
		m.to = out + pixels_at(&p->out, b->image, g->filter) + pixel;
		m.to_step = p->out.pixel;
		m.other = pixels_at(&p->out, 0, NATIVE_WIDTH);
	}
	product_of[g->n - 1](&m);
	if (whole || !g->last)
		return;
	for (size_t k = 0; k < PAIR_OF_VECTORS && g->filter + k < p->stored;
	     k += NATIVE_WIDTH)
		group_finish(p, sum + k, g->n, g->filter + k,
		    pixels_at(&p->out, b->image, g->filter + k) + pixel, in,
		    out);
}

/* Slices of as equal size as may be. */
ALWAYS size_t
slice_of(size_t channels)
{
	const size_t n = (channels + SLICE - 1) / SLICE;

	return rounded((channels + n - 1) / n, NATIVE_WIDTH);
}

/* All of two vectors of filters. */
static inline void
block_pair(const struct pointwise *p, const struct pixel_block *b,
    size_t filter, float *sum, const void *const *in, float *out)
{
	const size_t groups = groups_of(b->n), slice = slice_of(p->channels);

	for (size_t c = 0; c < p->channels; c += slice)
		for (size_t i = 0; i < groups; i++) {
			const size_t row = group_at(b->n, groups, i);
			const size_t left = p->channels - c;
			const struct pixel_part g = {.row = row,
			    .n = group_at(b->n, groups, i + 1) - row,
			    .c = c,
			    .depth = left < slice ? left : slice,
			    .filter = filter,
			    .group = i,
			    .groups = groups,
			    .last = left <= slice};

			part_run(
			    p, b, &g, sum + row * PAIR_OF_VECTORS, in, out);
		}
}

static void
pointwise_unit(const struct pointwise *p, size_t unit, bool copied,
    float *scratch, const void *const *in, float *out)
{
	const size_t pairs = p->filters / PAIR_OF_VECTORS;
	const size_t part = unit % p->parts, of_block = unit / p->parts;
	const size_t blocks = (p->area + p->block - 1) / p->block;
	const size_t first = of_block % blocks * p->block;
	struct pixel_block b = {.image = of_block / blocks,
	    .first = first,
	    .n = p->area - first < p->block ? p->area - first : p->block,
	    .from = pairs * part / p->parts * PAIR_OF_VECTORS,
	    .far = first == 0 || p->filters * p->channels > FAR};

	b.at = (const float *)in[p->port] + b.image * p->in.image
	    + first * p->right;
	b.next = b.at + (p->copies ? b.n : NATIVE_GROUP) * p->right;
	if (p->copies) {
		b.at = scratch + p->block * PAIR_OF_VECTORS;
		if (!copied)
			block_copy(
			    p, &b, in, scratch + p->block * PAIR_OF_VECTORS);
	}
	for (size_t k = pairs * part / p->parts;
	     k < pairs * (part + 1) / p->parts; k++)
		block_pair(p, &b, k * PAIR_OF_VECTORS, scratch, in, out);
}

#endif
