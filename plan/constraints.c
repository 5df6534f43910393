#include "plan/constraints.h"

void
constraints_init(struct constraints *out, const struct graph *g,
    const struct mix *m, const struct candidates *c, struct arena *a)
{
	out->banned = arena_new(a, bool, c->n);
	out->mark = arena_new(a, bool, g->nvalues);
	out->limit = arena_new(a, struct problem_target, m->n);
	for (uint32_t t = 0; t < m->n; t++)
		out->limit[t] = (struct problem_target){
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX,
		};
}
