/* Constraints on plans: pins, bans, stop-fusion marks and limits. */
#ifndef PLAN_CONSTRAINTS_H
#define PLAN_CONSTRAINTS_H

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "search/problem.h"
#include "targets/candidates.h"

/* Resolved against one graph, mix and candidates. */
struct constraints {
	bool *banned; /* [candidates->n] */
	bool *mark; /* [graph->nvalues] */
	struct problem_target *limit; /* [mix->n]; name and launch unused */
};

/* No constraint at all. */
void constraints_init(struct constraints *out, const struct graph *g,
    const struct mix *m, const struct candidates *c, struct arena *a);

#endif
