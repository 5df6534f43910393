/* Regions that nobody offered: a target that fuses what it is given may run any of
 * its nodes as one, for less than the sum of what they cost one by one. */
#ifndef PLAN_AMONG_H
#define PLAN_AMONG_H

#include "plan/state.h"

/* Are there any, of some target of the plan's mix? */
bool has_unoffered(const struct plan *p);

/* Of a plan that is proven among what was offered: *among becomes false where
 * bounds say that nothing else is cheaper either. */
bool among_only(bool *among, const struct plan *plan, const struct planner *pl,
    struct err *err);

#endif
