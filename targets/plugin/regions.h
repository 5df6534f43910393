/* Which larger parts of a model are offered to a plug-in: what it takes whole, cut
 * where it does not take a node, where only the host has kernels, and stretches
 * between borders of few values. */
#ifndef TARGETS_PLUGIN_REGIONS_H
#define TARGETS_PLUGIN_REGIONS_H

#include "ir/base/bitset.h"
#include "targets/target.h"

/* Sets of `taken` nodes, the same ones each time, none twice. */
void regions_offer(struct node_sets *out, const struct graph *g,
    const struct uses *u, struct bitset taken, struct bitset rare,
    struct arena *a);

#endif
