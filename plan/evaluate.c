#include "plan/evaluate.h"

#include <assert.h>

#include "plan/groups.h"
#include "plan/trace.h"

void
evaluate_group(struct planner *pl, struct cover *cover)
{
	groups_apply(cover, &pl->problem, pl->r->candidates, pl->arena);
}

bool
evaluate_ask(struct planner *pl, const struct cover *cover, struct err *err)
{
	const struct plan_request *r = pl->r;
	uint32_t *part;
	struct arena space;
	bool ok = true;

	arena_init(&space);
	part = arena_new(&space, uint32_t, cover->nsteps);
	for (uint32_t i = 0, n; ok && r->pricer && i < cover->nsteps; i += n) {
		n = cover_region(cover, i, part);
		if (n > 1)
			trace_ask(r->trace, "region", part, n);
		ok = pricer_price_region(r->pricer, part, n, err);
	}
	arena_release(&space);
	return ok;
}

bool
evaluate(struct planner *pl, const struct cover *cover, bool at_least,
    struct plan *out, struct device_use *overflow)
{
	struct arena scratch;
	bool fits;

	*out = (struct plan){.graph = pl->r->graph,
	    .mix = pl->r->mix,
	    .candidates = pl->r->candidates,
	    .prices = pl->r->prices,
	    .at_least = at_least};
	plan_build(out, cover, pl->arena);
	arena_init(&scratch);
	fits = plan_fits(out, overflow, &scratch);
	arena_release(&scratch);
	return fits;
}

cost_ns
incumbent_cost(struct planner *pl, struct incumbent *x)
{
	if (!x->found)
		return COST_NEVER;
	assert(x->epoch <= pl->epoch);
	if (x->epoch != pl->epoch) /* (Z2) */
		evaluate(
		    pl, &x->cover, x->plan.at_least, &x->plan, &x->overflow);
	x->epoch = pl->epoch;
	return x->plan.cost;
}

void
evaluate_offer(struct planner *pl, const struct proposal *p)
{
	struct incumbent now = {.found = true,
	    .cover = p->best.cover,
	    .epoch = pl->epoch,
	    .searcher = pl->visit.searcher};
	bool fits = evaluate(pl, &now.cover, false, &now.plan, &now.overflow);
	struct incumbent *than = fits ? &pl->incumbent : &pl->visit.unfit;

	assert(p->best.found);
	assert(pl->mode == MODE_SEARCH || pl->mode == MODE_FIXED);
	assert(now.plan.ncomposites == now.cover.nsteps);
	trace_offer(pl->r->trace, &now.plan, fits);
	if (!fits)
		pl->overflow = now.overflow;
	pl->visit.fits |= fits;
	pl->visit.broken |= now.plan.cost < node_bound(&pl->node, pl->fell);
	if (!than->found || now.plan.cost < incumbent_cost(pl, than)) {
		pl->visit.improved |= fits;
		*than = now;
	}
}
