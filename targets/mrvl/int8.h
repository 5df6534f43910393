/* The functional simulator of 8-bit regions, bit by bit as INT8.md
 * writes the arithmetic down: int8 x int8 sums in int32, one float32 multiplier a
 * channel, ties to even, saturation. */
#ifndef TARGETS_MRVL_INT8_H
#define TARGETS_MRVL_INT8_H

#include "targets/mrvl/layer.h"
#include "targets/target.h"

/* Products of 8 bits that fit a sum of 32, whatever they are: (2^31 - 1) / (255 *
 * 127). */
#define INT8_TERMS 66311

/* A layer with weights in 8 bits: real weight = scale[o] * weight, real bias =
 * input scale * scale[o] * bias; output steps = sum * multiplier[o]. */
struct int8_weights {
	uint32_t channels;
	size_t each; /* weights of one channel */
	int8_t
	    *weight; /* [channels][each], in the order of the layer's kernel */
	float *scale, *multiplier; /* [channels] */
	int32_t *bias; /* [channels] */
};

/* Batch norm is folded before anything is rounded; scales are the model's own
 * where the layer has them, else symmetric over a channel's largest weight. */
void int8_weights_of(struct int8_weights *out, const struct layer *l,
    const struct quant *in, const struct quant *result, struct arena *a);

/* target_kind.compile and target_int8.weights of quantize=int8. */
bool mrvl_compile8(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);
bool mrvl_weights8(struct weights8 *out, const struct target *t,
    const struct graph *g, const struct candidate *c, struct arena *a);

#endif
