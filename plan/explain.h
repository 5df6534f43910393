/* Why there is no plan, in words: worked out only where somebody wants to know. */
#ifndef PLAN_EXPLAIN_H
#define PLAN_EXPLAIN_H

#include "plan/state.h"

/* Constraints that together leave no legal plan, none of which could be missing,
 * and as few as there are where that can be found in a few hundred tries: fills
 * in[constraints->n], how many. 0: there is no plan without constraints either. */
uint32_t constraints_conflict(
    bool *in, const struct plan_request *r, struct arena *a);

/* ERR_NO_COVER with the reason; conflicting constraints are named. Always false. */
bool planner_explain(const struct planner *pl, struct err *err);

#endif
