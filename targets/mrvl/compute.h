/* The functional simulator: what a composite computes, in the accelerator's
 * number format. Activations and kernels are float16, biases and batch norm
 * float32; products are exact in float32 and summed in float32, kernel rows
 * first, channels innermost; the result is rounded to float16 once, after bias,
 * norm and activation.
 * SOURCE: data types from RFC 48 (fp16 weights and activations, fp32 bias); the
 * order of summation is ours, the real one is not published. */
#ifndef TARGETS_MRVL_COMPUTE_H
#define TARGETS_MRVL_COMPUTE_H

#include "targets/target.h"

/* target_kind.compile, of quantize=int8 too (int8.h). */
bool mrvl_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

#endif
