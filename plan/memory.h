/* Do the regions of a plan fit the memory of their devices? */
#ifndef PLAN_MEMORY_H
#define PLAN_MEMORY_H

#include "plan/plan.h"
#include "search/problem.h"

/* What a plan's regions on one device take; targets of a kind are one device. */
struct device_use {
	const struct target_kind *kind;
	uint64_t resident; /* of all its regions */
	uint64_t scratch; /* of the one that has most */
	uint64_t limit;
};

/* True when they fit; else *use is of a device on which they do not. */
bool plan_fits(
    const struct plan *p, struct device_use *use, struct arena *scratch);

/* Lower the capacities of a problem so that the plan, which does not fit, is no
 * cover of it any more: by what is too much of it. False: they are as low as
 * they get. */
bool problem_tighten(
    struct problem *p, const struct plan *plan, const struct device_use *use);

#endif
