/* Does the plan hang on what a cost simulator assumes? */
#ifndef PLAN_SENSITIVITY_H
#define PLAN_SENSITIVITY_H

#include "plan/plan.h"
#include "plan/request.h"

/* The plan at one end of an assumption's range. */
struct plan_end {
	double value;
	cost_ns kept; /* of the plan as it is; COST_NEVER: it is not legal */
	cost_ns best; /* of the best plan found */
	uint32_t nmoved; /* nodes that it runs on another target */
	bool flips; /* it is cheaper and runs nodes elsewhere */
	/* Where it flips, the break point: the value nearest to today's from
	 * which on another plan is cheaper, that plan's first node elsewhere and
	 * its target, and how many nodes it moves. */
	double breaks_at;
	node_id node;
	uint32_t to, nbroken;
};

struct plan_assumption {
	uint32_t target;
	const char *name, *unit;
	double value;
	struct plan_end end[2]; /* low, high */
};

struct sensitivity {
	uint32_t n, nleft; /* looked into; not, for lack of effort */
	const struct plan_assumption *item;
};

/* How many assumptions prices of candidates rest on: those of targets that can
 * take a node. */
uint32_t plan_assumptions(const struct mix *m, const struct candidates *c);

/* Search again with each assumption at the low and the high end of its range,
 * the others as they are; where the plan changes, find the break point exactly
 * (to a millionth of its value) by parametric search. Nothing is measured. `r` is
 * the request the plan is the answer to; assumptions that its deadline cuts short
 * are left. `quick`: with little memory, on large graphs only those that move the
 * plan's cost most, and no more once one is not proven so. */
bool plan_sensitivity(struct sensitivity *out, const struct plan *p,
    const struct plan_request *r, bool quick, struct arena *a, struct err *err);

#endif
