/* Winograd convolution of 3x3 windows, stride 1: what its kernels, compiled once
 * for each instruction set, and the code around them share. */
#ifndef TARGETS_NATIVE_WINOGRAD_H
#define TARGETS_NATIVE_WINOGRAD_H

#include "targets/native/pixels.h"
#include "targets/native/steps.h"

#define WINOGRAD_LARGEST 6 /* outputs of a tile along a side */

/* Numbers of implementations: tile and block, then where tensors lie and whether a
 * guard is around it. */
#define WINOGRAD_WAYS 15
#define WINOGRAD_PLACES 4

struct winograd {
	uint32_t size; /* outputs of a tile along a side: 2, 4 or 6 */
	size_t images, channels, filters; /* the last two padded to whole
					   * vectors; filters to two */
	size_t height, width; /* of the input */
	size_t rows, columns; /* of the output */
	int64_t above, before; /* padding */
	size_t stored; /* filters the output has room for */
	size_t real; /* filters that are there: what is stored beyond is 0 */
	struct pixels in, out;
	size_t down, across, tiles; /* tiles of an image, and of all */
	size_t block; /* tiles at once: their transforms stay in the cache */
	size_t parts; /* of the filters, each another thread's */
	/* [(size + 2)^2][filters / pair][channels][pair], pair: two vectors */
	const float *weights;
	const float *bias; /* [filters] */
	struct native_steps steps;
	int32_t port; /* the image's */
	/* Of a thread: transforms of a block's inputs, and their sums. */
	size_t input_step, sum_step; /* from one frequency to the next */
	size_t scratch; /* floats of a thread */
	float *scratch_of; /* [threads][scratch] */
};

/* Unit `unit` of winograd_units(): a block of tiles, for a part of the
 * filters. `scratch` is a thread's. */
static inline size_t
winograd_units(const struct winograd *w)
{
	return (w->tiles + w->block - 1) / w->block * w->parts;
}

typedef void winograd_run(const struct winograd *w, size_t unit, float *scratch,
    const void *const *in, float *out);

#endif
