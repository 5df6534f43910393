/* The exact search against brute force, with every feature of a problem on.
 * An argument gives the number of cases (default 20,000, a quarter of
 * that where a sanitizer makes them expensive). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/base/sanitized.h"
#include "search/split_readers.h"
#include "search/capacity/multiplier.h"
#include "search/capacity/rcsp.h"
#include "search/check.h"
#include "search/lagrangian/model.h"
#include "search/forward_dp.h"
#include "search/relaxation.h"
#include "search/solve.h"
#include "search/backward_dp.h"
#include "tests/support/problems.h"

static const struct problem_mix mixes[] = {
    {6, 10, 3, 3, .launches = false},
    {6, 10, 3, 3, .launches = true},
    {5, 8, 3, 3, .launches = true, .limits = true, .marks = true,
        .resources = true},
    {5, 8, 3, 3, .launches = true, .limits = true, .marks = true, .taps = true,
        .resources = true},
    {6, 12, 4, 2, .launches = true, .taps = true},
    {6, 10, 2, 4, .launches = true, .resources = true, .parts = true},
    {7, 14, 3, 2, .resources = true},
    {6, 12, 3, 1, .local = true},
    {6, 12, 4, 2, .launches = true, .local = true},
    {6, 12, 3, 2, .launches = true, .local = true, .marks = true, .taps = true,
        .resources = true},
    {5, 8, 3, 4, .launches = true, .local = true, .limits = true, .marks = true,
        .taps = true, .resources = true, .parts = true},
};
#define NMIXES (sizeof mixes / sizeof mixes[0])

static uint32_t binding; /* cases with a capacity that binds */
static uint32_t within; /* ... that is solved as a path through states */

/* The backward DP pruned by Lagrangian prices from the start, as only wide graphs
 * have it: the bound is below the optimum, and the optimum survives. */
static bool
same_priced(const struct problem *p, uint64_t seed, cost_ns best,
    uint32_t rounds, struct arena *a)
{
	struct backward_limits limits = {.upper = COST_NEVER};
	struct converter_memo memo, relaxed_memo;
	struct search_result r;
	struct problem relaxed;
	struct split_readers split;
	struct dual dual;

	if (!backward_handles(p))
		return true;
	split_readers_find(&split, p, a);
	relaxed = split_readers_relax(&split, p, a);
	convert_init(&memo, p, a);
	convert_init(&relaxed_memo, &relaxed, a);
	if (!dual_init(&dual, &relaxed, &relaxed_memo, a))
		return true;
	dual_improve(&dual, best == COST_NEVER ? 1000 : best, rounds,
	    &(struct budget){0});
	limits.split = &split;
	limits.dual = &dual;
	limits.memo = &memo;
	if (best != COST_NEVER)
		limits.upper = best + 1; /* no more room than it needs */
	backward_dp(&r, p, &limits, a);
	if (dual_bound(&dual) <= best && r.found == (best != COST_NEVER)
	    && (!r.found || r.cover.cost == best))
		return true;
	printf("seed %" PRIu64 ": optimum %" PRIu64 ", dual bound %" PRIu64
	       ", priced DP %d %" PRIu64 "\n",
	    seed, best, dual_bound(&dual), r.found, r.cover.cost);
	return false;
}

/* A capacity with a multiplier: the bound is below the optimum, covers met on the
 * way are legal and not below it, and the DP pruned by such prices finds it. */
static bool
same_multiplied(const struct problem *p, uint64_t seed, cost_ns best,
    uint32_t rounds, struct arena *a)
{
	struct budget budget = {0};
	struct search_result r, met = {.found = false};
	struct backward_limits limits = {.upper = COST_NEVER};
	struct converter_memo memo, priced_memo;
	struct problem priced; /* as if no format were local, like exact.c */
	struct err err = {0};
	struct capacity_multiplier multiplier;
	struct dual dual;
	bool binds;

	if (!backward_handles(p) || best == COST_NEVER)
		return true;
	binds = multiplier_search(&multiplier, &met, p, &budget, a);
	if (met.lower_bound > best
	    || (met.found
	        && (met.cover.cost < best
	            || !cover_check(&met.cover, p, a, &err)))) {
		printf("seed %" PRIu64 ": optimum %" PRIu64
		       ", multipliers say %" PRIu64 " and %" PRIu64 " %s\n",
		    seed, best, met.lower_bound, met.cover.cost, err.text);
		return false;
	}
	if (!binds)
		return true;
	binding++;
	multiplier_apply(&multiplier, &priced, p, a);
	priced.local = 0;
	convert_init(&priced_memo, &priced, a);
	convert_init(&memo, p, a);
	if (!dual_init(&dual, &priced, &priced_memo, a))
		return true;
	dual_improve(&dual, multiplier.optimum, rounds, &budget);
	limits.dual = &dual;
	limits.multiplier = &multiplier;
	limits.memo = &memo;
	limits.upper = best + 1;
	backward_dp(&r, p, &limits, a);
	if (r.found && r.cover.cost == best)
		return true;
	printf("seed %" PRIu64 ": optimum %" PRIu64
	       ", DP with multipliers %d %" PRIu64 "\n",
	    seed, best, r.found, r.cover.cost);
	return false;
}

static uint32_t
count_capacities(const struct problem *p)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < p->ntargets; t++)
		n += p->target[t].capacity != UINT64_MAX;
	return n;
}

