/* Winograd convolution of windows of 3x3 and 5x5, stride 1: what its kernels, compiled once
 * for each instruction set, and the code around them share. */
#ifndef TARGETS_NATIVE_WINOGRAD_H
#define TARGETS_NATIVE_WINOGRAD_H

#include "targets/native/pixels.h"
#include "targets/native/steps.h"

#define WINOGRAD_LARGEST 6 /* outputs of a tile along a side */
#define WINOGRAD_SIDE 8 /* of the largest tile */
/* Channels and filters of each of several groups come in so many: whole vectors of all
 * instruction sets and layouts. */
#define WINOGRAD_GROUPED 16

/* Numbers of implementations: tile and block, then where tensors lie and whether a
 * guard is around it. */
#define WINOGRAD_WAYS 15
#define WINOGRAD_PLACES 4

/* Of bytes: an image whose zero is another, and what becomes of sums. */
struct winograd_codes {
	bool from_unsigned, to_unsigned;
	float from_zero, to_zero;
	const float
	    *multiplier; /* of all groups' filters; NULL: floats come in */
};

struct winograd {
	uint32_t size; /* outputs of a tile along a side: 2, 4 or 6 */
	uint32_t side; /* of a tile's inputs: 4, 6 or 8 */
	size_t images, groups;
	size_t channels,
	    filters; /* of a group, padded to whole vectors; filters
				   * to two */
	size_t height, width; /* of the input */
	size_t rows, columns; /* of the output */
	int64_t above, before; /* padding */
	size_t stored; /* filters of a group that the output has room for */
	size_t real; /* filters that are there: what is stored beyond is 0 */
	struct pixels in, out;
	size_t down, across, tiles; /* tiles of an image, and of all */
	size_t block; /* tiles at once: their transforms stay in the cache */
	size_t parts; /* of the filters, shared out among threads */
	/* [groups][side^2][filters / pair][channels][pair], pair: two vectors */
	const float *weights;
	const float *bias; /* of all groups */
	struct winograd_codes codes; /* then no steps follow */
	struct native_steps steps;
	int32_t port; /* the image's */
	/* Of a thread: transforms of a block's inputs, and their sums. */
	size_t input_step, sum_step; /* from one frequency to the next */
	size_t scratch; /* floats of a thread */
	float *scratch_of; /* [threads][scratch] */
};

static inline size_t
winograd_units_of_group(const struct winograd *w)
{
	return (w->tiles + w->block - 1) / w->block * w->parts;
}

/* Blocks of tiles, for each part of a group's filters. */
static inline size_t
winograd_units(const struct winograd *w)
{
	return w->groups * winograd_units_of_group(w);
}

/* Unit `unit`; `scratch` is a thread's. `there`: it holds the transforms of the unit's
 * block, for the unit before was of the same. */
typedef void winograd_run(const struct winograd *w, size_t unit, bool there,
    float *scratch, const void *const *in, void *out);

/* What is known of a convolution apart from what follows it. */
struct winograd_source {
	const struct type *in, *out, *weights;
	const float *filters; /* [K, C / group, ...] */
	const float *bias; /* [K], or NULL */
	const struct window *window;
	size_t groups;
};

/* What the node's types say, input `weights` its filters'. */
struct winograd_source winograd_source_of(
    const struct graph *g, const struct node *n, uint32_t weights);

/* A kernel of it, `w` with what is not worked out from the source; the work is divided
 * here. */
void winograd_kernel(const struct winograd *w, const struct winograd_source *s,
    const struct target *t, const struct candidate *c, struct arena *a,
    struct kernel *out);

/* Dense windows of 3x3 or 5x5, a step at a time. */
bool need_winograd(const struct match_in *m, struct why *why,
    const struct node *anchor, const struct window *w);

/* Ways of it worth a price: all, or those of bytes. */
uint32_t winograd_ways(const struct match_in *m,
    const struct winograd_source *s, bool of_bytes, struct formats *f,
    struct implementation *out, uint32_t max);

#endif
