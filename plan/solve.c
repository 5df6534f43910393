#include "plan/solve.h"

#include <inttypes.h>
#include <string.h>

#include "plan/groups.h"
#include "plan/problem.h"
#include "plan/quest.h"
#include "search/budget.h"
#include "search/cost.h"
#include "search/top.h"

/* TUNING: bytes of labels, whatever the graph and for each of its nodes, of a
 * search whose cover is there to be priced. Nothing hangs on its proof. */
#define QUICK_BYTES (UINT64_C(8) << 20)
#define QUICK_NODE_BYTES (UINT64_C(8) << 10)

uint64_t
quest_quick_bytes(const struct quest *q)
{
	uint64_t bytes = QUICK_BYTES + q->problem.nnodes * QUICK_NODE_BYTES;
	uint64_t most = q->r->search.memory_budget;

	return most && most < bytes ? most : bytes;
}

void
quest_group(struct quest *q, struct cover *cover)
{
	groups_apply(cover, &q->problem, q->r->candidates, q->arena);
}

/* thorough: with all the memory there is to prove the answer. */
static bool
solve(
    struct quest *q, bool thorough, struct search_result *out, struct err *err)
{
	const char *name = q->r->searcher ? q->r->searcher : "exact";
	struct problem with = q->problem;
	struct search_options o = search_turn(&q->r->search);

	if (!thorough)
		o.memory_budget = quest_quick_bytes(q);
	if (q->wholes.nmoved && !wholes_apply(&q->wholes, &with, err))
		return false;
	if (!search_named(out, &with, name, &o, q->arena, err))
		return false;
	if (q->wholes.nmoved && out->found)
		wholes_expand(&q->wholes, &out->cover);
	if (out->found)
		quest_group(q, &out->cover);
	return true;
}

bool
quest_is_late(const struct quest *q)
{
	return search_is_over(&q->r->search);
}

void
quest_reprice(struct quest *q)
{
	problem_reprice(&q->problem, q->r->prices, q->arena);
}

static bool
price_everything(struct quest *q, struct err *err)
{
	bool moved;

	q->nask = 0;
	for (uint32_t c = 0; c < q->r->candidates->n; c++)
		if (q->r->prices->candidate[c].state == PRICE_BOUND)
			q->ask[q->nask++] = c;
	return quest_price_listed(q, &moved, err);
}

/* Prices ran out: the best plan that uses known prices only, bounded by what
 * was proven with all of them. */
static bool
settle(struct quest *q, struct err *err)
{
	struct problem known = q->problem;
	struct search_result r;
	uint32_t bounds = q->nask;
	struct search_options o = search_turn(&q->r->search);

	known.candidate = arena_copy(q->arena, known.candidate,
	    known.ncandidates * sizeof *known.candidate);
	for (uint32_t c = 0; c < known.ncandidates; c++)
		if (q->r->prices->candidate[c].state != PRICE_KNOWN)
			known.candidate[c].banned = true;
	problem_reindex(&known, q->arena);
	if (!search_exact(&r, &known, &o, q->arena, err))
		return false;
	if (!r.found) {
		notes_add(q->r->notes,
		    "%" PRIu32 " composites of the plan are not priced; lower "
		    "bounds stand in for them",
		    bounds);
		q->best.proven = false;
		return true;
	}
	quest_group(q, &r.cover);
	r.proven = r.cover.cost <= q->best.lower_bound;
	r.lower_bound = q->best.lower_bound;
	q->best = r;
	return true;
}

bool
quest_search(struct quest *q, struct err *err)
{
	/* Only the exact search proves more with more memory; others are not
	 * run twice for a proof they never give. */
	const char *name = q->r->searcher;
	bool proves = !name || strcmp(name, "exact") == 0;
	bool thorough = !proves;

	for (;;) {
		bool moved = false;

		if (!solve(q, thorough, &q->best, err))
			return false;
		q->overfull = q->slices && q->best.found
		    && slices_overfull(
		        q->slices, &q->problem, &q->best.cover, &q->overflow);
		if (q->overfull)
			return true;
		if (q->best.found) {
			quest_list_unpriced(q, &q->best.cover);
			if (q->nask > 0 && !quest_price_listed(q, &moved, err))
				return false;
		}
		if (moved) {
			thorough = !proves;
		} else if (!q->best.proven && !thorough && !q->quick
		    && !quest_is_late(q)) {
			thorough = true;
		} else {
			break;
		}
	}
	if (!q->best.found)
		return quest_explain_none(q, err);
	return q->nask == 0 || settle(q, err);
}

