/* What this backend's composites compile to: a matrix product and what is done
 * to its result. Only files of this folder include it. */
#ifndef TARGETS_BLAS_KERNEL_H
#define TARGETS_BLAS_KERNEL_H

#include <stdbool.h>

#include "targets/blas/multiply.h"
#include "targets/fused.h"
#include "targets/target.h"
#include "targets/weights.h"
#include "targets/window.h"

/* Applied to a finished stretch of the result: a tensor added, then clamped. */
struct finish {
	int32_t residual; /* input port of a tensor like the result, or -1 */
	float low, high;
};

/* The finish that steps amount to; false when they are something else. */
bool finish_of(struct finish *out, const struct fused *f, const struct graph *g,
    const struct candidate *c);

/* Stretches of a tensor: each as many floats behind the one before. */
struct stretches {
	size_t from, n, floats, stride;
};

void finish_run(const struct finish *f, const void *const *in, float *out,
    const struct stretches *s);

bool compile_conv(const struct target *t, const struct graph *g,
    const struct candidate *c, struct fused *f, struct arena *a,
    struct kernel *out);
bool compile_product(const struct graph *g, const struct candidate *c,
    struct fused *f, struct arena *a, struct kernel *out);
void compile_narrow(const struct graph *g, const struct candidate *c,
    struct arena *a, struct kernel *out);

#endif
