/* Why a plan is cheaper than the eager one, in numbers. */
#ifndef PLAN_EAGER_H
#define PLAN_EAGER_H

#include "plan/plan.h"

/* About targets that launch. */
struct eager_gain {
	const struct plan *eager;
	bool bound; /* the eager plan's cost is a lower bound */
	uint32_t launches, eager_launches; /* regions of such targets */
	uint32_t left; /* nodes the eager plan offloads and this one does not */
	uint32_t gained; /* the other way round */
	uint32_t lone; /* the eager plan's regions of one composite that this
			* one leaves out */
	uint32_t merged; /* the eager plan's regions that share a region with
			  * another one here */
};

/* False when there is no eager plan to compare with, or nothing launches in
 * either, or all that is known of it is a bound, and of the plan estimates. */
bool plan_gain_over_eager(
    struct eager_gain *out, const struct plan *p, struct arena *a);

#endif
