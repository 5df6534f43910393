#include "plan/search.h"

#include <assert.h>
#include <inttypes.h>

#include "plan/among.h"
#include "plan/baselines.h"
#include "plan/evaluate.h"
#include "plan/explain.h"
#include "plan/planner.h"
#include "plan/pricing.h"
#include "plan/problem.h"
#include "plan/propose.h"
#include "plan/regions.h"
#include "plan/substitutes.h"
#include "plan/trace.h"
#include "search/budget.h"
#include "search/kbest.h"
#include "search/problem_index.h"

static bool
planner_open(struct planner *pl, const struct plan_request *r, struct arena *a,
    struct err *err)
{
	struct plan *about = arena_new(a, struct plan, 1);

	*pl = (struct planner){.r = r,
	    .arena = a,
	    .hints.arena = a,
	    .mode = may_improve(r) ? MODE_SEARCH : MODE_FIXED};
	*about = (struct plan){.graph = r->graph,
	    .mix = r->mix,
	    .candidates = r->candidates,
	    .prices = r->prices};
	if (!problem_build(&pl->problem, r, NULL, a, err))
		return false;
	pl->asked = arena_copy(a, pl->problem.target,
	    pl->problem.ntargets * sizeof *pl->problem.target);
	pl->ask = arena_new(a, uint32_t, r->candidates->n);
	pl->doubted = arena_new(a, bool, r->candidates->n);
	substitutes_index(pl);
	tree_init(&pl->tree, about, &pl->problem, a);
	knowledge_init(&pl->known, about, &pl->problem, a);
	return true;
}

/* What has no price and was left out may be cheaper than the plan: not below a bound
 * of a problem with the bounds of that in it. */
static bool
bound_all_there_is(struct planner *pl, cost_ns *bound, struct err *err)
{
	struct search_options o = search_turn(&pl->r->search);
	struct search_result r;
	struct arena scratch;
	struct problem all;
	bool ok;

	if (!pl->r->pricer || pricer_readmit(pl->r->pricer, true) == 0)
		return true;
	arena_init(&scratch);
	problem_least(&all, &pl->problem, pl->r->prices, &scratch);
	(void)pricer_readmit(pl->r->pricer, false);
	ok = search_exact(&r, &all, &o, &scratch, err);
	arena_release(&scratch);
	if (ok && r.lower_bound < *bound)
		*bound = r.lower_bound;
	return ok;
}

/* How much is proven: a bound of prices that have not fallen since, and a plan all
 * of which has a price. Of a replay nothing is: it was not searched. A cheaper plan
 * than the bound means that regions cost less than their parts. */
static bool
conclude(struct plan *out, struct planner *pl, struct err *err)
{
	if (pl->r->replay) {
		out->lower_bound = 0;
		out->proven = false;
		out->among = has_unoffered(out);
		return true;
	}
	if (pl->bound && pl->bound_fell != pl->fell) {
		if (!propose_bound(pl, &pl->bound, err))
			return false;
		pl->bound_fell = pl->fell;
	}
	if (!bound_all_there_is(pl, &pl->bound, err))
		return false;
	out->lower_bound = pl->bound <= out->cost ? pl->bound : 0;
	out->proven = out->lower_bound == out->cost && plan_unpriced(out) == 0;
	out->among = has_unoffered(out);
	if (out->proven && !among_only(&out->among, out, pl, err))
		return false;
	assert(out->lower_bound <= out->cost);
	assert(!out->proven || pl->bound_fell == pl->fell); /* (Z3) */
	return true;
}

/* The incumbent, with all that is said of it. */
static bool
finish(struct plan *out, struct planner *pl, struct err *err)
{
	const struct incumbent *x = &pl->incumbent;

	assert(x->found);
	assert(x->epoch == pl->epoch); /* (Z2) */
	*out = x->plan;
	out->rounds = x->rounds;
	out->moved = x->moved;
	out->nmoved = x->nmoved;
	out->baseline = pl->baseline;
	out->nbaselines = pl->nbaselines;
	out->tie = pl->tie;
	out->nties = pl->nties;
	out->searcher = pl->r->replay ? "replay" : x->searcher;
	if (!conclude(out, pl, err))
		return false;
	trace_plan(pl->r->trace, out);
	return plan_verify(out, err);
}

