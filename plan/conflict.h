/* Why constraints leave no plan. */
#ifndef PLAN_CONFLICT_H
#define PLAN_CONFLICT_H

#include "plan/search.h"

/* Constraints that together leave no legal plan, none of which could be missing,
 * and as few as there are where that can be found in a few hundred tries: fills
 * in[constraints->n], how many. 0: there is no plan without constraints either. */
uint32_t constraints_conflict(
    bool *in, const struct plan_request *r, struct arena *a);

#endif
