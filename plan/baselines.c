#include "plan/baselines.h"

#include <assert.h>

#include "plan/confirmation.h"
#include "plan/evaluate.h"
#include "plan/propose.h"

/* File a baseline, and take its cover if a search that was cut short found
 * nothing as cheap. */
static bool
note(struct planner *pl, struct plan_baseline *b, const struct proposal *p,
    struct err *err)
{
	struct incumbent now = {.found = true,
	    .cover = p->best.cover,
	    .epoch = pl->epoch,
	    .searcher = b->name};
	bool fits;

	b->cost = COST_NEVER;
	b->bound = true;
	if (!p->best.found)
		return true;
	if (!evaluate_ask(pl, &now.cover, err))
		return false;
	fits = evaluate(pl, &now.cover, true, &now.plan, &now.overflow);
	b->bound = !fits || !p->best.proven || plan_unpriced(&now.plan) > 0;
	b->cost = now.plan.cost;
	assert(now.plan.at_least);
	b->plan = arena_copy(pl->arena, &now.plan, sizeof now.plan);
	if (!may_improve(pl->r) || b->bound
	    || now.plan.cost >= incumbent_cost(pl, &pl->incumbent))
		return true;
	now.plan.at_least = false; /* all of it has a price */
	now.rounds = pl->incumbent.rounds;
	now.moved = pl->incumbent.moved;
	now.nmoved = pl->incumbent.nmoved;
	pl->incumbent = now;
	return true;
}

static const char *
name_of(const struct planner *pl, uint32_t t)
{
	const struct mix *m = pl->r->mix;
	uint32_t fallback = t < m->n ? fallback_of(m, t) : t;

	if (t == m->n)
		return "eager";
	if (t == fallback)
		return m->target[t].text;
	return arena_printf(
	    pl->arena, "%s + %s", m->target[t].text, m->target[fallback].text);
}

static bool
find(struct planner *pl, struct plan_baseline *list, uint32_t t, bool priced,
    struct err *err)
{
	struct proposal p;
	bool branched;

	pl->mode = priced ? MODE_BASELINE : MODE_REFERENCE;
	pl->reference = t;
	list[t].name = name_of(pl, t);
	if (!planner_refine(pl, &p, &branched, err)
	    || !note(pl, &list[t], &p, err))
		return false;
	assert(!branched);
	return true;
}

/* What has a bound only and may be what the plan is run in turn with: the best single
 * target where that is needed; runtimes that are offered the whole model where they
 * are near, because that is one price. NULL: nothing. */
static const struct plan_baseline *
unpriced_rival(const struct planner *pl, const struct plan_baseline *list)
{
	const struct mix *m = pl->r->mix;
	const struct plan seen = {
	    .mix = m, .baseline = list, .nbaselines = m->n};
	const struct plan_baseline *best = plan_best_single(&seen);

	if (!best)
		return NULL;
	if (best->bound && plan_is_picked(&pl->incumbent.plan))
		return best;
	for (uint32_t t = 0; t < m->n; t++)
		if (m->target[t].kind->nset_rules && list[t].plan
		    && list[t].bound && is_near_best(list[t].cost, best->cost))
			return &list[t];
	return NULL;
}

/* That with the least bound first, until it has none left. */
static bool
price_rivals(struct planner *pl, struct plan_baseline *list, struct err *err)
{
	const struct plan_baseline *b;

	for (uint32_t i = 0; i < 2 * pl->r->mix->n; i++) {
		b = unpriced_rival(pl, list);
		if (!b)
			return true;
		if (!find(pl, list, (uint32_t)(b - list), true, err))
			return false;
	}
	return true;
}

bool
baselines_find(struct planner *pl, struct err *err)
{
	const struct plan_request *r = pl->r;
	uint32_t n = r->mix->n + 1;
	struct plan_baseline *list =
	    arena_new(pl->arena, struct plan_baseline, n);

	assert(node_is_asked(pl));
	/* The fallback alone is never priced for this: it is a reference, and
	 * slow. */
	for (uint32_t t = 0; t < n; t++)
		if (!find(pl, list, t,
		        r->price_baselines && t != fallback_of(r->mix, t), err))
			return false;
	if (r->price_best && may_improve(r) && !price_rivals(pl, list, err))
		return false;
	assert(list[n - 1].name && node_is_asked(pl));
	pl->baseline = list;
	pl->nbaselines = n;
	return true;
}
