/* Regions that do not cost the sum of their parts, on random problems: what is
 * reported is the cost of what is chosen, no bound is above the optimum, a proof
 * is one, and the rounds end. A target of our own charges for regions; every cover
 * in every order is the oracle.
 * Argument: number of cases (default 2000). */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "plan/search.h"
#include "tests/support/dressed.h"
#include "tests/support/oracle.h"
#include "tests/support/problems.h"

static const struct problem_mix mix = {6, 8, 2, 2, .launches = true};

enum law {
	LAW_DEARER, /* every neighbour adds something */
	LAW_CHEAPER, /* every neighbour saves something */
	LAW_SPILL, /* nothing, up to two; then a lot */
	LAW_WILD, /* up or down, differently for each set */
	LAW_REFUSED, /* nothing, but some cannot be at all */
	NLAWS,
};
static enum law law; /* the double's; set before each case */

#define TOP 3

/* What the cheapest plan of each choice of candidates costs, however it is cut
 * into regions: cheapest[i] is the i-th of these, over all choices. */
struct choices {
	struct arena *arena;
	struct map number; /* by the set of candidates */
	cost_ns *cost;
	uint32_t cap;
};
static struct choices choices;
static const struct dressed *dressing;

/* What n candidates cost as one region, by index. */
static cost_ns
region_cost(const uint32_t *candidate, uint32_t n)
{
	uint64_t sum = 0, mixed = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += dressing->p->candidate[candidate[i]].cost;
		mixed = mixed * 31 + candidate[i] * 7 + 3;
	}
	if (n < 2)
		return sum;
	switch (law) {
	case LAW_DEARER:
		return sum + 4 * (n - 1);
	case LAW_CHEAPER:
		return sum - sum * (n - 1) / (2 * n);
	case LAW_SPILL:
		return n > 2 ? sum + 30 : sum;
	case LAW_REFUSED:
		return mixed % 3 == 0 ? COST_NEVER : sum;
	default:
		return sum / 2 + mixed * 2654435761u % 97 * sum / 97;
	}
}

/* Differences that could be rounding count as none. */
static cost_ns
charged(const uint32_t *candidate, uint32_t n)
{
	cost_ns sum = 0, whole = region_cost(candidate, n);

	for (uint32_t i = 0; i < n; i++)
		sum += dressing->p->candidate[candidate[i]].cost;
	return (whole > sum ? whole - sum : sum - whole) > (n + 1) / 2 ? whole
	                                                               : sum;
}

static bool
simulate(const struct region *r, struct estimate *out)
{
	uint32_t list[64];

	for (uint32_t i = 0; i < r->ncandidates; i++)
		list[i] = (uint32_t)(r->candidate[i]
		    - dressing->candidates.candidate);
	*out = (struct estimate){.ns = region_cost(list, r->ncandidates)};
	return true;
}

static const struct rule any_rule = {.name = "any"};

/* Every target of the mix prices its regions. */
static void
dress_regions(struct dressed *d, struct target_kind *kind)
{
	struct target *t =
	    arena_copy(d->a, d->mix.target, d->mix.n * sizeof *d->mix.target);

	for (uint32_t i = 0; i < d->mix.n; i++) {
		kind[i] = (struct target_kind){.name = "double",
		    .rule = &any_rule,
		    .nrules = 1,
		    .launches = t[i].kind->launches,
		    .discounts = law == LAW_CHEAPER || law == LAW_WILD,
		    .simulate = simulate};
		t[i].kind = &kind[i];
	}
	d->mix.target = t;
	for (uint32_t c = 0; c < d->candidates.n; c++)
		prices_candidate(&d->prices, c)->source = PRICE_SIMULATED;
}

/* ---- the oracle ---- */

/* A sequence of these candidates costs this much. */
static void
note_choice(const struct oracle *o, cost_ns cost)
{
	uint64_t set = 0;
	uint32_t at, n = choices.number.nkeys;

	assert(o->p->ncandidates <= 64);
	for (uint32_t i = 0; i < o->n; i++)
		set |= UINT64_C(1) << o->chosen[i];
	at = map_find(&choices.number, &set, sizeof set);
	if (at == MAP_NONE) {
		const uint64_t *key =
		    arena_copy(choices.arena, &set, sizeof set);

		at = map_add(&choices.number, key, sizeof *key, n);
		choices.cost = arena_grow(choices.arena, choices.cost,
		    &choices.cap, n + 1, sizeof *choices.cost);
		choices.cost[at] = cost;
	}
	if (cost < choices.cost[at])
		choices.cost[at] = cost;
}

static int
by_cost(const void *a, const void *b)
{
	cost_ns x = *(const cost_ns *)a, y = *(const cost_ns *)b;

	return (x > y) - (x < y);
}

