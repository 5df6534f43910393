#include "search/problem.h"

cost_ns
transfer_cost(const struct problem *p, uint32_t class, uint32_t format)
{
	cost_ns least = COST_NEVER;

	for (uint32_t f = 0; f < p->nformats; f++) {
		cost_ns cost = p->local >> f & 1
		    ? COST_NEVER
		    : conversion_cost(p, class, f, format);

		if (cost < least)
			least = cost;
	}
	return least;
}

uint32_t
transfer_formats(const struct problem *p, uint32_t class, uint32_t format)
{
	cost_ns least = transfer_cost(p, class, format);
	uint32_t mask = 0;

	for (uint32_t f = 0; f < p->nformats && least != COST_NEVER; f++)
		if (!(p->local >> f & 1)
		    && conversion_cost(p, class, f, format) == least)
			mask |= UINT32_C(1) << f;
	return mask;
}

uint32_t
problem_find_use(const struct problem *p, uint32_t value, uint32_t node)
{
	uint32_t low = p->user_start[value], high = p->user_start[value + 1];

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (p->user[mid] < node)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->user_start[value + 1] && p->user[low] == node
	    ? low
	    : UINT32_MAX;
}

bool
problem_leaves_early(const struct problem *p)
{
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *x = &p->candidate[c];

		for (uint32_t i = 0; candidate_usable(x) && i < x->noutputs;
		     i++)
			if (p->value[x->output[i].value].producer
			    != x->node[x->nnodes - 1])
				return true;
	}
	return false;
}
