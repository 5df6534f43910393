/* From graph, candidates and prices to the abstract problem. */
#ifndef PLAN_PROBLEM_H
#define PLAN_PROBLEM_H

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "plan/solve.h"
#include "search/problem.h"

/* Node, value, candidate, target and format ids stay the same; constants
 * become values nobody reads. A price that is not KNOWN counts with its lower
 * bound, a FAILED one as COST_NEVER. `limits` may be NULL; skip[i] leaves one
 * of them out (NULL: none). */
bool problem_build(struct problem *out, const struct plan_request *r,
    const bool *skip, struct arena *a, struct err *err);

/* Take over prices that changed since problem_build(). */
void problem_reprice(
    struct problem *p, const struct prices *prices, struct arena *a);

#endif
