/* How large the numbers of a constant are, and its sums: read once for all that ask. */
#ifndef TARGETS_MAGNITUDE_H
#define TARGETS_MAGNITUDE_H

#include "ir/graph.h"

/* The largest |x|; INFINITY if one is not finite, 0x1p31 for integers. `v` has a
 * constant, here and below. */
double magnitude_most(struct value *v);

/* The largest sum of all |x| with one index of the first dimension, and of the last: what a
 * product with the constant can make of numbers up to 1. Never below it, and above it by no
 * more than a thousandth, but for constants that are not floats in memory. INFINITY like
 * above, and where there is no such dimension. */
double magnitude_rows(struct value *v);
double magnitude_columns(struct value *v);

/* Not above the least x, and positive; -INFINITY where none is: one is not, or NaN. */
double magnitude_least(struct value *v);

#endif
