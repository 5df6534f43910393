/* A convolution of single pixels and the one of each channel by itself behind it: what
 * their kernel, compiled once for each instruction set, and the code around it share. */
#ifndef TARGETS_NATIVE_POINT_DEPTHWISE_FORM_H
#define TARGETS_NATIVE_POINT_DEPTHWISE_FORM_H

#include "targets/native/depthwise_form.h"
#include "targets/native/pointwise.h"

/* What lies between the two is [2 vectors of channels][rows of a band][row] in a thread's
 * scratch. A row has zeros where windows reach beyond the image. */
struct point_depthwise {
	struct pointwise first; /* its blocks and scratch are unused */
	struct channelwise second; /* divides the work; reads no tensor */
	size_t depth; /* channels of the image that are there */
	size_t row, vector; /* floats to the next row, and to the next vector */
	size_t before; /* floats of zeros before a row */
	size_t copied; /* floats for a band of the image, laid out anew */
	size_t scratch; /* floats of a thread */
	float *scratch_of; /* [threads][scratch] */
};

/* Unit `unit` of the second's; `scratch` is a thread's. */
typedef void point_depthwise_run(const struct point_depthwise *p, size_t unit,
    float *scratch, const void *const *in, float *out);

#endif
