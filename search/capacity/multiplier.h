/* A capacity with a Lagrangian multiplier. Where a target's capacity binds, whoever
 * uses it pays for it instead: the optimum at the best multiplier, less what all of
 * the capacity costs, is a lower bound, and other bounds feel what is used. */
#ifndef SEARCH_CAPACITY_H
#define SEARCH_CAPACITY_H

#include "search/budget.h"
#include "search/solve.h"

struct capacity_multiplier {
	uint32_t target; /* whose capacity; NO_LIMIT: there is no multiplier */
	uint32_t shift; /* resources count in units of 2^shift */
	uint64_t capacity;
	uint64_t rate; /* ns for 2^20 units */
	cost_ns
	    optimum; /* of the problem with multipliers: a lower bound of it */
};

/* What a candidate pays for its resource; rounded down. */
cost_ns multiplier_cost(const struct capacity_multiplier *t, uint64_t resource);

/* What everybody else can still pay when `used` of the capacity is taken; never
 * less than that. */
cost_ns multiplier_left(const struct capacity_multiplier *t, uint64_t used);

/* A target that is used beyond its capacity; NO_LIMIT: none is. */
uint32_t capacity_excess(const struct problem *p, const struct cover *c);

/* The problem with the multipliers, and without any capacity. */
void multiplier_apply(const struct capacity_multiplier *t, struct problem *out,
    const struct problem *p, struct arena *a);

/* Find the multiplier whose lower bound is the best. *best gets the bound, and the
 * best cover within all capacities that was met on the way (or keeps its own). Its
 * target is NO_LIMIT when no capacity binds: the optimum is in *best. */
bool multiplier_search(struct capacity_multiplier *t,
    struct search_result *best, const struct problem *p,
    const struct budget *budget, struct arena *a);

#endif
