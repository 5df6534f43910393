/* Around the search: plans that fit the memory of their devices, in slices where
 * the search cannot say what fits. */
#include "plan/quest.h"
#include "plan/trace.h"
#include "search/budget.h"
#include "search/problem_index.h"

/* A plan that does not fit is searched again with the capacity lowered by what
 * was too much: the next one fits or the capacity falls further. */
static bool
search_tightened(struct quest *q, bool *fits, struct err *err)
{
	while (!*fits && problem_tighten(&q->problem, &q->plan, &q->overflow)) {
		problem_reindex(&q->problem, q->arena);
		if (!quest_search_regions(q, fits, err))
			return false;
	}
	return true;
}

/* Its bound is that of the first search, which every plan that fits costs at
 * least; so is the problem afterwards. */
static bool
search_whole(struct quest *q, struct err *err)
{
	struct problem_target *target = q->problem.target;
	struct search_result first;
	uint64_t fell;
	bool fits, ok;

	q->problem.target =
	    arena_copy(q->arena, target, q->problem.ntargets * sizeof *target);
	if (!quest_search_regions(q, &fits, err))
		return false;
	first = q->best;
	fell = q->bound_fell;
	ok = search_tightened(q, &fits, err);
	q->problem.target = target;
	problem_reindex(&q->problem, q->arena);
	if (!ok)
		return false;
	q->best.lower_bound = first.lower_bound;
	q->bound_fell = fell;
	return fits || quest_explain_none(q, err);
}

/* ---- in slices ---- */

struct fitting {
	struct quest *q;
	struct slices slices;
	struct quest best; /* the quest when it had the best plan */
	bool found;
	uint64_t epoch; /* of the prices in its plan */
	struct slice *closed; /* [nclosed] done, each with its bound */
	uint32_t nclosed, closed_cap;
};

/* What the best plan costs at the prices there are now. */
static cost_ns
best_cost(struct fitting *f)
{
	if (!f->found)
		return COST_NEVER;
	if (f->epoch != f->q->epoch)
		quest_weigh(f->q, &f->best.best.cover, &f->best.plan);
	f->epoch = f->q->epoch;
	return f->best.plan.cost;
}

/* What a slice's plans cost at least, at the prices there are now. */
static cost_ns
bound_of(const struct fitting *f, const struct slice *s)
{
	return s->fell == f->q->fell ? s->bound : 0;
}

/* Nothing in a slice costs less than its bound, until prices fall. */
static void
close_slice(struct fitting *f, struct slice s)
{
	f->closed = arena_grow(f->q->arena, f->closed, &f->closed_cap,
	    f->nclosed + 1, sizeof *f->closed);
	s.bound = bound_of(f, &s);
	s.fell = f->q->fell;
	f->closed[f->nclosed++] = s;
}

static cost_ns
least_bound(const struct fitting *f)
{
	cost_ns least = COST_NEVER;

	for (uint32_t i = 0; i < f->nclosed; i++)
		if (bound_of(f, &f->closed[i]) < least)
			least = bound_of(f, &f->closed[i]);
	return least;
}

/* Slices whose bounds prices have fallen below are searched once more. */
static bool
reopen_stale(struct fitting *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->nclosed; i++) {
		struct slice s = f->closed[i];

		if (s.fell == f->q->fell) {
			f->closed[kept++] = s;
			continue;
		}
		s.visits = 0;
		slices_put(&f->slices, s);
	}
	f->nclosed = kept;
	return f->slices.nopen > 0;
}

static void
keep_plan(struct fitting *f)
{
	if (f->q->plan.cost >= best_cost(f))
		return;
	f->best = *f->q;
	f->epoch = f->q->epoch;
	f->found = true;
}

/* What plans cost at least in which one region keeps all that is kept and others,
 * one at least, keep nothing. */
static bool
bound_attended(struct fitting *f, cost_ns *bound, struct err *err)
{
	struct search_options o = search_turn(&f->q->r->search);
	struct search_result r;
	struct problem relaxed;

	o.memory_budget = quest_quick_bytes(f->q);
	if (!slices_relax_alone(
	        &f->slices, &f->q->problem, &relaxed, bound, err)
	    || !search_exact(&r, &relaxed, &o, f->q->arena, err))
		return false;
	trace_solve(f->q->r->trace, "attended", &r);
	*bound = cost_add(*bound, r.lower_bound);
	return true;
}

/* A slice has no plan: that is an answer. */
static bool
leave_empty(struct fitting *f, const struct slice *s, struct err *err)
{
	if (err->kind != ERR_NO_COVER)
		return false;
	err_clear(err);
	if (!f->q->best.found && f->q->best.proven)
		return true;
	close_slice(f, *s);
	return true;
}

