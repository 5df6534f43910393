/* What a convolution or product of 8-bit integers compiles to. Only files of this
 * folder include it. */
#ifndef TARGETS_BLAS_INTEGER_H
#define TARGETS_BLAS_INTEGER_H

#include "targets/integer.h"

bool compile_integer(const struct graph *g, const struct candidate *c,
    struct arena *a, struct kernel *out);

#endif
