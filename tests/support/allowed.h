/* By how much an output may differ from what another runtime computed. */
#ifndef TESTS_SUPPORT_ALLOWED_H
#define TESTS_SUPPORT_ALLOWED_H

#include <stdbool.h>

#include "ir/graph.h"

/* Does the model requantise? Then errors come in steps, not in proportions.
 * Sub-graphs and operators of any domain count. */
bool is_quantised(const struct graph *g);

/* Does any value of the model have half precision? */
bool has_half(const struct graph *g);

/* What an element of output v may differ by when the largest magnitude of the
 * reference is `range`. */
double output_allowed(const struct graph *g, value_id v, double range);

#endif
