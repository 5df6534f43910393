/* From graph, candidates and prices to the abstract problem. */
#ifndef PLAN_PROBLEM_H
#define PLAN_PROBLEM_H

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "plan/constraints.h"
#include "plan/plan.h"
#include "search/problem.h"

/* Node, value, candidate, target and format ids stay the same; constants
 * become values nobody reads. A price that is not KNOWN counts with its lower
 * bound, a FAILED one as COST_NEVER. `limits` may be NULL. */
bool problem_build(struct problem *out, const struct graph *g,
    const struct mix *m, const struct candidates *c,
    const struct prices *prices, const struct constraints *limits,
    struct arena *a, struct err *err);

/* Take over prices that changed since problem_build(). */
void problem_reprice(struct problem *p, const struct prices *prices,
    const struct constraints *limits, struct arena *a);

#endif
