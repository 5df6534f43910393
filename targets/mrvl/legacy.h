/* What upstream's partitioner (apache/tvm legacy-v0.19.post) makes of a graph:
 * regions as layers, and the host program around them. */
#ifndef TARGETS_MRVL_LEGACY_H
#define TARGETS_MRVL_LEGACY_H

#include "ir/base/err.h"
#include "targets/mrvl/layer.h"

/* One step of the host program, after a region or an operator of the CPU. */
struct legacy_step {
	const char *op; /* TVM's name; a region's symbol */
	bool is_region;
	node_id node; /* NODE_NONE: made on the way */
	struct dims out;
	uint32_t nmore;
	const struct dims *more; /* further outputs */
};

struct legacy {
	uint32_t nregions, nsteps;
	const struct layers *region; /* by number; numbers have gaps */
	const struct legacy_step *step; /* in upstream's order */
};

/* ERR_UNSUPPORTED where upstream throws. */
bool mrvl_legacy(struct legacy *out, const struct graph *g, struct arena *a,
    struct err *err);

/* For candidates of compat=legacy-v0.19: 1 + the number of the region that
 * upstream keeps and has the set of nodes (ascending) in as a composite; 0: none.
 * Nodes that upstream folded away on the way may come along. */
struct legacy_sets;
const struct legacy_sets *legacy_sets(
    const struct legacy *l, const struct graph *g, struct arena *a);
uint32_t legacy_region(
    const struct legacy_sets *s, const node_id *node, uint32_t n);

/* Why upstream's code generator or compiler gives up on a region, or NULL. */
const char *legacy_refusal(const struct layers *l);

#endif
