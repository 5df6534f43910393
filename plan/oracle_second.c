/* "second prices": a region that is on the cheapest cover was picked because it is
 * cheap, and the least of many prices is too low; it is measured at another moment
 * and counts with what comes of that. */
#include "plan/pricing.h"
#include "plan/propose.h"
#include "plan/trace.h"

/* Of what was offered as one, of which there are many for the same nodes. */
static bool
is_offered_region(const struct planner *pl, uint32_t candidate)
{
	const struct candidate *c = &pl->r->candidates->candidate[candidate];

	return rule_of_sets(pl->r->mix->target[c->target].kind, c->rule);
}

/* (O4) Once for each region. */
bool
ask_second(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	const struct cover *c = &p->best.cover;
	uint32_t *list, n = 0;
	bool moved;

	if (!pl->r->pricer || pl->visit.rounds > 0 || planner_is_late(pl))
		return true;
	list = arena_new(pl->arena, uint32_t, c->nsteps);
	for (uint32_t i = 0; i < c->nsteps; i++)
		if (is_offered_region(pl, c->step[i].candidate))
			list[n++] = c->step[i].candidate;
	if (!pricer_price_again(pl->r->pricer, list, n, &moved, err))
		return false;
	if (!moved)
		return true;
	trace_ask(pl->r->trace, "second price", list, n);
	pricing_update(pl);
	effort_after(pl, true);
	*v = ORACLE_LEARNED;
	return true;
}
