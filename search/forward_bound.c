#include "search/forward_bound.h"

#include "search/convert.h"
#include "search/mask.h"
#include "search/relaxation.h"

cost_ns
forward_sum_uncovered(
    const struct problem *p, const struct forward_state *x, const cost_ns *each)
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
 * covered. (Where the next one cannot be, dual_value_left() has added it.) */
static int64_t
paid_launch(const struct forward_bound *b, const struct forward_state *x)
{
	if (x->last == NO_LIMIT)
		return 0;
	return (int64_t)region_room_value(b->p, x->last, x->run_nodes)
	    * DUAL_SCALE
	    + (bitset_has(x->covered, b->p->nnodes - 1)
	            ? 0
	            : b->dual->launch[x->last]);
}

/* What a live value adds to the price of what is left.
 *
 * Prices know nothing of local formats: for them each is there for all once it is
 * somewhere. So in the end their tree costs no more than the true one and, once for
 * each local format that somebody reads from now on, bringing it in. All of those
 * are paid from now on, but for what the current run has brought in already; what
 * ended runs brought in says no more than that a way into it is there, of which one
 * will be as good as any. */
static int64_t
value_adds(const struct forward_bound *b, const struct forward_state *x,
    const struct live_forward *l)
{
	uint32_t class = b->p->value[l->value].class, local = b->p->local;
	struct dual_live live = {
	    .value = l->value, .have = l->have, .need = l->need & ~local};
	uint32_t brought = l->need & local, f;
	uint32_t enter =
	    brought ? transfer_formats(b->p, class, mask_lowest(brought)) : 0;
	cost_ns cost[FORMATS_MAX];
	int64_t best = INT64_MAX;

	live.paid = l->inside & ~l->have;
	live.cost = cost;
	for (uint32_t rest = live.paid; mask_next(&rest, &f);)
		cost[f] = transfer_cost(b->p, class, f);
	do {
		struct dual_live from = live;
		int64_t adds;

		if (mask_next(&enter, &f))
			from.need |= UINT32_C(1) << f;
		adds = dual_value_left(b->dual, &from, x->covered, x->last);
		if (adds < best)
			best = adds;
	} while (enter);
	if (best == INT64_MAX)
		return best;
	return best
	    - (int64_t)convert_cost(b->memo, class, l->have, l->need)
	    * DUAL_SCALE;
}

/* By prices.
 *
 * Why: let R be the uncovered nodes. Candidates that cover R cost their reduced
 * costs, the prices of R, and what they pay for uses and gain by supplies, taken
 * back; each has its highest node in R, so reduced costs sum up to no less than
 * the cheapest by highest node. Users of a value made in R are in R, too: its tree
 * less what they pay is at least its gain. That of a live value is what
 * value_adds() is a lower bound of. */
static cost_ns
priced_rest(const struct forward_bound *b, const struct forward_state *x)
{
	struct dual *d = b->dual;
	int64_t rest = 0;

	for (uint32_t n = 0; n < b->p->nnodes; n++)
		if (!bitset_has(x->covered, n))
			rest += d->rest[n + 1] - d->rest[n];
	for (uint32_t i = 0; i < x->nlive; i++) {
		int64_t adds = value_adds(b, x, &x->live[i]);

		if (adds == INT64_MAX)
			return COST_NEVER;
		rest += adds;
	}
	rest -= paid_launch(b, x);
	return rest <= 0 ? 0 : ((cost_ns)rest + DUAL_SCALE - 1) / DUAL_SCALE;
}

cost_ns
forward_bound_rest(const struct forward_bound *b, const struct forward_state *x)
{
	cost_ns shares = forward_sum_uncovered(b->p, x, b->share), priced;

	if (!b->dual || cost_add(x->cost, shares) >= b->upper)
		return shares;
	priced = priced_rest(b, x);
	return priced > shares ? priced : shares;
}
