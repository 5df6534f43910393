/* Around the search: plans that fit the memory of their devices, in slices where
 * the search cannot say what fits. */
#include "plan/quest.h"
#include "search/budget.h"

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
 * least. */
static bool
search_whole(struct quest *q, struct err *err)
{
	cost_ns bound;
	bool fits;

	if (!quest_search_regions(q, &fits, err))
		return false;
	bound = q->best.lower_bound;
	if (!search_tightened(q, &fits, err))
		return false;
	q->best.lower_bound = bound;
	return fits || quest_explain_none(q, err);
}

/* ---- in slices ---- */

struct fitting {
	struct quest *q;
	struct slices slices;
	struct quest best; /* the quest when it had the best plan */
	bool found;
	cost_ns bound; /* of the slices that are done */
};

static cost_ns
best_cost(const struct fitting *f)
{
	return f->found ? f->best.plan.cost : COST_NEVER;
}

/* Nothing in a slice costs less than `bound`. */
static void
close_slice(struct fitting *f, cost_ns bound)
{
	if (bound < f->bound)
		f->bound = bound;
}

static void
keep_plan(struct fitting *f)
{
	if (f->q->plan.cost >= best_cost(f))
		return;
	f->best = *f->q;
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
	close_slice(f, s->bound);
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
	if (q->best.lower_bound > s.bound)
		s.bound = q->best.lower_bound;
	if (q->overfull) {
		slices_split(&f->slices, &s, &q->overflow);
		return true;
	}
	q->slices = NULL;
	if (!q->best.proven && q->quick && fits)
		slices_put(&f->slices, s);
	else
		close_slice(f, s.bound);
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
		if (s.bound >= best_cost(f)
		    || (f->found && quest_is_late(f->q)))
			close_slice(f, s.bound);
		else if (!slices_apply(&f->slices, &s, &f->q->problem, err)
		    || !search_slice(f, s, err))
			return false;
	return true;
}

/* The plans of which one region fills the memory. */
static bool
search_alone(struct fitting *f, struct err *err)
{
	struct slice s = {.alone = true};
	cost_ns bound;

	if (!slices_apply(&f->slices, &s, &f->q->problem, err)
	    || !bound_attended(f, &bound, err))
		return false;
	close_slice(f, bound);
	slices_put(&f->slices, s);
	return search_open(f, err);
}

/* The best plan, and the whole problem again. */
static bool
close_slices(struct fitting *f, struct err *err)
{
	struct quest *q = f->q;

	*q = f->best;
	if (!slices_apply(&f->slices, NULL, &q->problem, err))
		return false;
	/* prices may have moved since */
	quest_weigh(q, &q->best.cover, &q->plan);
	q->best.lower_bound = f->bound < q->plan.cost ? f->bound : q->plan.cost;
	q->best.proven = q->best.lower_bound == q->plan.cost;
	return true;
}

static bool
search_slices(struct fitting *f, struct err *err)
{
	slices_put(&f->slices, (struct slice){.high = f->slices.nlevels - 1});
	if (!search_open(f, err)
	    || (f->slices.kind->spills && !search_alone(f, err)))
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
	struct fitting f = {.q = q, .bound = COST_NEVER};
	const struct plan about = {.graph = q->r->graph,
	    .mix = q->r->mix,
	    .candidates = q->r->candidates};

	if (!quest_may_improve(q) || quest_has_discounts(q->r->mix)
	    || !slices_init(&f.slices, &about, &q->problem, q->arena))
		return search_whole(q, err);
	return search_slices(&f, err);
}
