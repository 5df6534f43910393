/* Halves that lie as floats between composites. Of a graph with values of float16
 * or bfloat16 kinds that declare `widens` see a second one, in which these are
 * float32: the same nodes and values by id, constants widened. What a kind takes
 * there is one more candidate, with ports of float32. */
#ifndef TARGETS_WIDENED_H
#define TARGETS_WIDENED_H

#include "ir/base/bitset.h"
#include "targets/target.h"

/* A candidate as its kind sees it: ports in the values' own types there. */
struct widened {
	const struct graph *graph;
	struct candidate candidate;
};

struct widened_graph {
	const struct graph *graph;
	struct bitset fit; /* nodes that may be shown so */
	struct bitset halves; /* nodes that have a half in the model */
};

/* false: nothing in g is a half. Everything lives in `a`. */
bool graph_widen(
    struct widened_graph *out, const struct graph *g, struct arena *a);

/* May nodes be shown so, and is there something to show? */
bool widened_fits(
    const struct widened_graph *w, const node_id *node, uint32_t n);

/* The candidate as its kind sees it, and the graph. */
const struct candidate *candidate_seen(
    const struct candidate *c, const struct graph **g);

/* The kind's compile() of what it sees. */
bool target_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

#endif
