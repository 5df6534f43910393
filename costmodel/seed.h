/* Made-up inputs: buffers, and content that is the same every time. */
#ifndef COSTMODEL_SEED_H
#define COSTMODEL_SEED_H

#include <stddef.h>

#include "ir/graph.h"

/* Buffers of `bytes`, aligned to 64 with 64 bytes of slack, zeroed. */
void *seed_buffer(struct arena *a, size_t bytes);

/* Fill a host tensor of v's static type: uniform in [-1, 1) for floats, 1 for
 * whole numbers, 0 for indices. The same bytes for the same value, always. */
void seed_value(const struct graph *g, value_id v, void *out);

#endif
