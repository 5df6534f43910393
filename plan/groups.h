/* Regions where a target's candidates say themselves which belong together. */
#ifndef PLAN_GROUPS_H
#define PLAN_GROUPS_H

#include "search/cover.h"
#include "targets/candidates.h"

/* Lay the runs of a cover anew, so that candidates of different groups (see
 * struct candidate) share none, and those of one group share one if any order
 * allows it. Runs of targets under a limit on runs stay as they are: a user's
 * constraint comes first. Nor are runs cut where a value goes from one candidate
 * to another in a local format that it could not be brought into again. The
 * cover's cost follows; never less than the least there is. Candidate ids of `p`
 * and `all` are the same. */
void groups_apply(struct cover *c, const struct problem *p,
    const struct candidates *all, struct arena *a);

#endif
