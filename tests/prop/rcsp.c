/* Covers within a tight capacity: the path through the states against the plain
 * backward DP, which compares labels by what they use. Few ways are kept at first, so
 * that bounds decide. An argument gives the number of cases (default 3,000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "search/capacity/rcsp.h"
#include "search/check.h"
#include "search/backward_dp.h"
#include "search/problem_index.h"
#include "tests/support/problems.h"

static const struct problem_mix mixes[] = {
    {16, 60, 3, 2, .resources = true},
    {12, 40, 3, 3, .launches = true, .resources = true},
    {10, 30, 3, 3, .marks = true, .taps = true, .resources = true},
    {8, 24, 4, 2, .launches = true, .resources = true, .local = true},
};
#define NMIXES (sizeof mixes / sizeof mixes[0])

static uint32_t binding; /* cases that cost more for the capacity */

/* The first target may use a part of what it could. */
static struct problem *
make_tight(struct rng *r, const struct problem_mix *mix, struct arena *a)
{
	struct problem *p = problem_random(r, mix, a);
	struct err err = {.kind = ERR_NONE};
	uint64_t total = 0;

	for (uint32_t c = 0; c < p->ncandidates; c++) {
		struct problem_candidate *x = &p->candidate[c];

		x->resource = (uint64_t)rng_below(r, 60) * x->nnodes;
		if (x->target == 0)
			total += x->resource;
		if (x->cost != COST_NEVER)
			x->cost = x->cost * 9 + rng_below(r, 9);
	}
	for (uint32_t t = 0; t < p->ntargets; t++)
		p->target[t].capacity = UINT64_MAX;
	p->target[0].capacity = total * (5 + rng_below(r, 25)) / 100;
	if (!problem_index(p, a, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	return p;
}

static cost_ns
plain_optimum(const struct problem *p, struct arena *a)
{
	struct backward_limits limits = {.upper = COST_NEVER};
	struct converter_memo memo;
	struct search_result r;

	convert_init(&memo, p, a);
	limits.memo = &memo;
	backward_dp(&r, p, &limits, a);
	return r.found ? r.cover.cost : COST_NEVER;
}

static bool
same(struct problem *p, uint64_t seed, struct arena *a)
{
	struct search_result r = {.found = false};
	struct budget budget = {0};
	struct err err = {0};
	cost_ns best;

	if (!backward_handles(p))
		return true;
	best = plain_optimum(p, a);
	rcsp_search(&r, p, (uint32_t)(seed / NMIXES % 5) + 1, &budget, a);
	if (!r.proven || r.found != (best != COST_NEVER)
	    || r.lower_bound != best
	    || (r.found
	        && (r.cover.cost != best
	            || !cover_check(&r.cover, p, a, &err)))) {
		printf("seed %" PRIu64 ": optimum %" PRIu64
		       ", proven %d, found %d %" PRIu64 ", bound %" PRIu64
		       " %s\n",
		    seed, best, r.proven, r.found, r.cover.cost, r.lower_bound,
		    err.text);
		return false;
	}
	p->target[0].capacity = UINT64_MAX;
	binding += plain_optimum(p, a) < best;
	return true;
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, bad = 0;
	struct arena a;

	arena_init(&a);
	for (uint64_t seed = first; seed < first + n && bad < 10; seed++) {
		struct arena_mark mark = arena_mark(&a);
		struct rng r = rng_seeded(seed);

		bad +=
		    !same(make_tight(&r, &mixes[seed % NMIXES], &a), seed, &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	printf("%" PRIu64 " cases, in %" PRIu32 " the capacity binds, %" PRIu64
	       " failed\n",
	    n, binding, bad);
	return bad > 0 || binding == 0;
}
