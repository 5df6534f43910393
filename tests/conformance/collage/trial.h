/* A case as a problem for search_exact(): the offers of its backends. */
#ifndef TESTS_CONFORMANCE_COLLAGE_TRIAL_H
#define TESTS_CONFORMANCE_COLLAGE_TRIAL_H

#include "tests/conformance/collage/sets.h"
#include "search/solve.h"

struct offer {
	uint32_t backend;
	set nodes;
};

struct trial {
	struct dag *d;
	struct arena arena;
	struct problem problem;
	const char *backend[8];
	uint32_t nbackends; /* one more target is the host's */
	struct offer offer[SETS_MAX];
	uint32_t noffers, nmeasured;
	struct search_result result;
};

/* A candidate of a target; an infinite cost is one that cannot be chosen. */
void trial_add(struct trial *t, uint32_t target, set s, double cost);

/* Offers of all backends at prices of the model, and the host's for free.
 * whole: regions of any depth, priced as wholes. */
void trial_build(struct trial *t, const cJSON *test, bool whole);

/* The proven optimum; of small problems also by brute force. */
bool trial_solve(struct trial *t);

/* Is the optimum that many of the case's units, if it says? */
bool trial_check_total(const struct trial *t, const cJSON *want);

#endif
