/* What a plan is compared with: each single target, and eager. */
#ifndef PLAN_BASELINES_H
#define PLAN_BASELINES_H

#include "plan/planner.h"

/* Fill pl->baseline, after the search; a baseline's cover becomes the incumbent when
 * a search that was cut short found nothing as cheap. */
bool baselines_find(struct planner *pl, struct err *err);

#endif
