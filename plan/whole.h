/* Who takes regions and is offered the whole of what it takes as one: the way one
 * uses a runtime alone. Parts of that are picked because their prices are low. */
#ifndef PLAN_WHOLE_H
#define PLAN_WHOLE_H

#include "plan/plan.h"

#define WHOLE_NONE UINT32_MAX

/* A candidate that is all a target was offered in regions; WHOLE_NONE: there is
 * none that can be run. */
uint32_t whole_of(const struct candidates *all, const struct mix *m,
    const struct prices *p, uint32_t target);

/* Has a candidate any node of the whole, and is no way to run that? */
bool meets_whole(
    const struct candidates *all, uint32_t candidate, uint32_t whole);

/* Does a plan have such parts? */
bool plan_has_parts(const struct plan *p);

#endif
