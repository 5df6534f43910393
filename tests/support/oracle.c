#include "tests/support/oracle.h"

#include <assert.h>

static bool
can_follow(const struct oracle *o, const struct problem_candidate *c)
{
	for (uint32_t k = 0; k < c->nnodes; k++)
		if (o->done[c->node[k]])
			return false;
	for (uint32_t k = 0; k < c->ninputs; k++) {
		uint32_t maker = o->p->value[c->input[k].value].producer;

		if (maker != NO_NODE && !o->done[maker])
			return false;
	}
	return candidate_usable(c);
}

static void
extend(struct oracle *o, uint32_t covered, struct arena *a)
{
	if (covered == o->p->nnodes) {
		struct arena_mark mark = arena_mark(a);
		cost_ns cost = o->cost(o, a);

		if (cost < o->best)
			o->best = cost;
		arena_back(a, mark);
		return;
	}
	for (uint32_t id = 0; id < o->p->ncandidates; id++) {
		const struct problem_candidate *c = &o->p->candidate[id];

		if (!can_follow(o, c))
			continue;
		for (int fresh = 0; fresh < 2; fresh++) {
			bool must = o->n == 0
			    || o->p->candidate[o->chosen[o->n - 1]].target
			        != c->target;

			if (must && !fresh)
				continue;
			o->chosen[o->n] = id;
			o->fresh[o->n++] = fresh;
			for (uint32_t k = 0; k < c->nnodes; k++)
				o->done[c->node[k]] = true;
			extend(o, covered + c->nnodes, a);
			o->n--;
			for (uint32_t k = 0; k < c->nnodes; k++)
				o->done[c->node[k]] = false;
		}
	}
}

void
oracle_try_all(struct oracle *o, struct arena *a)
{
	assert(o->p->nnodes <= ORACLE_NODES);
	o->best = COST_NEVER;
	extend(o, 0, a);
}
