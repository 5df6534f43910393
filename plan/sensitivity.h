/* Does the plan hang on what a cost simulator assumes? */
#ifndef PLAN_SENSITIVITY_H
#define PLAN_SENSITIVITY_H

#include "plan/solve.h"

/* The plan at one end of a parameter's range. */
struct plan_end {
	double value;
	cost_ns kept; /* of the plan as it is; COST_NEVER: it is not legal */
	cost_ns best; /* of the best plan found */
	uint32_t nmoved; /* nodes that it runs on another target */
	bool flips; /* it is cheaper and runs nodes elsewhere */
};

struct plan_assumption {
	uint32_t target;
	const char *name, *unit;
	double value;
	struct plan_end end[2]; /* low, high */
};

struct sensitivity {
	uint32_t n;
	const struct plan_assumption *item;
};

/* Search again with each assumed parameter at the low and the high end of its
 * range, the others as they are; nothing is measured. `r` is the request the plan
 * is the answer to. */
bool plan_sensitivity(struct sensitivity *out, const struct plan *p,
    const struct plan_request *r, struct arena *a, struct err *err);

#endif
