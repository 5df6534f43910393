/* By how much an output may differ from what another runtime computed. */
#ifndef EXEC_ALLOWED_H
#define EXEC_ALLOWED_H

#include <stdbool.h>

#include "ir/graph.h"

/* How many operators requantise, in sub-graphs and of any domain. Behind one,
 * errors come in steps, not in proportions. */
uint32_t count_requantising(const struct graph *g);

/* Does any value of the model have half precision? */
bool has_half(const struct graph *g);

/* What an element of output v may differ by when the largest magnitude of the
 * reference is `range`. */
double output_allowed(const struct graph *g, value_id v, double range);

#endif
