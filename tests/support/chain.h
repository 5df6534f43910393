/* Chains of nodes in which every stretch may be a candidate, and prices and clocks
 * with noise, for tests of what is confirmed by runs in turn. */
#ifndef TESTS_SUPPORT_CHAIN_H
#define TESTS_SUPPORT_CHAIN_H

#include "plan/plan.h"
#include "tests/support/dressed.h"

#define PRICE_NOISE 5.0 /* per cent: standard deviations */
#define RUN_NOISE 3.0

/* n nodes, node i from value i to value i + 1, and room for so many candidates; to
 * be indexed when they are added. `name` outlives it. */
struct problem *chain_empty(uint32_t n, const char *const *name,
    uint32_t ntargets, uint32_t ncandidates, struct arena *a);

/* Nodes from, from + 1, ... to - 1 as one candidate. */
void chain_add(struct problem *p, uint32_t target, uint32_t from, uint32_t to,
    cost_ns cost, struct arena *a);

/* What a plan's composites cost at the prices of `truth`. */
cost_ns chain_cost(const struct plan *plan, const struct problem *truth);

/* Normal, but for its tails; standard deviation 1. */
double noise(struct rng *r);
cost_ns noisy(cost_ns ns, double percent, struct rng *r);

/* Prices: the truth with PRICE_NOISE. */
void dress_noisy(struct dressed *d, struct rng *r);

#endif
