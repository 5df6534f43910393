/* Where the channels of an image's pixels lie. */
#ifndef TARGETS_NATIVE_PIXELS_H
#define TARGETS_NATIVE_PIXELS_H

#include <stddef.h>

#include "ir/tensor.h"
#include "targets/format.h"

/* A vector of channels of a pixel: image * i + block * (c / lanes) + c % lanes
 * + pixel * p. */
struct pixels {
	size_t image, block, lanes, pixel;
};

/* Of a tensor of rank 4, in vectors of `width` channels. */
struct pixels pixels_of(enum layout layout, const struct type *t, size_t width);

/* n numbers, or none (NULL), and zeros up to `to` of them. */
const float *floats_padded(
    const float *from, size_t n, size_t to, struct arena *a);

/* Up to whole pieces of that size. */
static inline size_t
rounded(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static inline size_t
pixels_at(const struct pixels *p, size_t image, size_t channel)
{
	return p->image * image + channel / p->lanes * p->block
	    + channel % p->lanes;
}

#endif
