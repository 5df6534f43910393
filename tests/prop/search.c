/* The exact search against brute force, with every feature of a problem on.
 * An argument gives the number of cases (default 20,000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "search/check.h"
#include "search/solve.h"
#include "tests/support/problems.h"

static const struct problem_mix mixes[] = {
    {6, 10, 3, 3, .launches = false},
    {6, 10, 3, 3, .launches = true},
    {5, 8, 3, 3, true, true, true, false, true},
    {5, 8, 3, 3, true, true, true, true, true},
    {6, 12, 4, 2, true, false, false, true, false},
};
#define NMIXES (sizeof mixes / sizeof mixes[0])

static bool
same(const struct problem *p, uint64_t seed, struct arena *a)
{
	struct search_options options = {0};
	struct search_result fast, slow;
	struct err err = {0};

	if (!search_exact(&fast, p, &options, a, &err)
	    || !search_brute(&slow, p, &options, a, &err)
	    || (slow.found && !cover_check(&slow.cover, p, a, &err))) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	if (fast.found == slow.found && fast.proven
	    && fast.lower_bound == slow.lower_bound
	    && (!fast.found || fast.cover.cost == slow.cover.cost))
		return true;
	printf("seed %" PRIu64 ": exact %d %" PRIu64 " (bound %" PRIu64
	       "), brute %d %" PRIu64 "\n",
	    seed, fast.found, fast.cover.cost, fast.lower_bound, slow.found,
	    slow.cover.cost);
	return false;
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, bad = 0;
	struct arena a;

	arena_init(&a);
	for (uint64_t seed = first; seed < first + n && bad < 10; seed++) {
		struct arena_mark mark = arena_mark(&a);
		struct rng r = rng_seeded(seed);

		bad += !same(
		    problem_random(&r, &mixes[seed % NMIXES], &a), seed, &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0;
}
