/* Convolutions of each channel by itself: what their kernels, compiled once for each
 * instruction set, and the code around them share. */
#ifndef TARGETS_NATIVE_DEPTHWISE_FORM_H
#define TARGETS_NATIVE_DEPTHWISE_FORM_H

#include "targets/native/pixels.h"
#include "targets/native/steps.h"

#define DEPTHWISE_KERNEL 7 /* the longest side of a window */
#define DEPTHWISE_STRIDE 2 /* the largest */

/* TUNING: outputs of a row whose inputs are copied at once, and room for these in floats:
 * two thirds of a first cache. */
#define DEPTHWISE_STRIP ((size_t)32)
#define DEPTHWISE_SCRATCH ((size_t)8 << 10)

struct channelwise {
	size_t images, channels; /* the last padded to whole vectors */
	size_t height, width; /* of the input */
	size_t rows, columns; /* of the output */
	size_t kernel[2], stride[2];
	int64_t above, before; /* padding */
	size_t stored; /* channels that may be read and written */
	size_t real; /* channels that are there: what is stored beyond is 0 */
	struct pixels in, out;
	size_t bands; /* of an image's rows */
	size_t parts; /* of the channels, each another thread's */
	const float *weights; /* [channels / vector][kernel][vector] */
	const float *bias; /* [channels] */
	float low, high; /* of sums */
	struct native_steps steps;
	int32_t port; /* the image's */
	float *scratch_of; /* [threads][DEPTHWISE_SCRATCH] */
};

/* A filter a channel, of a window that the kernels have. */
bool need_channelwise(
    const struct match_in *m, struct why *why, const struct fused *f);

/* What `in`, `out` and window say of it; numbers are padded to whole vectors. */
void depthwise_sizes(struct channelwise *d, const struct type *in,
    const struct type *out, const struct window *w);

/* Weights [channels][kernel] as the kernels read them. */
void depthwise_pack(
    struct channelwise *d, const float *from, size_t width, struct arena *a);

/* Bands of all images, for each part of the channels. */
static inline size_t
depthwise_units(const struct channelwise *p)
{
	return p->images * p->bands * p->parts;
}

/* Unit `unit`; `scratch` is a thread's. */
typedef void depthwise_run(const struct channelwise *p, size_t unit,
    float *scratch, const void *const *in, float *out);

#endif
