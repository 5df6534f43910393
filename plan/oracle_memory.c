/* "too full": a cover keeps more on a device than its scratch leaves, which no
 * capacity says: the node is split. "memory": a plan that as built does not fit is
 * searched again with less capacity. */
#include <assert.h>

#include "plan/propose.h"
#include "plan/trace.h"

/* (O4) Once: the node is left. */
bool
ask_too_full(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	const struct plan_node *n = &pl->node;
	struct device_use use;

	(void)err;
	if (n->whole || n->alone || n->guess || n->low == n->high
	    || !tree_overfull(&pl->tree, &pl->problem, &p->best.cover, &use))
		return true;
	tree_split(&pl->tree, n, &use);
	trace_learn(pl->r->trace, "branches", 2, pl->tree.nopen);
	*v = ORACLE_BRANCHED;
	return true;
}

/* The next plan fits, or the capacity falls further: a guess (X2), so the node itself
 * is none the wiser. (O4) Quiet. */
bool
ask_memory(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	struct plan_node child = pl->node;
	uint64_t *capacity;

	(void)p, (void)v, (void)err;
	assert(pl->visit.fits || pl->visit.unfit.found);
	if (pl->visit.fits
	    || !problem_tighten(
	        &pl->problem, &pl->visit.unfit.plan, &pl->visit.unfit.overflow))
		return true;
	capacity = arena_new(pl->arena, uint64_t, pl->r->mix->n);
	for (uint32_t t = 0; t < pl->r->mix->n; t++)
		capacity[t] = pl->problem.target[t].capacity;
	child.guess = true;
	child.capacity = capacity;
	tree_put(&pl->tree, child);
	return true;
}
