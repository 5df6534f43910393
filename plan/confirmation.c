#include "plan/confirmation.h"

#include "plan/propose.h"
#include "plan/whole.h"

const char *
confirmation_word(enum confirmation_kind kind)
{
	static const char *const word[] = {[CONFIRM_NOTHING] = "",
	    [CONFIRM_CONFIRMED] = "confirmed",
	    [CONFIRM_LIKELY] = "likely",
	    [CONFIRM_LEVEL] = "level",
	    [CONFIRM_REFUSED] = "not confirmed",
	    [CONFIRM_PREDICTED] = "predicted"};

	return word[kind];
}

cost_ns
confirmation_predicts(const struct plan_confirmation *c, cost_ns prices)
{
	return c->took ? c->took : prices;
}

bool
plan_is_mix(const struct plan *p)
{
	const uint32_t fallback = fallback_of(p->mix, p->mix->n);
	uint32_t first = fallback;

	for (uint32_t i = 0; i < p->nregions; i++) {
		const uint32_t t = p->region[i].target;

		if (first == fallback)
			first = t;
		else if (t != fallback && t != first)
			return true;
	}
	return false;
}

bool
plan_is_picked(const struct plan *p)
{
	return plan_is_mix(p) || plan_has_parts(p);
}

/* Each may fall back, so what all fall back to is never cheaper alone. */
static bool
may_be_best(const struct plan *p, uint32_t t)
{
	return t != fallback_of(p->mix, p->mix->n) && p->baseline[t].plan
	    && p->baseline[t].cost != COST_NEVER;
}

const struct plan_baseline *
plan_best_single(const struct plan *p)
{
	const struct plan_baseline *best = NULL;

	for (uint32_t t = 0; t < p->mix->n && t < p->nbaselines; t++)
		if (may_be_best(p, t)
		    && (!best || p->baseline[t].cost < best->cost))
			best = &p->baseline[t];
	return best;
}

/* ---- what may be as good ---- */

/* TUNING: per cent. Prices of runtimes' whole models were up to 30 % off against each other
 * on a busy machine; sums of kernels' prices are off by much the same. */
#define NEAR 130
#define NEAR_KERNELS 105
/* TUNING: what is priced is cold, so a call of a runtime that takes 2 us was priced 37. */
#define COLD_NS 50000

bool
is_near_best(cost_ns cost, cost_ns best)
{
	return (double)cost * 100 <= (double)best * NEAR
	    || cost <= cost_add(best, COLD_NS);
}

bool
rival_is_runtime(const struct plan *p, const struct plan_baseline *rival)
{
	return p->mix->target[rival - p->baseline].kind->nset_rules > 0;
}

static bool
may_be_faster(const struct plan *p, const struct plan_baseline *b,
    const struct plan_baseline *best)
{
	if (b->bound)
		return b == best && plan_is_picked(p);
	return rival_is_runtime(p, b)
	    ? is_near_best(b->cost, best->cost)
	    : b->cost <= best->cost / 100 * NEAR_KERNELS;
}

static bool
same_cover(const struct plan *p, const struct plan *q)
{
	bool same = p->ncomposites == q->ncomposites;

	for (uint32_t i = 0; same && i < p->ncomposites; i++)
		same = p->composite[i].candidate == q->composite[i].candidate;
	return same;
}

/* Kept in the order of costs; what is beyond the last is dropped. */
static uint32_t
insert(const struct plan_baseline *rival[RIVALS_MAX], uint32_t n,
    const struct plan_baseline *b)
{
	uint32_t at = n < RIVALS_MAX ? n : RIVALS_MAX - 1;

	if (n == RIVALS_MAX && rival[at]->cost <= b->cost)
		return n;
	for (; at > 0 && rival[at - 1]->cost > b->cost; at--)
		rival[at] = rival[at - 1];
	rival[at] = b;
	return n < RIVALS_MAX ? n + 1 : n;
}

uint32_t
plan_rivals(const struct plan *p, const struct plan_baseline *rival[RIVALS_MAX])
{
	const struct plan_baseline *best = plan_best_single(p);
	uint32_t n = 0;

	for (uint32_t t = 0; best && t < p->mix->n; t++) {
		const struct plan_baseline *b = &p->baseline[t];

		if (may_be_best(p, t) && !same_cover(b->plan, p)
		    && may_be_faster(p, b, best))
			n = insert(rival, n, b);
	}
	return n;
}
