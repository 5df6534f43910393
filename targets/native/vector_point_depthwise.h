/* A convolution of single pixels and the one of each channel by itself behind it: of a
 * band of rows two vectors of channels at a time are made, row by row, and as soon as a
 * row of windows has all its inputs it is summed, while these are in the first cache.
 * Rows that two bands share are made twice. */
#ifndef TARGETS_NATIVE_VECTOR_POINT_DEPTHWISE_H
#define TARGETS_NATIVE_VECTOR_POINT_DEPTHWISE_H

#include "targets/native/point_depthwise_form.h"
#include "targets/native/vector_depthwise.h"
#include "targets/native/vector_pointwise.h"

/* A band of an image's rows. */
struct row_band {
	const struct point_depthwise *p;
	size_t image, y, rows; /* of the result */
	int64_t from, to; /* rows that lie between */
	size_t first; /* channel that is made first: what it reads is far */
	const float *copied; /* the band of the image, or NULL */
	float *between;
};

/* Row y of the image, as the products read it. */
static inline struct pixel_block
band_row(const struct row_band *b, const void *const *in, size_t y)
{
	const struct pointwise *p = &b->p->first;
	const float *image =
	    (const float *)in[p->port] + b->image * p->in.image;
	struct pixel_block row = {.image = b->image,
	    .first = y * p->columns,
	    .n = p->columns,
	    .at = image + y * p->down,
	    .from = b->first};

	row.next = row.at + NATIVE_GROUP * p->right;
	if (b->copied) {
		row.at = b->copied
		    + (y - (size_t)b->from) * p->columns * p->channels;
		row.from = SIZE_MAX;
	}
	return row;
}

static inline void
band_copy(
    const struct row_band *b, const void *const *in, size_t floats, float *to)
{
	for (int64_t y = b->from; y < b->to; y++, to += floats) {
		const struct pixel_block row = band_row(b, in, (size_t)y);

		block_copy(&b->p->first, &row, in, to);
	}
}

/* Two vectors of channels of a row of what lies between. What a product reads of its
 * description was mostly written long before it: loads wait for wider stores. */
static inline void
row_made(const struct row_band *b, const struct pixel_block *row,
    size_t channel, float *to)
{
	const struct pointwise *p = &b->p->first;
	const size_t groups = groups_of(row->n);
	const struct pixel_part part = {
	    .depth = b->p->depth, .filter = channel, .last = true};
	struct row_product m;

	part_product(&m, p, row, &part, NULL);
	m.to_step = NATIVE_WIDTH;
	m.other = b->p->vector;
	for (size_t i = 0; i < groups; i++) {
		const size_t x = group_at(row->n, groups, i);
		const size_t n = group_at(row->n, groups, i + 1) - x;

		m.to = to + x * NATIVE_WIDTH;
		m.a = row->at + x * (b->copied ? p->channels : NATIVE_WIDTH);
		if (b->copied)
			m.step = n * NATIVE_WIDTH;
		product_of[n - 1](&m);
		if (m.ahead)
			m.ahead += n * NATIVE_WIDTH;
	}
	for (size_t k = 0; k < 2 && channel + k * NATIVE_WIDTH < p->stored; k++)
		for (uint32_t i = 0; i < p->steps.n; i++)
			step_function(&p->steps.step[i],
			    (vec *)(to + k * b->p->vector), row->n);
}

/* Row y of the result, a vector of channels. */
static inline void
row_summed(const struct row_band *b, size_t channel, const float *between,
    size_t y, float *out)
{
	const struct channelwise *p = &b->p->second;
	const struct window_inputs in = {
	    between, b->from, NATIVE_WIDTH, b->p->row};
	const struct channel_vector c = {.p = p,
	    .out = out,
	    .channel = channel,
	    .there = p->stored - channel};
	struct window_sums m = row_sums(&c, &in, y);

	row_middle(&c, &m, p->columns,
	    pixels_at(&p->out, b->image, channel)
	        + y * p->columns * p->out.pixel);
}

/* Two vectors of channels of a band. */
static inline void
band_pair(
    const struct row_band *b, size_t channel, const void *const *in, float *out)
{
	const struct channelwise *p = &b->p->second;
	int64_t made = b->from;

	for (size_t y = b->y; y < b->y + b->rows; y++) {
		const int64_t end = window_at(y, p->stride[0], p->above)
		    + (int64_t)p->kernel[0];

		for (; made < end && made < b->to; made++) {
			const struct pixel_block row =
			    band_row(b, in, (size_t)made);

			row_made(b, &row, channel,
			    b->between + b->p->before
			        + (size_t)(made - b->from) * b->p->row);
		}
		for (size_t k = 0; k < 2; k++)
			if (channel + k * NATIVE_WIDTH < p->stored)
				row_summed(b, channel + k * NATIVE_WIDTH,
				    b->between + k * b->p->vector, y, out);
	}
}

static void
point_depthwise_unit(const struct point_depthwise *p, size_t unit,
    float *scratch, const void *const *in, float *out)
{
	const struct channelwise *d = &p->second;
	const size_t pairs = p->first.filters / PAIR_OF_VECTORS;
	const size_t part = unit % d->parts, of_band = unit / d->parts;
	const size_t band = of_band % d->bands;
	const size_t y = group_at(d->rows, d->bands, band);
	const size_t end = group_at(d->rows, d->bands, band + 1);
	struct row_band b = {.p = p,
	    .image = of_band / d->bands,
	    .y = y,
	    .rows = end - y,
	    .from = window_at(y, d->stride[0], d->above),
	    .to = window_at(end - 1, d->stride[0], d->above)
	        + (int64_t)d->kernel[0],
	    .first = pairs * part / d->parts * PAIR_OF_VECTORS,
	    .between = scratch + p->copied};

	rows_inside(d, &b.from, &b.to);
	if (p->first.copies) {
		band_copy(
		    &b, in, p->first.columns * p->first.channels, scratch);
		b.copied = scratch;
	}
	for (size_t k = pairs * part / d->parts;
	     k < pairs * (part + 1) / d->parts; k++)
		band_pair(&b, k * PAIR_OF_VECTORS, in, out);
}

#endif
