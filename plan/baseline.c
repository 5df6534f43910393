/* What a plan is compared with: each single target, and eager. */
#include <assert.h>
#include <string.h>

#include "plan/quest.h"
#include "plan/trace.h"
#include "search/budget.h"

/* A searcher asked for by name, and a replay, answer for themselves. */
bool
quest_may_improve(const struct quest *q)
{
	return !q->r->only
	    && (!q->r->searcher || strcmp(q->r->searcher, "exact") == 0);
}

/* File a baseline, and take its cover if a search that was cut short found
 * nothing as cheap. */
static bool
note_baseline(struct quest *q, struct plan_baseline *b, const char *name,
    const struct search_result *r, struct err *err)
{
	struct plan plan;

	b->name = name;
	b->cost = COST_NEVER;
	b->bound = true;
	if (!r->found)
		return true;
	if (!quest_ask_regions(q, &r->cover, err))
		return false;
	q->at_least = true;
	b->bound = !quest_weigh(q, &r->cover, &plan) || !r->proven
	    || plan_unpriced(&plan) > 0;
	q->at_least = false;
	b->cost = plan.cost;
	b->plan = arena_copy(q->arena, &plan, sizeof plan);
	if (!quest_may_improve(q) || b->bound || plan.cost >= q->plan.cost)
		return true;
	q->best.cover = r->cover;
	q->best.searcher = name;
	q->plan = plan;
	q->plan.at_least = false; /* all of it has a price */
	return true;
}

uint32_t
quest_fallback(const struct mix *m, uint32_t target)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (strcmp(m->target[t].kind->name, "host") == 0)
			return t;
	return target;
}

/* Baseline number t: a target with its fallback, or (t == mix->n) eager. Something
 * to compare with is not worth the memory of a proof. */
static bool
solve_baseline(
    struct quest *q, uint32_t t, struct search_result *r, struct err *err)
{
	const struct mix *m = q->r->mix;
	const uint32_t allowed[2] = {t, quest_fallback(m, t)};
	struct search_options o = search_turn(&q->r->search);
	bool ok;

	o.memory_budget = quest_quick_bytes(q);
	ok = t == m->n
	    ? search_eager(r, &q->problem, &o, q->arena, err)
	    : search_single(r, &q->problem, allowed, &o, q->arena, err);

	if (ok)
		trace_solve(q->r->trace, "baseline", r);
	if (ok && r->found)
		quest_group(q, &r->cover);
	return ok;
}

/* The same until its cover has no bounds any more, where that was asked for.
 * The fallback alone is never priced for this: it is a reference, and slow. */
static bool
price_baseline(
    struct quest *q, uint32_t t, struct search_result *r, struct err *err)
{
	bool wanted =
	    q->r->price_baselines && t != quest_fallback(q->r->mix, t);
	bool moved = true;

	for (;;) {
		if (!solve_baseline(q, t, r, err))
			return false;
		if (!wanted || !moved || !r->found)
			return true;
		quest_list_unpriced(q, &r->cover);
		if (q->nask + q->nconvert == 0)
			return true;
		if (!quest_price_listed(q, &moved, err))
			return false;
	}
}

static const char *
baseline_name(struct quest *q, uint32_t t)
{
	const struct mix *m = q->r->mix;
	uint32_t fallback = t < m->n ? quest_fallback(m, t) : t;

	if (t == m->n)
		return "eager";
	if (t == fallback)
		return m->target[t].text;
	return arena_printf(
	    q->arena, "%s + %s", m->target[t].text, m->target[fallback].text);
}

bool
quest_baselines(struct quest *q, struct err *err)
{
	uint32_t n = q->r->mix->n + 1;
	struct plan_baseline *list =
	    arena_new(q->arena, struct plan_baseline, n);
	struct search_result r;

	assert(quest_is_asked(q));
	for (uint32_t t = 0; t < n; t++) {
		if (!price_baseline(q, t, &r, err))
			return false;
		if (!note_baseline(q, &list[t], baseline_name(q, t), &r, err))
			return false;
	}
	q->baseline = list;
	q->nbaselines = n;
	return true;
}
