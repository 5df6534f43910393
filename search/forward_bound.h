/* Lower bounds for what a state of the order search still has to pay. */
#ifndef SEARCH_ORDER_BOUND_H
#define SEARCH_ORDER_BOUND_H

#include "search/lagrangian/model.h"
#include "search/live_forward.h"

struct forward_bound {
	const struct problem *p;
	struct dual *dual; /* of price_sizes(); NULL: shares only */
	struct converter_memo *memo; /* of p */
	cost_ns upper; /* covers no cheaper than this do not matter */
	const cost_ns *share; /* [nnodes] least cost per node of a candidate */
};

/* What every cover of the uncovered nodes adds at least, or, where no cover is
 * cheaper than `upper` for it, enough to say so; COST_NEVER: there is none. */
cost_ns forward_bound_rest(
    const struct forward_bound *b, const struct forward_state *x);

/* The sum of each[] over the uncovered nodes. */
cost_ns forward_sum_uncovered(const struct problem *p,
    const struct forward_state *x, const cost_ns *each);

#endif
