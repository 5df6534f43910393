/* Prices that rise and fall while a plan is searched, of candidates and of
 * conversions, on random problems with and without a device that has memory: the
 * bound is none that prices have fallen below since, a proof is one of a plan all
 * of which has a price, and baselines are those of the question's own problem.
 * Every cover in every order, at the prices there are in the end, is the oracle.
 * Argument: number of cases (default 3000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/problem.h"
#include "plan/search.h"
#include "search/problem_index.h"
#include "tests/support/device.h"
#include "tests/support/problems.h"
#define STANDIN_PRICE
#define STANDIN_CONVERSIONS
#include "tests/support/standin_pricer.h"

static const struct problem_mix mix = {6, 8, 2, 2, .launches = true};

struct pricer {
	struct prices *prices;
	struct rng r;
	uint32_t limit; /* prices it still tells */
	uint32_t moves; /* others it still moves */
};

/* What has no price gets another bound; what has one, sometimes another price. */
static void
move(struct pricer *p, struct price *x)
{
	cost_ns to = 1 + rng_below(&p->r, 60);

	if (p->moves == 0 || x->state == PRICE_FAILED || rng_below(&p->r, 4))
		return;
	p->moves--;
	if (x->state == PRICE_KNOWN)
		x->ns = to;
	else
		x->bound = to;
	if (x->ns < x->bound)
		x->ns = x->bound;
}

static void
move_all(struct pricer *p)
{
	struct prices *prices = p->prices;
	uint32_t n = prices->nformats;

	for (uint32_t c = 0; c < prices->nkeys; c++)
		move(p, prices_candidate(prices, c));
	for (uint32_t k = 0; k < prices->nclasses * n * n; k++)
		if (k / n % n != k % n)
			move(p, &prices->conversion[k].price);
}

static void
tell(struct pricer *p, struct price *x)
{
	if (x->state != PRICE_BOUND || p->limit == 0)
		return;
	p->limit--;
	x->state = rng_below(&p->r, 12) ? PRICE_KNOWN : PRICE_FAILED;
	x->ns = 1 + rng_below(&p->r, 60);
}

bool
pricer_price(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < n; i++)
		tell(p, prices_candidate(p->prices, candidate[i]));
	move_all(p);
	return true;
}

bool
pricer_price_conversions(struct pricer *p, const struct pricer_conversion *c,
    uint32_t n, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < n; i++)
		tell(p,
		    &conversion_at(p->prices, c[i].class, c[i].from, c[i].to)
		         ->price);
	move_all(p);
	return true;
}

/* ---- cases ---- */

struct tally {
	uint32_t plans, proven, optimal, bounded;
};

static void
forget_conversions(struct prices *p, struct rng *r)
{
	uint32_t n = p->nformats;

	for (uint32_t k = 0; k < p->nclasses * n * n; k++) {
		struct price *x = &p->conversion[k].price;

		if (k / n % n == k % n || x->state != PRICE_KNOWN)
			continue;
		x->state = PRICE_BOUND;
		x->bound = rng_below(r, (uint32_t)x->ns + 1);
	}
}

/* The problem at the prices there are in the end. */
static bool
final_problem(struct problem *out, const struct plan_request *r,
    const struct problem *truth, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};

	if (!problem_build(out, r, NULL, a, &err))
		return false;
	for (uint32_t c = 0; c < out->ncandidates; c++)
		out->candidate[c].banned = truth->candidate[c].banned;
	return problem_index(out, a, &err);
}

/* A single target's baseline is the cheapest cover of its problem. */
static bool
baselines_hold(const struct plan *plan, const struct problem *p,
    const struct plan_request *request, struct arena *a)
{
	const struct search_options o = {.memory_budget = UINT64_C(64) << 20};
	struct err err = {.kind = ERR_NONE};

	for (uint32_t t = 0; t < request->mix->n; t++) {
		const uint32_t allowed[2] = {t, t};
		struct search_result r;

		if (!search_single(&r, p, allowed, &o, a, &err))
			return false;
		if (r.found && plan->baseline[t].cost != r.cover.cost)
			return false;
		if (!r.found && plan->baseline[t].cost != COST_NEVER)
			return false;
	}
	return true;
}

static bool
holds(const struct problem *truth, uint64_t seed, struct tally *t,
    struct arena *a)
{
	struct rng r = rng_seeded(seed + 17);
	struct dressed d = {.a = a, .p = truth};
	struct pricer pricer = {&d.prices, rng_seeded(seed + 5),
	    rng_below(&r, 3) ? UINT32_MAX : rng_below(&r, 20),
	    rng_below(&r, 200)};
	struct plan_request request;
	struct problem final;
	struct oracle o = {.p = &final, .cost = device_cost};
	struct target_kind kind;
	struct err err = {.kind = ERR_NONE};
	struct plan plan;

	dress(&d);
	dress_prices(&d, &r, 30);
	forget_conversions(&d.prices, &r);
	dress_device(&d, &kind, LAW_LARGEST, &r);
	request = (struct plan_request){.trace = trace_wanted(),
	    .graph = d.graph,
	    .mix = &d.mix,
	    .candidates = &d.candidates,
	    .prices = &d.prices,
	    .pricer = &pricer,
	    .searcher = seed % 4 ? NULL : "beam"}; /* it tightens */
	if (!plan_search(&plan, &request, a, &err)) {
		if (err.kind != ERR_NO_COVER)
			printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return err.kind == ERR_NO_COVER;
	}
	if (!final_problem(&final, &request, truth, a))
		return false;
	oracle_try_all(&o, a);
	t->plans++;
	t->proven += plan.proven;
	t->optimal += plan.cost == o.best;
	t->bounded += plan.lower_bound > 0;
	if (plan.cost >= o.best && plan.lower_bound <= o.best
	    && plan.lower_bound <= plan.cost
	    && (!plan.proven
	        || (plan.cost == o.best && plan_unpriced(&plan) == 0))
	    && baselines_hold(&plan, &final, &request, a))
		return true;
	printf("seed %" PRIu64 ": %" PRIu64 " (bound %" PRIu64
	       ", proven %d, %u unpriced), optimum %" PRIu64 "\n",
	    seed, plan.cost, plan.lower_bound, plan.proven,
	    plan_unpriced(&plan), o.best);
	return false;
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000, bad = 0;
	struct tally t = {0};
	struct arena a;

	arena_init(&a);
	for (uint64_t seed = 0; seed < n && bad < 10; seed++) {
		struct arena_mark mark = arena_mark(&a);
		struct rng r = rng_seeded(seed);
		struct problem *p = problem_random(&r, &mix, &a);

		dressed_plain(p);
		for (uint32_t c = 0; c < p->ncandidates; c++)
			p->candidate[c].banned = false;
		bad += !holds(p, seed, &t, &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	printf("%u plans: %u proven, %u optimal, %u with a bound\n", t.plans,
	    t.proven, t.optimal, t.bounded);
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0;
}