static bool
search_once(struct planner *pl, const struct plan_request *r, struct plan *out,
    bool *found, struct arena *a, struct err *err)
{
	bool moved;

	if (!planner_open(pl, r, a, err))
		return false;
	if (r->eager_pricing) {
		pricing_list_all(pl);
		if (!pricing_all(pl, &moved, err))
			return false;
	}
	if (!planner_search(pl, err))
		return false;
	if (pl->incumbent.found && !r->replay && !r->no_baselines
	    && !baselines_find(pl, err))
		return false;
	*found = incumbent_cost(pl, &pl->incumbent) != COST_NEVER;
	return !*found || finish(out, pl, err);
}

/* TUNING: times the search is repeated at what is on record. Each but the last
 * has had an answer that nobody had before; two or three are usual. */
#define PASSES_MAX 16

/* A plan is decided by what is on record, and by nothing that depends on the order
 * in which it came: so a search that asked for anything is done once more on its
 * answers. Then another run decides the same, and asks for nothing. */
static bool
search(struct planner *pl, const struct plan_request *r, struct plan *out,
    bool *found, struct arena *a, struct err *err)
{
	bool again = true;

	if (r->pricer && !r->what_if)
		pricer_unfit(r->pricer);
	for (uint32_t pass = 0; again && pass < PASSES_MAX; pass++) {
		uint32_t asked = r->pricer ? pricer_asked(r->pricer) : 0;

		if (!search_once(pl, r, out, found, a, err))
			return false;
		again = *found && r->pricer && !r->what_if
		    && pricer_asked(r->pricer) != asked
		    && pricer_may_measure(r->pricer) && !planner_is_late(pl);
		if (again && !pricer_restart(r->pricer, &again, err))
			return false;
	}
	return true;
}

bool
plan_find(struct plan *out, bool *found, const struct plan_request *r,
    struct arena *a, struct err *err)
{
	struct planner pl;

	return search(&pl, r, out, found, a, err);
}

bool
plan_search(struct plan *out, const struct plan_request *r, struct arena *a,
    struct err *err)
{
	struct planner pl;
	bool found;

	return search(&pl, r, out, &found, a, err)
	    && (found || planner_explain(&pl, err));
}

/* By true costs, which order plans otherwise than the search does. */
static void
insert(struct plan *list, uint32_t n, const struct plan *p)
{
	for (; n > 0 && list[n - 1].cost > p->cost; n--)
		list[n] = list[n - 1];
	list[n] = *p;
}

/* Say what is proven of n plans, ascending. The search bounds sums of parts: its
 * i-th bound holds for all but i choices of candidates, however they are cut into
 * regions, so it bounds the i-th best plan. Where regions may cost less than
 * their parts it bounds nothing. */
static void
prove(struct plan *list, uint32_t n, const struct search_top *top,
    const struct mix *mix)
{
	bool discounts = regions_may_discount(mix);

	for (uint32_t i = 0; i < n; i++)
		discounts |= list[i].cost < top->best[i].lower_bound;
	for (uint32_t i = 0; i < n; i++) {
		assert(i == 0 || list[i - 1].cost <= list[i].cost);
		list[i].lower_bound = discounts ? 0 : top->best[i].lower_bound;
		list[i].proven = list[i].cost == list[i].lower_bound;
	}
}

bool
plan_top(struct plan *out, uint32_t k, uint32_t *n,
    const struct plan_request *r, struct arena *a, struct err *err)
{
	struct search_top top = {arena_new(a, struct search_result, k), k, 0};
	struct planner pl;
	struct problem known;
	bool *allowed = arena_new(a, bool, r->candidates->n);

	*n = 0;
	if (!planner_open(&pl, r, a, err))
		return false;
	for (uint32_t c = 0; c < r->candidates->n; c++)
		allowed[c] =
		    prices_candidate(r->prices, c)->state == PRICE_KNOWN;
	problem_restrict(&known, &pl.problem, allowed, a);
	if (!search_top(&top, &known, &r->search, a, err))
		return false;
	if (top.n < k && planner_is_late(&pl))
		notes_add(r->notes,
		    "the search ended before the %" PRIu32
		    " best plans were found: %" PRIu32 " are",
		    k, top.n);
	for (uint32_t i = 0; i < top.n; i++) {
		struct device_use overflow;
		struct plan plan;

		evaluate_group(&pl, &top.best[i].cover);
		if (!evaluate(&pl, &top.best[i].cover, false, &plan, &overflow)
		    || plan.cost == COST_NEVER)
			continue;
		plan.searcher = "exact";
		plan.among = has_unoffered(&plan);
		if (!plan_verify(&plan, err))
			return false;
		insert(out, (*n)++, &plan);
	}
	prove(out, *n, &top, r->mix);
	return true;
}
