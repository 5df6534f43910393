/* Regions that need memory of their device to run, on random problems: plans fit,
 * no bound is above the cheapest that fits, a proof is one. Every cover in every
 * order is the oracle. Argument: number of cases (default 2000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/search.h"
#include "tests/support/device.h"
#include "tests/support/problems.h"

static const struct problem_mix mix = {6, 8, 2, 2, .launches = true};

/* ---- cases ---- */

struct tally {
	uint32_t plans, optimal, proven, missed;
};

static bool
holds(struct problem *p, uint64_t seed, enum law law, struct tally *t,
    struct arena *a)
{
	struct dressed d = {.a = a, .p = p};
	struct rng r = rng_seeded(seed + 7);
	struct oracle o = {.p = p, .cost = device_cost};
	struct target_kind kind;
	struct plan_request request;
	struct err err = {.kind = ERR_NONE};
	struct plan plan;

	dress(&d);
	dress_known(&d);
	dress_device(&d, &kind, law, &r);
	oracle_try_all(&o, a);
	request = (struct plan_request){.trace = trace_wanted(),
	    .graph = d.graph,
	    .mix = &d.mix,
	    .candidates = &d.candidates,
	    .prices = &d.prices};
	if (!plan_search(&plan, &request, a, &err)) {
		if (err.kind != ERR_NO_COVER)
			printf("seed %" PRIu64 ": %s\n", seed, err.text);
		/* Lowering a capacity is no search, and regions that keep
		 * nothing beside one that fills the memory are not searched:
		 * what is left may be missed. */
		t->missed += o.best != COST_NEVER;
		return err.kind == ERR_NO_COVER
		    && (o.best == COST_NEVER || law != LAW_LARGEST);
	}
	t->plans++;
	t->optimal += plan.cost == o.best;
	t->proven += plan.proven;
	if (plan.cost >= o.best && (law != LAW_LARGEST || plan.proven)
	    && plan.lower_bound <= o.best
	    && (!plan.proven || plan.cost == o.best))
		return true;
	printf("seed %" PRIu64 ", law %d: %" PRIu64 " (bound %" PRIu64
	       ", proven %d), optimum %" PRIu64 "\n",
	    seed, (int)law, plan.cost, plan.lower_bound, plan.proven, o.best);
	return false;
}

int
main(int argc, char **argv)
{
	static const char *const name[NLAWS] = {"largest", "spill", "more"};
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000, bad = 0;
	struct tally tally[NLAWS] = {{0}};
	struct arena a;

	arena_init(&a);
	for (uint64_t seed = 0; seed < n && bad < 10; seed++) {
		struct arena_mark mark = arena_mark(&a);
		struct rng r = rng_seeded(seed);
		struct problem *p = problem_random(&r, &mix, &a);

		enum law law = (enum law)(seed % NLAWS);

		dressed_plain(p);
		for (uint32_t c = 0; c < p->ncandidates; c++)
			p->candidate[c].banned = false;
		bad += !holds(p, seed, law, &tally[law], &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	for (int i = 0; i < NLAWS; i++)
		printf("%-8s %" PRIu32 " plans: %" PRIu32 " optimal, %" PRIu32
		       " proven; %" PRIu32 " missed\n",
		    name[i], tally[i].plans, tally[i].optimal, tally[i].proven,
		    tally[i].missed);
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0;
}
