/* Lower bounds for what a state of the order search still has to pay. */
#ifndef SEARCH_ORDER_BOUND_H
#define SEARCH_ORDER_BOUND_H

#include "search/dual.h"
#include "search/order_state.h"

struct order_bound {
	const struct problem *p;
	struct dual *dual; /* of price_sizes(); NULL: shares only */
	struct converter_memo *memo; /* of p */
	cost_ns upper; /* covers no cheaper than this do not matter */
	const cost_ns *share; /* [nnodes] least cost per node of a candidate */
};

/* What every cover of the uncovered nodes adds at least, or, where no cover is
 * cheaper than `upper` for it, enough to say so; COST_NEVER: there is none. */
cost_ns order_bound_rest(
    const struct order_bound *b, const struct order_state *x);

/* The sum of each[] over the uncovered nodes. */
cost_ns order_sum_uncovered(
    const struct problem *p, const struct order_state *x, const cost_ns *each);

#endif
