/* Which larger parts of a model are offered to a plug-in: what it takes whole, cut
 * where it does not take a node, where only the host has kernels, up to where a
 * quantised model has floats again, and stretches between borders of few values. */
#ifndef TARGETS_PLUGIN_REGIONS_H
#define TARGETS_PLUGIN_REGIONS_H

#include "ir/base/bitset.h"
#include "targets/target.h"

struct regions_of {
	const struct graph *graph;
	const struct uses *uses;
	struct bitset taken, rare; /* rare: see struct match_in */
	uint32_t compile_ms; /* where it is much, fewer stretches are offered */
};

/* Sets of `taken` nodes, the same ones each time, none twice. */
void regions_offer(
    struct node_sets *out, const struct regions_of *of, struct arena *a);

#endif
