/* Lower bounds for what a label still has to pay. */
#ifndef SEARCH_BOUND_H
#define SEARCH_BOUND_H

#include "search/split_readers.h"
#include "search/capacity/multiplier.h"
#include "search/lagrangian/model.h"
#include "search/frontier.h"

struct bound {
	const struct problem *p;
	const struct transfer_sets *transferred; /* sets of runs, in labels */
	const struct split_readers *split;
	struct dual *dual; /* of the problem as if no format were local; NULL:
			    * shares only */
	int64_t launch; /* of the target whose runs count, in its prices */
	const struct capacity_multiplier
	    *multiplier; /* in the dual's prices; NULL: none */
	uint32_t multiplier_slot; /* of its target in what labels use */
	cost_ns *below; /* [nnodes + 1] shares of nodes 0..n-1 */
	cost_ns *share; /* [nnodes] least cost per node of a candidate */
	/* With a dual: what fed values add whose highest user is below n, and, of
	 * each, its part of that, where its highest user is, and the last group
	 * that asked. */
	int64_t *fed_below; /* [nnodes + 1] */
	int64_t *fed; /* [nvalues] */
	uint32_t *highest; /* [nvalues] NO_NODE: not fed, or not used */
	uint32_t *asked; /* [nvalues] */
	uint32_t *stamp;
};

/* [nnodes] the least cost of a candidate per node it covers; COST_NEVER: nothing
 * covers the node. */
cost_ns *least_shares(const struct problem *p, struct arena *a);

/* dual may be NULL: then the least cost of a candidate per node it covers. */
void bound_init(struct bound *b, const struct problem *p,
    const struct transfer_sets *transferred, struct dual *dual,
    struct arena *a);

/* Fill what the labels of a new group have in common. */
void bound_group(const struct bound *b, struct group *g);

/* Bytes that a group takes for its bounds. */
size_t bound_group_bytes(const struct group *g);

/* What a cover that continues this label costs at least. */
cost_ns bound_label(
    const struct bound *b, struct group *g, const struct label *l);

#endif