bool
quest_ask_regions(struct quest *q, const struct cover *cover, struct err *err)
{
	uint32_t *run = arena_new(q->arena, uint32_t, cover->nsteps);

	for (uint32_t i = 0, n; q->r->pricer && i < cover->nsteps; i += n) {
		for (n = 0; i + n < cover->nsteps
		     && cover->step[i + n].run == cover->step[i].run;
		     n++)
			run[n] = cover->step[i + n].candidate;
		if (!pricer_price_region(
		        q->r->pricer, q->r->prices, run, n, err))
			return false;
	}
	return true;
}

bool
quest_weigh(struct quest *q, const struct cover *cover, struct plan *out)
{
	struct arena scratch;
	bool fits;

	*out = (struct plan){.graph = q->r->graph,
	    .mix = q->r->mix,
	    .candidates = q->r->candidates,
	    .prices = q->r->prices};
	plan_build(out, cover, q->arena);
	arena_init(&scratch);
	fits = plan_fits(out, &q->overflow, &scratch);
	arena_release(&scratch);
	return fits;
}

bool
plan_search(struct plan *out, const struct plan_request *r, struct arena *a,
    struct err *err)
{
	struct quest q = {.r = r, .arena = a};
	const struct plan about = {.graph = r->graph,
	    .mix = r->mix,
	    .candidates = r->candidates,
	    .prices = r->prices};

	if (r->pricer && !pricer_price_conversions(r->pricer, r->prices, err))
		return false;
	if (!problem_build(&q.problem, r, NULL, a, err))
		return false;
	q.ask = arena_new(a, uint32_t, r->candidates->n);
	wholes_init(&q.wholes, &about, &q.problem, a);
	if ((r->eager_pricing && !price_everything(&q, err))
	    || !quest_search_fitting(&q, err)
	    || (!r->only && !r->no_baselines && !quest_baselines(&q, err)))
		return false;
	if (q.plan.cost == COST_NEVER)
		return quest_explain_refused(&q, err);
	*out = q.plan;
	out->rounds = q.rounds;
	out->moved = q.wholes.moved;
	out->nmoved = q.wholes.nmoved;
	out->baseline = q.baseline;
	out->nbaselines = q.nbaselines;
	out->tie = q.tie;
	out->nties = q.nties;
	out->lower_bound = q.best.lower_bound;
	out->proven = q.best.proven && out->cost == out->lower_bound;
	out->searcher = r->only ? "replay" : q.best.searcher;
	if (r->only) {
		out->proven = false; /* nothing was searched */
		out->lower_bound = 0;
	}
	return plan_verify(out, err);
}

/* By true costs, which order plans otherwise than the search does. */
static void
insert(struct plan *list, uint32_t n, const struct plan *p)
{
	for (; n > 0 && list[n - 1].cost > p->cost; n--)
		list[n] = list[n - 1];
	list[n] = *p;
}

bool
plan_top(struct plan *out, uint32_t k, uint32_t *n,
    const struct plan_request *r, struct arena *a, struct err *err)
{
	struct search_top top = {arena_new(a, struct search_result, k), k, 0};
	struct quest q = {.r = r, .arena = a};
	struct problem known;
	bool *allowed = arena_new(a, bool, r->candidates->n);

	*n = 0;
	if (!problem_build(&q.problem, r, NULL, a, err))
		return false;
	for (uint32_t c = 0; c < r->candidates->n; c++)
		allowed[c] = r->prices->candidate[c].state == PRICE_KNOWN;
	problem_restrict(&known, &q.problem, allowed, a);
	if (!search_top(&top, &known, &r->search, a, err))
		return false;
	if (top.n < k && quest_is_late(&q))
		notes_add(r->notes,
		    "the search ended before the %" PRIu32
		    " best plans were found: %" PRIu32 " are",
		    k, top.n);
	for (uint32_t i = 0; i < top.n; i++) {
		quest_group(&q, &top.best[i].cover);
		if (!quest_weigh(&q, &top.best[i].cover, &q.plan))
			continue;
		q.plan.searcher = "exact";
		/* What is not listed costs at least what the last of them does,
		 * and as a plan more still. */
		q.plan.lower_bound = top.best[top.n - 1].lower_bound;
		q.plan.proven = q.plan.cost <= q.plan.lower_bound;
		if (q.plan.proven)
			q.plan.lower_bound = q.plan.cost;
		if (!plan_verify(&q.plan, err))
			return false;
		insert(out, (*n)++, &q.plan);
	}
	return true;
}
