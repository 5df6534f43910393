/* Regions that need memory of their device to run, on random problems: plans fit,
 * no bound is above the cheapest that fits, a proof is one. A target kind of our
 * own says what regions need; every cover in every order is the oracle.
 * Argument: number of cases (default 2000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/fit.h"
#include "plan/solve.h"
#include "tests/support/dressed.h"
#include "tests/support/oracle.h"
#include "tests/support/problems.h"

static const struct problem_mix mix = {6, 8, 2, 2, .launches = true};

#define LEAST 2 /* scratch of any region */

/* What the device is like; each adds to the one before. */
enum law {
	LAW_LARGEST, /* a region's scratch is its composites' largest */
	LAW_SPILL, /* ... but never more than its own residents leave */
	LAW_MORE, /* ... and neighbours need more together; residents in pages */
	NLAWS,
};
static enum law law; /* the double's; set before each case */
static uint64_t limit;
static const struct dressed *dressing;
static const uint64_t *live; /* [ncandidates] */

static void
region_memory(const struct target *t, const struct graph *g,
    const struct candidate *const *c, uint32_t n, struct memory *out)
{
	(void)t;
	(void)g;
	*out = (struct memory){.limit = limit, .scratch = LEAST};
	for (uint32_t i = 0; i < n; i++) {
		uint64_t own = live[c[i] - dressing->candidates.candidate];

		out->resident += c[i]->resident;
		if (own > out->scratch)
			out->scratch = own;
	}
	if (law == LAW_MORE) {
		out->resident = (out->resident + 2) / 3 * 3;
		out->scratch += n - 1;
	}
	if (law != LAW_LARGEST && out->resident + out->scratch > limit)
		out->scratch =
		    out->resident < limit ? limit - out->resident : 0;
	if (out->scratch < LEAST)
		out->scratch = LEAST;
}

static uint64_t
capacity(const struct target *t)
{
	(void)t;
	return limit - LEAST;
}

static const struct rule any_rule = {.name = "any"};

/* Target 0 is the device, or both are. */
static void
dress_device(struct dressed *d, struct target_kind *kind, struct rng *r)
{
	struct target *t =
	    arena_copy(d->a, d->mix.target, d->mix.n * sizeof *d->mix.target);
	struct candidate *list = arena_copy(d->a, d->candidates.candidate,
	    d->candidates.n * sizeof *d->candidates.candidate);
	uint64_t *need = arena_new(d->a, uint64_t, d->candidates.n);

	*kind = (struct target_kind){.name = "device",
	    .rule = &any_rule,
	    .nrules = 1,
	    .launches = t[0].kind->launches,
	    .capacity = capacity,
	    .region_memory = region_memory,
	    .spills = law != LAW_LARGEST};
	t[0].kind = kind;
	for (uint32_t c = 0; c < d->candidates.n; c++) {
		need[c] = rng_below(r, 8);
		if (t[list[c].target].kind == kind && rng_below(r, 3))
			list[c].resident = rng_below(r, 6);
	}
	d->mix.target = t;
	d->candidates.candidate = list;
	live = need;
	limit = 6 + rng_below(r, 10);
}

/* ---- the oracle ---- */

static bool
fits(const struct oracle *o)
{
	const struct candidate *all = dressing->candidates.candidate, *run[16];
	uint64_t resident = 0, scratch = 0;

	for (uint32_t i = 0, n; i < o->n; i += n) {
		struct memory m;

		for (n = 0; i + n < o->n && (n == 0 || !o->fresh[i + n]); n++)
			run[n] = &all[o->chosen[i + n]];
		if (!dressing->mix.target[run[0]->target].kind->region_memory)
			continue;
		region_memory(NULL, NULL, run, n, &m);
		resident += m.resident;
		scratch = m.scratch > scratch ? m.scratch : scratch;
	}
	return resident + scratch <= limit;
}

static cost_ns
cost_if_it_fits(const struct oracle *o, struct arena *a)
{
	struct cover c;

	cover_complete(&c, o->p, o->chosen, o->fresh, o->n, a);
	return fits(o) ? c.cost : COST_NEVER;
}

/* ---- cases ---- */

struct tally {
	uint32_t plans, optimal, proven, missed;
};

static bool
holds(struct problem *p, uint64_t seed, struct rng *r, struct tally *t,
    struct arena *a)
{
	struct dressed d = {.a = a, .p = p};
	struct oracle o = {.p = p, .cost = cost_if_it_fits};
	struct target_kind kind;
	struct plan_request request;
	struct err err = {.kind = ERR_NONE};
	struct plan plan;

	dressing = &d;
	dress(&d);
	dress_known(&d);
	dress_device(&d, &kind, r);
	oracle_try_all(&o, a);
	request = (struct plan_request){.graph = d.graph,
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

		law = (enum law)(seed % NLAWS);
		dressed_plain(p);
		for (uint32_t c = 0; c < p->ncandidates; c++)
			p->candidate[c].banned = false;
		bad += !holds(p, seed, &r, &tally[law], &a);
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
