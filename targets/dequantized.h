/* Weights that a model keeps as small integers: DequantizeLinear of constants.
 * Kernels that pack weights when they are loaded take them as the floats they
 * stand for. */
#ifndef TARGETS_DEQUANTIZED_H
#define TARGETS_DEQUANTIZED_H

#include <stdbool.h>

#include "ir/graph.h"

/* Is the value a float32 constant, or such floats of constants only? */
bool is_packable(const struct graph *g, value_id v);
/* Does the node make such a value? */
bool is_dequantizing(const struct graph *g, const struct node *n);
/* A constant of floats or halves, as floats. */
const float *constant_as_floats(const struct tensor *t, struct arena *a);
/* The floats of a packable value. */
const float *packable_floats(
    const struct graph *g, value_id v, struct arena *a);

#endif
