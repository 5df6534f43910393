#include "search/branch.h"

#include "search/check.h"
#include "search/solution.h"
#include "search/backward_dp.h"
#include "search/problem_index.h"

/* TUNING: labels a node that the backward DP keeps for covers a little above what
 * is known; where there are more, the whole of the exact search is better. */
#define RATE_BRANCH 400

void
branch_tools_init(struct branch_tools *t, const struct problem *p,
    const struct split_readers *split, const struct dual *prices)
{
	*t = (struct branch_tools){
	    .p = p, .split = split, .priced = prices != NULL};
	arena_init(&t->arena);
	convert_init(&t->memo, p, &t->arena);
	if (!prices)
		return;
	t->dual = *prices;
	convert_init(&t->priced_memo, prices->p, &t->arena);
	t->dual.memo = &t->priced_memo;
	t->dual.hole = arena_new(&t->arena, uint32_t, p->nnodes);
}

void
branch_tools_release(struct branch_tools *t)
{
	arena_release(&t->arena);
}

cost_ns *
branch_least_excess(const struct problem *p, const struct dual *prices,
    const bool *allowed, struct arena *a)
{
	cost_ns *least = arena_new(a, cost_ns, p->nnodes);

	for (uint32_t n = 0; n < p->nnodes; n++)
		least[n] = COST_NEVER;
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *x = &p->candidate[c];

		if (!allowed[c] || !candidate_usable(x))
			continue;
		for (uint32_t i = 0; i < x->nnodes; i++)
			if (prices->excess[c] < least[x->node[i]])
				least[x->node[i]] = prices->excess[c];
	}
	return least;
}

/* Every node has to be covered, by what adds least to the bound at best. */
static cost_ns
bound_by_prices(
    const struct branch_tools *t, const bool *allowed, struct arena *scratch)
{
	struct arena_mark mark = arena_mark(scratch);
	cost_ns *least = branch_least_excess(t->p, &t->dual, allowed, scratch);
	cost_ns most = 0;

	for (uint32_t n = 0; n < t->p->nnodes; n++)
		if (least[n] > most)
			most = least[n];
	arena_back(scratch, mark);
	return cost_add(dual_bound(&t->dual), most);
}

static bool
is_done(const struct search_result *r, cost_ns bar)
{
	return r->proven || r->lower_bound >= bar;
}

/* For covers a little above the floor, then a little more, up to the bar. */
static void
run_upwards(struct search_result *out, const struct problem *sub, cost_ns bar,
    const struct search_options *o, struct branch_tools *t, struct arena *a)
{
	const cost_ns floor = out->lower_bound;
	struct backward_limits limits = {.memo = &t->memo,
	    .split = t->split,
	    .dual = &t->dual,
	    .budget = budget_of(o),
	    .max_rate = RATE_BRANCH};

	for (cost_ns gap = floor / 1024 + 1; gap <= floor; gap *= 2) {
		struct search_result r;

		limits.upper = cost_add(floor, gap);
		if (limits.upper > bar)
			limits.upper = bar;
		backward_dp(&r, sub, &limits, a);
		result_keep(out, &r);
		if (is_done(out, bar) || out->lower_bound < limits.upper)
			return;
	}
}

bool
branch_search(struct search_result *out, const struct branch_ask *ask,
    const struct search_options *o, struct branch_tools *t, struct arena *a,
    struct err *err)
{
	struct search_result r = {.labels = 0};
	struct search_options turn;
	struct problem sub;

	*out = (struct search_result){
	    .searcher = "exact", .lower_bound = ask->floor, .why = ""};
	if (search_is_over(o))
		return true;
	if (t->priced) {
		r.lower_bound = bound_by_prices(t, ask->allowed, a);
		result_keep(out, &r);
	}
	if (is_done(out, ask->bar))
		return true;
	problem_restrict(&sub, t->p, ask->allowed, a);
	if (t->priced)
		run_upwards(out, &sub, ask->bar, o, t, a);
	if (is_done(out, ask->bar) || search_is_over(o))
		return !out->found || cover_check(&out->cover, t->p, a, err);
	turn = search_turn(o);
	if (!search_exact(&r, &sub, &turn, a, err))
		return false;
	result_keep(out, &r);
	return true;
}
