/* From graph, candidates and prices to the abstract problem. */
#ifndef PLAN_PROBLEM_H
#define PLAN_PROBLEM_H

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "plan/request.h"
#include "search/problem.h"

/* Node, value, candidate, target and format ids stay the same; constants
 * become values nobody reads. A price that is not KNOWN counts with its lower
 * bound, a FAILED one as COST_NEVER. `limits` may be NULL; skip[i] leaves one
 * of them out (NULL: none). */
bool problem_build(struct problem *out, const struct plan_request *r,
    const bool *skip, struct arena *a, struct err *err);

/* Take over prices that changed since problem_build(). True when a cost is lower
 * than it was: no bound proven before holds any more. */
bool problem_reprice(
    struct problem *p, const struct prices *prices, struct arena *a);

/* A copy of p in which everything costs what its price is expected to be, and
 * only some candidates can be chosen: covers of it are covers of p, its bounds are
 * none. */
void problem_expect(struct problem *out, const struct problem *p,
    const struct prices *prices, const bool *allowed, struct arena *a);

/* The same with the least that prices may be, and all candidates. */
void problem_least(struct problem *out, const struct problem *p,
    const struct prices *prices, struct arena *a);

/* The same with what prices are taken for, and all candidates. */
void problem_guess(struct problem *out, const struct problem *p,
    const struct prices *prices, struct arena *a);

#endif
