/* Stretches of regions offered to the search: candidates of their own, at what
 * they cost as one, so that a region can be kept, cut anywhere, or left. */
#ifndef PLAN_COLUMNS_H
#define PLAN_COLUMNS_H

#include "plan/plan.h"
#include "search/cover.h"
#include "search/problem.h"

/* A stretch of a region, offered as one candidate at its price as a whole. */
struct column {
	struct problem_candidate candidate; /* target: of the base problem; no
					     * cost: it is worked out each time */
	bool is_unit; /* its price as a unit is not its parts' */
	cost_ns unit;
	const uint32_t *part; /* [nparts] in execution order */
	uint32_t nparts;
};

struct columns {
	const struct plan *about; /* graph, mix, candidates and prices */
	struct arena *arena;
	struct column *column;
	uint32_t n, cap;
};

/* What candidates cost one by one. */
cost_ns parts_cost(const struct plan *about, const uint32_t *part, uint32_t n);

/* Offer stretches of a run of n candidates of the base problem. */
void columns_offer(struct columns *c, const struct problem *base,
    const uint32_t *run, uint32_t n);

/* The base problem and the columns; without its indexes, and values and costs
 * may still be changed. */
void columns_apply(
    const struct columns *c, const struct problem *base, struct problem *out);

/* A cover of that problem as one of the base problem. */
void columns_expand(
    const struct columns *c, const struct problem *base, struct cover *cover);

#endif
