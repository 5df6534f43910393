/* Random problems for the tests of search/. */
#ifndef TESTS_SUPPORT_PROBLEMS_H
#define TESTS_SUPPORT_PROBLEMS_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "search/problem.h"
#include "tests/support/support.h"

/* What a random problem may contain. */
struct problem_mix {
	uint32_t max_nodes, max_candidates_extra, max_formats, max_targets;
	bool launches, limits, marks, taps, resources, parts, local;
};

/* A small random problem, indexed; the same for the same generator state. */
struct problem *problem_random(
    struct rng *r, const struct problem_mix *mix, struct arena *a);

/* Give a candidate an input port, *port, for a value none of its nodes reads: the
 * problem is wrong then. False: the value drawn is one of the candidate's own. */
bool problem_spoil(struct problem *p, uint32_t candidate, uint32_t *port,
    struct rng *r, struct arena *a);

/* A chain of up to 56 nodes that is one small random block over and over, with
 * values shared by all blocks and candidates across them; indexed. */
struct problem *problem_repeated(
    struct rng *r, const struct problem_mix *mix, struct arena *a);

#endif
