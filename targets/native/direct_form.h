/* Convolutions of few filters, in C order: what their kernels, compiled once for each
 * instruction set, and the code around them share. */
#ifndef TARGETS_NATIVE_DIRECT_FORM_H
#define TARGETS_NATIVE_DIRECT_FORM_H

#include "targets/native/steps.h"

/* Rows first; a convolution of one dimension has one row. */
#define DIRECT_MOST 8 /* filters at once */

struct direct {
	size_t images, channels, filters;
	size_t size[2],
	    in_size[2]; /* of an image of the output, of the input */
	size_t kernel[2], stride[2], dilation[2], before[2];
	size_t block[2]; /* outputs of a block */
	/* A block's inputs are laid out anew, [channels][phases][phase_rows][pitch]: what
	 * a stride skips has a phase of its own, so that outputs and what they are made
	 * of are neighbours all along a block. */
	size_t phase_rows, pitch;
	size_t taps; /* channels x kernel */
	const size_t *offset; /* [taps] of what output 0 of a block reads */
	const float
	    *weights; /* filters one to eight at a time: [taps][those] */
	const float *bias; /* [filters] */
	struct native_steps steps;
	int32_t port; /* the image's */
	size_t step; /* floats of a filter's sums */
	size_t inputs; /* floats of a block's inputs */
	size_t scratch; /* floats of a thread: inputs, sums */
	float *scratch_of; /* [threads][scratch] */
};

static inline size_t
direct_blocks(const struct direct *d, size_t i)
{
	return (d->size[i] + d->block[i] - 1) / d->block[i];
}

/* Blocks of all images. */
static inline size_t
direct_units(const struct direct *d)
{
	return d->images * direct_blocks(d, 0) * direct_blocks(d, 1);
}

/* Unit `unit`; `scratch` is a thread's, and is numbers. */
typedef void direct_run(const struct direct *d, size_t unit, float *scratch,
    const void *const *in, float *out);

#endif
