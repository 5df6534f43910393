/* Made-up inputs: buffers, and content that is the same every time. */
#ifndef COSTMODEL_SEED_H
#define COSTMODEL_SEED_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/graph.h"

/* Buffers of `bytes`, aligned to 64 with 64 bytes of slack, zeroed. */
void *seed_buffer(struct arena *a, size_t bytes);

/* Fill a host tensor of v's static type: uniform in [-1, 1) for floats, 1 for
 * whole numbers, 0 for indices. The same bytes for the same value, always. */
void seed_value(const struct graph *g, value_id v, void *out);

/* The same of other numbers for each sample; sample 0 is seed_value()'s. */
void seed_sample(const struct graph *g, value_id v, uint32_t sample, void *out);

/* A tensor like that in `a`, of texts where v's type is of texts; false where it is no
 * tensor of static shape that fits into memory. */
bool seed_tensor(struct tensor *out, const struct graph *g, value_id v,
    uint32_t sample, struct arena *a);

/* Fill what has the type of constant `like`: floats with magnitudes within a
 * factor of four, so small that sums over them stay near one; whole numbers of
 * one byte over their whole range. The same bytes for the same `which`. False,
 * with nothing done, for other types. */
bool seed_weights(
    const struct tensor *like, bool positive, uint64_t which, void *out);

/* Put seeded numbers in place of constants the model lacks (made_up), those of
 * bodies included, in `a`; how many. */
uint32_t seed_made_up(struct graph *g, struct arena *a);

#endif
