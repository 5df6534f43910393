/* Sliding windows over spatial dimensions, as Conv, the pools and their kin
 * describe them; read, checked and indexed once. */
#ifndef TARGETS_HOST_SLIDE_H
#define TARGETS_HOST_SLIDE_H

#include "targets/host/call.h"

#define SLIDE_RANK 8u /* TUNING: spatial dims; ONNX models use 1 to 3 */

struct slide {
	uint32_t rank;
	int64_t in[SLIDE_RANK], out[SLIDE_RANK];
	int64_t kernel[SLIDE_RANK], stride[SLIDE_RANK], dilation[SLIDE_RANK];
	int64_t before[SLIDE_RANK], after[SLIDE_RANK]; /* padding */
	size_t nin, nout, nkernel; /* products */
};

/* Read strides, dilations, pads, auto_pad, ceil_mode of the node for an input
 * of spatial dims in[rank] and a kernel (attribute kernel_shape when NULL), and
 * work out `out`. */
bool slide_read(struct slide *w, const struct node *n, uint32_t rank,
    const int64_t *in, const int64_t *kernel, struct err *err);

/* Read strides, dilations and pads alone, for w->rank dimensions. */
bool slide_lists(struct slide *w, const struct node *n, struct err *err);

/* Iterating positions of an n-d box. */
struct position {
	int64_t at[SLIDE_RANK];
};
/* The i-th position in C order. */
struct position position_of(const int64_t *dim, uint32_t rank, size_t i);
/* Step to the next in C order. */
void position_next(struct position *p, const int64_t *dim, uint32_t rank);

/* Offset in the input plane of kernel tap k for output position o, or -1 in
 * the padding. */
int64_t slide_tap(
    const struct slide *w, const struct position *o, const struct position *k);

#endif
