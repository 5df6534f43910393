/* Constants of convolutions and products, ready to be packed: what can be
 * worked into them at load time is. */
#ifndef TARGETS_WEIGHTS_H
#define TARGETS_WEIGHTS_H

#include "targets/fused.h"

struct conv_weights {
	const float *weights; /* as ONNX has them: [K, C / group, ...] */
	const float *bias; /* [K], or NULL */
};

/* Of a fused convolution: BatchNormalization folded in, a constant per channel
 * added behind it taken into the bias (and out of f's steps). */
void fused_conv_weights(struct conv_weights *out, struct fused *f,
    const struct graph *g, struct arena *a);

/* What a BatchNormalization with given statistics does to each channel:
 * scale x + shift. */
struct norm_line {
	size_t n;
	const double *scale, *shift; /* [n] */
};

void norm_line_of(struct norm_line *out, const struct node *n,
    const struct graph *g, struct arena *a);

/* A matrix product as Gemm and MatMul write it. */
struct product {
	value_id left, right, bias; /* bias: VALUE_NONE without one */
	bool transpose_left, transpose_right;
	float alpha, beta;
};

/* Of a fused product; a constant row added behind it becomes the bias. */
void fused_product(struct product *out, struct fused *f, const struct graph *g);

/* [K, C, kh, kw] of type t as [K, kh, kw, C], in `a`. */
const float *weights_channels_last(
    const float *from, const struct type *t, struct arena *a);

/* A constant's floats times a factor. */
const float *scaled_floats(
    const struct graph *g, value_id v, float factor, struct arena *a);

#endif