/* The path through the states of the DP, with little room for ways: nothing
 * wrong is said, and with a single capacity the optimum is proven. */
static bool
same_within(
    const struct problem *p, uint64_t seed, cost_ns best, struct arena *a)
{
	struct budget budget = {0};
	struct search_result met = {.found = false};
	uint32_t n = count_capacities(p);
	struct err err = {0};

	if (!backward_handles(p) || n == 0)
		return true;
	rcsp_search(&met, p, (uint32_t)(seed % 3) + 1, &budget, a);
	if ((met.proven || n > 1)
	    && (!met.proven || met.found == (best != COST_NEVER))
	    && (!met.proven || met.lower_bound == best)
	    && (!met.found || cover_check(&met.cover, p, a, &err))
	    && (!met.found || met.cover.cost >= best)
	    && met.lower_bound <= best) {
		within++;
		return true;
	}
	printf("seed %" PRIu64 ": optimum %" PRIu64
	       ", within the capacity %" PRIu64 " and %d %" PRIu64 " %s\n",
	    seed, best, met.lower_bound, met.found, met.cover.cost, err.text);
	return false;
}

/* The general search pruned by prices, for covers no costlier than the optimum: a
 * bound that says too much of any label on the way to it loses it. */
static bool
same_ordered(const struct problem *p, uint64_t seed, cost_ns best,
    uint32_t rounds, struct arena *a)
{
	struct forward_limits limits = {.upper = cost_add(best, 1)};
	struct converter_memo memo;
	struct search_result r;
	struct problem priced;
	struct dual dual;

	relax_sizes(&priced, p, a);
	convert_init(&memo, &priced, a);
	if (!dual_init(&dual, &priced, &memo, a))
		return true;
	dual_improve(&dual, best == COST_NEVER ? 1000 : best, rounds,
	    &(struct budget){0});
	limits.guess = arena_new(a, cost_ns, p->nnodes);
	limits.dual = &dual;
	forward_dp(&r, p, &limits, a);
	if (dual_bound(&dual) <= best && r.proven
	    && r.found == (best != COST_NEVER)
	    && (!r.found || r.cover.cost == best))
		return true;
	printf("seed %" PRIu64 ": optimum %" PRIu64 ", dual bound %" PRIu64
	       ", priced order search %d %" PRIu64 "\n",
	    seed, best, dual_bound(&dual), r.found, r.cover.cost);
	return false;
}

/* The problem at other costs. */
static struct problem
recosted(const struct problem *p, uint64_t seed, struct arena *a)
{
	struct problem_candidate *c =
	    arena_copy(a, p->candidate, p->ncandidates * sizeof *c);
	struct rng r = rng_seeded(seed);
	struct problem out = *p;

	for (uint32_t i = 0; i < p->ncandidates; i++)
		if (c[i].cost != COST_NEVER)
			c[i].cost = c[i].cost * rng_below(&r, 4) / 2;
	out.candidate = c;
	return out;
}

/* With hints of the same problem at other costs, as if labels alone were too many
 * there: the optimum all the same. */
static bool
same_hinted(
    const struct problem *p, uint64_t seed, cost_ns best, struct arena *a)
{
	const struct problem other = recosted(p, seed, a);
	struct search_hints hints = {
	    .arena = a, .nnodes = p->nnodes, .is_wide = true};
	struct search_options options = {.hints = &hints};
	struct search_result r;
	struct err err = {0};

	if (search_exact(&r, &other, &options, a, &err)
	    && search_exact(&r, p, &options, a, &err) && r.proven
	    && r.lower_bound == best && r.found == (best != COST_NEVER))
		return true;
	printf("seed %" PRIu64 ": optimum %" PRIu64 ", with hints %d %" PRIu64
	       " %s\n",
	    seed, best, r.found, r.lower_bound, err.text);
	return false;
}

static bool
same(const struct problem *p, uint64_t seed, struct arena *a)
{
	struct search_options options = {0};
	struct search_result fast, slow;
	struct err err = {0};

	if (!search_exact(&fast, p, &options, a, &err)
	    || !search_exhaustive(&slow, p, &options, a, &err)
	    || (slow.found && !cover_check(&slow.cover, p, a, &err))) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	if (fast.found == slow.found && fast.proven
	    && fast.lower_bound == slow.lower_bound
	    && (!fast.found || fast.cover.cost == slow.cover.cost))
		return same_priced(
		           p, seed, slow.lower_bound, (uint32_t)(seed % 40), a)
		    && same_hinted(p, seed, slow.lower_bound, a)
		    && same_multiplied(
		        p, seed, slow.lower_bound, (uint32_t)(seed % 40), a)
		    && same_within(p, seed, slow.lower_bound, a)
		    && same_ordered(
		        p, seed, slow.lower_bound, (uint32_t)(seed % 40), a);
	printf("seed %" PRIu64 ": exact %d %" PRIu64 " (bound %" PRIu64
	       "), brute %d %" PRIu64 "\n",
	    seed, fast.found, fast.cover.cost, fast.lower_bound, slow.found,
	    slow.cover.cost);
	return false;
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10)
	                      : cases_of(SANITIZED ? 5000 : 20000);
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
	printf("%" PRIu64 " cases, %" PRIu32
	       " with a capacity that binds, %" PRIu32
	       " solved within it, %" PRIu64 " failed\n",
	    n, binding, within, bad);
	return bad > 0;
}
