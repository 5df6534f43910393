/* Convolutions of single pixels: what their kernels, compiled once for each
 * instruction set, and the code around them share. */
#ifndef TARGETS_NATIVE_POINTWISE_H
#define TARGETS_NATIVE_POINTWISE_H

#include "targets/native/pixels.h"
#include "targets/native/steps.h"

/* What is done to the image as it is read. */
struct pixel_entry {
	const float *scale, *shift; /* [channels], padded; or NULL */
	int32_t gate; /* port of an image's factors, one a channel; or -1 */
	size_t gate_step; /* from an image's to the next's */
	float low; /* nothing less comes in */
};

struct pointwise {
	size_t images, area; /* pixels of an output image */
	size_t columns; /* of the output */
	size_t down, right; /* floats from a row's input to the next's, and from
			     * one output's to the next's */
	size_t channels, filters; /* padded to whole vectors, and to two */
	size_t there; /* channels that may be read */
	size_t stored; /* filters the output has room for */
	size_t real; /* filters that are there: what is stored beyond is 0 */
	struct pixels in, out;
	size_t block; /* pixels at once: their channels stay in the cache */
	size_t parts; /* of the filters, shared out among threads */
	bool copies; /* pixels are laid out anew as they are read */
	struct pixel_entry entry;
	const float *weights; /* [filters / pair][channels][pair] */
	const float *bias; /* [filters] */
	float low, high; /* of sums */
	struct native_steps steps;
	int32_t port; /* the image's */
	size_t scratch; /* floats of a thread */
	float *scratch_of; /* [threads][scratch] */
};

/* A convolution of single pixels whose weights are constants. */
bool need_pointwise(
    const struct match_in *m, struct why *why, const struct fused *f);

/* Where an image and its result lie, in vectors of `width` channels; the image comes in
 * as it is. */
void pointwise_places(struct pointwise *p, const struct type *in,
    const struct type *out, enum layout layout, size_t width);
/* How far apart the inputs lie: `p` says where the image is and what is done to it. */
void pointwise_strides(struct pointwise *p, const struct window *w,
    const struct type *in, size_t width);

struct matrix_rows;

/* A matrix of weights, as a model has it: how far apart they lie. */
struct filters_at {
	const float
	    *at; /* NULL: a large one, which is read some rows at a time */
	struct matrix_rows *rows;
	size_t channels, filter_step, channel_step;
};

/* TUNING: rows of a large matrix that are read at once; whole pairs of vectors. */
#define POINTWISE_ROWS 32

/* Weights as the kernels read them. */
void pointwise_pack(struct pointwise *p, const struct filters_at *from,
    size_t width, struct arena *a);
/* A kernel of it, whose work is divided here; scratch in `a`. */
void pointwise_kernel(const struct pointwise *p, const struct target *t,
    const struct candidate *c, struct arena *a, struct kernel *out);

/* Blocks of all images, for each part of the filters. */
static inline size_t
pointwise_units(const struct pointwise *p)
{
	return p->images * ((p->area + p->block - 1) / p->block) * p->parts;
}

/* Unit `unit`; `scratch` is a thread's. `copied`: it holds the unit's pixels, for the unit
 * before was of the same block. */
typedef void pointwise_run(const struct pointwise *p, size_t unit, bool copied,
    float *scratch, const void *const *in, float *out);

#endif
