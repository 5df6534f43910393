/* Lower bounds for what a label still has to pay. */
#ifndef SEARCH_BOUND_H
#define SEARCH_BOUND_H

#include "search/frontier.h"

struct bound {
	const struct problem *p;
	cost_ns *below; /* [nnodes + 1] prices of nodes 0..n-1 */
	cost_ns *price; /* [nnodes] */
};

/* Prices from shares: the least cost of a candidate per node it covers. */
void bound_init(struct bound *b, const struct problem *p, struct arena *a);

/* What the nodes a group has not covered cost at least. */
cost_ns bound_rest(const struct bound *b, const struct group *g);

/* What a cover that continues this label costs at least. */
cost_ns bound_label(
    const struct bound *b, const struct group *g, const struct sweep_label *l);

#endif