/* Search a slice: it is split, or gets a plan and a bound. What a quick search
 * does not prove is looked at again when nothing has a lower bound, if that can
 * prove the plan: if it fits. */
static bool
search_slice(struct fitting *f, struct slice s, struct err *err)
{
	struct quest *q = f->q;
	bool fits;

	wholes_init(&q->wholes, q->wholes.about, &q->problem, q->arena);
	q->slices = s.alone || s.low == s.high ? NULL : &f->slices;
	q->quick = s.visits++ == 0;
	q->overflow.kind = f->slices.kind; /* no need to explain no plan */
	if (!quest_search_regions(q, &fits, err))
		return leave_empty(f, &s, err);
	if (quest_bound(q) > bound_of(f, &s)) {
		s.bound = quest_bound(q);
		s.fell = q->fell;
	}
	if (q->overfull) {
		slices_split(&f->slices, &s, &q->overflow);
		trace_learn(q->r->trace, "branches", 2, f->slices.nopen);
		return true;
	}
	q->slices = NULL;
	if (!q->best.proven && q->quick && fits)
		slices_put(&f->slices, s);
	else
		close_slice(f, s);
	if (!search_tightened(q, &fits, err) && !leave_empty(f, &s, err))
		return false;
	if (fits)
		keep_plan(f);
	return true;
}

/* The one with the lowest bound first, until none can have a cheaper plan, or it
 * is late and there is one. */
static bool
search_open(struct fitting *f, struct err *err)
{
	struct slice s;

	while (slices_take(&f->slices, &s))
		if (bound_of(f, &s) >= best_cost(f)
		    || (f->found && quest_is_late(f->q)))
			close_slice(f, s);
		else if (!slices_apply(&f->slices, &s, &f->q->problem, err)
		    || !search_slice(f, s, err))
			return false;
	return true;
}

/* The plans of which one region fills the memory. */
static bool
search_alone(struct fitting *f, struct err *err)
{
	const struct slice s = {.alone = true};

	slices_put(&f->slices, s);
	return search_open(f, err);
}

/* Until no price has fallen below a bound, or it is late. */
static bool
search_stale(struct fitting *f, struct err *err)
{
	while (!quest_is_late(f->q) && reopen_stale(f))
		if (!search_open(f, err))
			return false;
	return true;
}

/* The least of all bounds, those of plans included that nobody searched. */
static bool
bound_all(struct fitting *f, cost_ns *bound, struct err *err)
{
	const struct slice alone = {.alone = true};
	cost_ns attended;

	*bound = least_bound(f);
	if (!f->slices.kind->spills)
		return true;
	if (!slices_apply(&f->slices, &alone, &f->q->problem, err)
	    || !bound_attended(f, &attended, err))
		return false;
	*bound = attended < *bound ? attended : *bound;
	return true;
}

/* The best plan, and the whole problem again. What was learned of prices since it
 * was found stays. */
static bool
close_slices(struct fitting *f, struct err *err)
{
	struct quest *q = f->q;
	cost_ns bound;

	best_cost(f);
	if (!bound_all(f, &bound, err)
	    || !slices_apply(&f->slices, NULL, &q->problem, err))
		return false;
	q->best = f->best.best;
	q->plan = f->best.plan;
	q->overflow = f->best.overflow;
	q->rounds = f->best.rounds;
	q->wholes = f->best.wholes;
	q->best.lower_bound = bound < q->plan.cost ? bound : q->plan.cost;
	q->bound_fell = q->fell;
	return true;
}

static bool
search_slices(struct fitting *f, struct err *err)
{
	slices_put(&f->slices, (struct slice){.high = f->slices.nlevels - 1});
	if (!search_open(f, err)
	    || (f->slices.kind->spills && !search_alone(f, err))
	    || !search_stale(f, err))
		return false;
	if (!f->found) { /* it says why */
		f->q->overflow.kind = NULL;
		f->q->slices = NULL;
		f->q->quick = false;
		return slices_apply(&f->slices, NULL, &f->q->problem, err)
		    && search_whole(f->q, err);
	}
	return close_slices(f, err);
}

bool
quest_search_fitting(struct quest *q, struct err *err)
{
	struct fitting f = {.q = q};
	const struct plan about = {.graph = q->r->graph,
	    .mix = q->r->mix,
	    .candidates = q->r->candidates};

	if (!quest_may_improve(q) || quest_has_discounts(q->r->mix)
	    || !slices_init(&f.slices, &about, &q->problem, q->arena))
		return search_whole(q, err);
	return search_slices(&f, err);
}
