/* Problems made of one block over and over: the DP that extrapolates over
 * blocks finds what the one that does not finds, and small ones what brute force
 * does.
 * Arguments: number of cases (default 4,000), first seed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "search/check.h"
#include "search/solve.h"
#include "search/backward_dp.h"
#include "tests/support/problems.h"

static const struct problem_mix mixes[] = {
    {.max_candidates_extra = 6, .max_formats = 3, .max_targets = 3},
    {.max_candidates_extra = 8,
        .max_formats = 3,
        .max_targets = 3,
        .taps = true},
    {.max_candidates_extra = 6,
        .max_formats = 3,
        .max_targets = 3,
        .launches = true},
    {.max_candidates_extra = 6,
        .max_formats = 2,
        .max_targets = 2,
        .launches = true,
        .taps = true},
};
#define NMIXES (sizeof mixes / sizeof mixes[0])
#define BRUTE_MAX 7u

struct tally {
	uint64_t bad, periodic, brute;
};

static bool
solve(struct search_result *r, const struct problem *p,
    uint64_t extrapolate_after, struct arena *a)
{
	struct converter_memo memo;
	struct backward_limits limits = {.memo = &memo,
	    .upper = COST_NEVER,
	    .extrapolate_after = extrapolate_after};
	struct err err = {0};

	convert_init(&memo, p, a);
	backward_dp(r, p, &limits, a);
	if (!r->found || cover_check(&r->cover, p, a, &err))
		return true;
	printf("%s\n", err.text);
	return false;
}

static bool
same(const struct problem *p, struct tally *t, struct arena *a)
{
	struct search_result extrapolations, plain, brute;
	struct search_options o = {0};
	struct err err = {0};

	if (!solve(&extrapolations, p, 0, a)
	    || !solve(&plain, p, UINT64_MAX, a))
		return false;
	t->periodic += extrapolations.labels < plain.labels;
	if (extrapolations.found != plain.found
	    || extrapolations.proven != plain.proven
	    || extrapolations.lower_bound != plain.lower_bound)
		return false;
	if (p->nnodes > BRUTE_MAX)
		return true;
	t->brute++;
	return search_exhaustive(&brute, p, &o, a, &err)
	    && brute.found == extrapolations.found
	    && (!brute.found || brute.cover.cost == extrapolations.cover.cost);
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct tally t = {0};

	for (uint64_t seed = first; seed < first + n && t.bad < 10; seed++) {
		struct rng r = rng_seeded(seed);
		struct problem *p;
		struct arena a;

		arena_init(&a);
		p = problem_repeated(&r, &mixes[seed % NMIXES], &a);
		if (backward_handles(p) && !same(p, &t, &a)) {
			printf("seed %" PRIu64
			       ": extrapolation changes the answer\n",
			    seed);
			t.bad++;
		}
		arena_release(&a);
	}
	printf("%" PRIu64 " cases, %" PRIu64 " extrapolated, %" PRIu64
	       " against brute force, %" PRIu64 " failed\n",
	    n, t.periodic, t.brute, t.bad);
	return t.bad > 0 || t.periodic == 0;
}
