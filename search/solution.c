#include "search/solution.h"

#include <assert.h>

void
solution_verify(const struct search_result *r)
{
	if (r->found) {
		assert(r->cover.cost != COST_NEVER);
		assert(r->lower_bound <= r->cover.cost); /* (W1) */
		assert(
		    !r->proven || r->lower_bound == r->cover.cost); /* (W2) */
		assert(r->cover.nruns <= r->cover.nsteps);
	}
	assert(r->why);
}

void
result_settle(struct search_result *r)
{
	if (r->found && r->lower_bound >= r->cover.cost) {
		r->proven = true;
		r->lower_bound = r->cover.cost;
	}
	if (!r->found && r->lower_bound == COST_NEVER)
		r->proven = true;
}

void
result_keep(struct search_result *best, const struct search_result *r)
{
	best->labels += r->labels;
	if (r->found && (!best->found || r->cover.cost < best->cover.cost)) {
		best->found = true;
		best->cover = r->cover;
	}
	if (r->lower_bound > best->lower_bound)
		best->lower_bound = r->lower_bound;
	result_settle(best);
}
