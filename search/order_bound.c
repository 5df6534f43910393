#include "search/order_bound.h"

#include "search/relax.h"

cost_ns
order_sum_uncovered(
    const struct problem *p, const struct order_state *x, const cost_ns *each)
{
	cost_ns sum = 0;

	for (uint32_t n = 0; n < p->nnodes; n++)
		if (!bitset_has(x->covered, n))
			sum = cost_add(sum, each[n]);
	return sum;
}

/* What is paid already of the launches that prices count: that of the run that
 * goes on. Where they are counted along a path, stretches of it are different runs,
 * so at most one that is still counted is this run; none is when the path's end is
 * covered. */
static int64_t
paid_launch(const struct order_bound *b, const struct order_state *x)
{
	if (x->last == NO_LIMIT)
		return 0;
	return (int64_t)run_room_worth(b->p, x->last, x->run_nodes) * DUAL_SCALE
	    + (bitset_has(x->covered, b->p->nnodes - 1)
	            ? 0
	            : b->dual->launch[x->last]);
}

/* By prices.
 *
 * Why: let R be the uncovered nodes. Candidates that cover R cost their reduced
 * costs, the prices of R, and what they pay for uses and gain by supplies, taken
 * back; each has its highest node in R, so reduced costs sum up to no less than
 * the cheapest by highest node. Users of a value made in R are in R, too: its tree
 * less what they pay is at least its gain. That of a live value is what
 * dual_value_left() is a lower bound of. */
static cost_ns
priced_rest(const struct order_bound *b, const struct order_state *x)
{
	struct dual *d = b->dual;
	int64_t rest = 0;

	for (uint32_t n = 0; n < b->p->nnodes; n++)
		if (!bitset_has(x->covered, n))
			rest += d->rest[n + 1] - d->rest[n];
	for (uint32_t i = 0; i < x->nlive; i++) {
		const struct order_live *l = &x->live[i];
		int64_t adds = dual_value_left(d,
		    &(struct dual_live){
		        .value = l->value, .have = l->have, .need = l->need},
		    x->covered, x->last);

		if (adds == INT64_MAX)
			return COST_NEVER;
		rest += adds;
	}
	rest -= paid_launch(b, x);
	return rest <= 0 ? 0 : ((cost_ns)rest + DUAL_SCALE - 1) / DUAL_SCALE;
}

cost_ns
order_bound_rest(const struct order_bound *b, const struct order_state *x)
{
	cost_ns shares = order_sum_uncovered(b->p, x, b->share), priced;

	if (!b->dual || cost_add(x->cost, shares) >= b->upper)
		return shares;
	priced = priced_rest(b, x);
	return priced > shares ? priced : shares;
}