/* All of a sequence; brute force's own cost with regions instead of sums. */
static cost_ns
sequence_cost(const struct oracle *o, struct arena *a)
{
	struct cover c;
	cost_ns cost;

	cover_complete(&c, o->p, o->chosen, o->fresh, o->n, a);
	cost = c.cost;
	for (uint32_t i = 0, n; i < o->n; i += n) {
		uint64_t sum = 0;

		for (n = 0; i + n < o->n && (n == 0 || !o->fresh[i + n]); n++)
			sum += o->p->candidate[o->chosen[i + n]].cost;
		if (charged(&o->chosen[i], n) == COST_NEVER)
			cost = COST_NEVER;
		if (cost != COST_NEVER)
			cost = cost - sum + charged(&o->chosen[i], n);
	}
	note_choice(o, cost);
	return cost;
}

/* ---- cases ---- */

struct tally {
	uint32_t plans, optimal, proven, moved, rounds, none;
	uint32_t top, top_proven; /* of the best TOP plans */
};

/* Is what is said of the best plans true? */
static bool
top_holds(const struct plan_request *r, uint64_t seed, struct tally *t,
    struct arena *a)
{
	struct plan top[TOP];
	struct err err = {.kind = ERR_NONE};
	uint32_t n;

	qsort(
	    choices.cost, choices.number.nkeys, sizeof *choices.cost, by_cost);
	if (!plan_top(top, TOP, &n, r, a, &err)) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		cost_ns best = choices.cost[i];

		t->top++;
		t->top_proven += top[i].proven;
		if (top[i].cost == COST_NEVER || top[i].cost < best
		    || top[i].lower_bound > best
		    || (top[i].proven && top[i].cost != best)) {
			printf("seed %" PRIu64 ", law %d: plan %" PRIu32
			       " of the best costs %" PRIu64 " (bound %" PRIu64
			       ", proven %d), the best there is %" PRIu64 "\n",
			    seed, (int)law, i, top[i].cost, top[i].lower_bound,
			    top[i].proven, best);
			return false;
		}
	}
	return true;
}

static bool
holds(struct problem *p, uint64_t seed, struct tally *t, struct arena *a)
{
	struct arena scratch;
	struct dressed d = {.a = a, .p = p};
	struct oracle o = {.p = p, .cost = sequence_cost};
	struct target_kind kind[8];
	struct plan_request r = {.graph = NULL};
	struct err err = {.kind = ERR_NONE};
	struct plan plan;
	bool found;

	dressing = &d;
	dress(&d);
	dress_known(&d);
	dress_regions(&d, kind);
	choices = (struct choices){.arena = a};
	map_init(&choices.number, a);
	arena_init(&scratch);
	oracle_try_all(&o, &scratch);
	arena_release(&scratch);
	r = (struct plan_request){.trace = trace_wanted(),
	    .graph = d.graph,
	    .mix = &d.mix,
	    .candidates = &d.candidates,
	    .prices = &d.prices};
	found = plan_search(&plan, &r, a, &err);
	/* Cutting what is refused is no search: it may miss what is left. */
	if (!found && err.kind == ERR_NO_COVER && law == LAW_REFUSED
	    && o.best != COST_NEVER) {
		t->none++;
		return true;
	}
	if (!found && (err.kind != ERR_NO_COVER || o.best != COST_NEVER)) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	if (!found)
		return true;
	if (plan.cost < o.best || plan.lower_bound > o.best
	    || (plan.proven && plan.cost != o.best) || plan.rounds > 16) {
		printf("seed %" PRIu64 ", law %d: %" PRIu64 " (bound %" PRIu64
		       ", proven %d, %u rounds), optimum %" PRIu64 "\n",
		    seed, (int)law, plan.cost, plan.lower_bound, plan.proven,
		    plan.rounds, o.best);
		return false;
	}
	if (!top_holds(&r, seed, t, a))
		return false;
	t->plans++;
	t->optimal += plan.cost == o.best;
	t->proven += plan.proven;
	t->moved += plan.nmoved > 0;
	if (plan.rounds > t->rounds)
		t->rounds = plan.rounds;
	return true;
}

int
main(int argc, char **argv)
{
	static const char *const name[NLAWS] = {
	    "costlier", "cheaper", "spill", "wild", "refused"};
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
		bad += !holds(p, seed, &tally[law], &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	for (int i = 0; i < NLAWS; i++)
		printf("%-8s %" PRIu32 " plans: %" PRIu32 " optimal, %" PRIu32
		       " proven, %" PRIu32 " with regions re-priced, %" PRIu32
		       " rounds at most, %" PRIu32 " missed; %" PRIu32
		       " in the top, %" PRIu32 " proven\n",
		    name[i], tally[i].plans, tally[i].optimal, tally[i].proven,
		    tally[i].moved, tally[i].rounds, tally[i].none,
		    tally[i].top, tally[i].top_proven);
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0;
}
