/* Lazy pricing against eager pricing: the same cost, whatever the bounds, with
 * or without probes, with few prices asked for; an honest answer when pricing stops
 * early, and when what has no price is left out. A pricer
 * of our own stands in for the real one: it knows the true prices.
 * Argument: number of cases (default 1500). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/search.h"
#include "tests/support/dressed.h"
#include "tests/support/nets.h"
#include "tests/support/problems.h"
#define STANDIN_PRICE
#define STANDIN_PROBE
#define STANDIN_READMIT
#include "tests/support/standin_pricer.h"

struct pricer {
	struct prices *prices;
	const struct problem *truth;
	uint32_t asked, limit;
	bool probes; /* they tell something */
	bool refuses; /* every third candidate has no price, and is left out */
};

static bool
is_left_out(const struct pricer *p, uint32_t candidate)
{
	return p->refuses && candidate % 3 == 0;
}

uint32_t
pricer_readmit(struct pricer *p, bool readmitted)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < p->truth->ncandidates; c++) {
		if (!is_left_out(p, c))
			continue;
		prices_candidate(p->prices, c)->state =
		    readmitted ? PRICE_BOUND : PRICE_FAILED;
		n++;
	}
	return n;
}

/* One key a candidate, so what is asked for is what is counted. */
bool
pricer_price(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < n && p->asked < p->limit; i++) {
		struct price *x = prices_candidate(p->prices, candidate[i]);
		cost_ns cost = p->truth->candidate[candidate[i]].cost;

		if (x->state != PRICE_BOUND)
			continue;
		p->asked++;
		x->state = cost == COST_NEVER || is_left_out(p, candidate[i])
		    ? PRICE_FAILED
		    : PRICE_KNOWN;
		x->ns = cost;
	}
	return true;
}

/* Each look finds a third of what a bound lacks. */
static bool
look(struct pricer *p, const uint32_t *candidate, uint32_t n, uint32_t nth)
{
	bool any = false;

	for (uint32_t i = 0; p->probes && i < n; i++) {
		struct price *x = prices_candidate(p->prices, candidate[i]);
		cost_ns cost = p->truth->candidate[candidate[i]].cost;

		if (x->state != PRICE_BOUND || x->probes != nth)
			continue;
		any = true;
		x->probes++;
		if (cost == COST_NEVER)
			x->state = PRICE_FAILED;
		else if (cost > x->bound)
			x->bound += (cost - x->bound) / 3;
		/* as often above the price as below */
		x->guess = cost * (50 + (candidate[i] * 37 + nth) % 100) / 100;
	}
	return any;
}

bool
pricer_may_measure(const struct pricer *p)
{
	(void)p;
	return true;
}

bool
pricer_probe(struct pricer *p, const uint32_t *candidate, uint32_t n,
    uint32_t nprobes, bool *any, struct err *err)
{
	(void)err;
	*any = look(p, candidate, n, nprobes);
	return true;
}

/* Search once; COST_NEVER: there is no plan. */
static bool
search(struct dressed *d, struct pricer *pricer, bool eager, struct plan *plan,
    struct err *err)
{
	struct plan_request r = {.trace = trace_wanted(),
	    .graph = d->graph,
	    .mix = &d->mix,
	    .candidates = &d->candidates,
	    .prices = &d->prices,
	    .pricer = pricer,
	    .eager_pricing = eager};

	plan->cost = COST_NEVER;
	if (plan_search(plan, &r, d->a, err))
		return true;
	plan->cost = COST_NEVER;
	if (err->kind != ERR_NO_COVER)
		return false;
	err_clear(err);
	return true;
}

/* *asked: how many prices lazy pricing fetched. */
static bool
same(struct problem *p, uint64_t seed, uint32_t low, uint32_t *asked,
    struct arena *a)
{
	struct rng r = rng_seeded(seed + 99);
	struct dressed d = {.a = a, .p = p};
	struct pricer lazy = {&d.prices, p, 0, UINT32_MAX, seed % 2, false},
	              eager = lazy;
	struct pricer poor = {&d.prices, p, 0,
	    rng_below(&r, p->ncandidates + 1), seed % 2, false};
	struct pricer board = {&d.prices, p, 0, UINT32_MAX, false, true};
	struct plan x, y, z, w;
	struct err err = {0};
	bool ok;

	dress(&d);
	dress_prices(&d, &r, low);
	ok = search(&d, &lazy, false, &x, &err);
	dress_prices(&d, &r, low);
	ok = ok && search(&d, &eager, true, &y, &err);
	dress_prices(&d, &r, low);
	ok = ok && search(&d, &poor, false, &z, &err);
	dress_prices(&d, &r, low);
	ok = ok && search(&d, &board, true, &w, &err);
	*asked = lazy.asked;
	if (ok && y.cost != COST_NEVER) {
		struct plan_request r2 = {.trace = trace_wanted(),
		    .graph = d.graph,
		    .mix = &d.mix,
		    .candidates = &d.candidates,
		    .prices = &d.prices};
		struct plan top[3];
		uint32_t n;

		dress_prices(&d, &r, low);
		eager.asked = 0;
		ok = search(&d, &eager, true, &y, &err)
		    && plan_top(top, 3, &n, &r2, a, &err);
		if (ok && (n == 0 || top[0].cost != y.cost)) {
			printf("seed %" PRIu64 ": the first of the top is not "
			       "the best\n",
			    seed);
			return false;
		}
	}
	if (!ok)
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
	else if (x.cost != y.cost)
		printf("seed %" PRIu64 ": lazy %" PRIu64 ", eager %" PRIu64
		       "\n",
		    seed, x.cost, y.cost);
	else if (x.cost != COST_NEVER && (!x.proven || !y.proven))
		printf("seed %" PRIu64 ": not proven\n", seed);
	else if (z.cost != COST_NEVER && z.lower_bound > x.cost)
		printf("seed %" PRIu64 ": stopped early, bound %" PRIu64
		       " above the optimum %" PRIu64 "\n",
		    seed, z.lower_bound, x.cost);
	else if (z.cost != COST_NEVER && z.proven && z.cost != x.cost)
		printf(
		    "seed %" PRIu64 ": stopped early, wrongly proven\n", seed);
	else if (w.cost != COST_NEVER
	    && (w.lower_bound > x.cost || w.cost < x.cost
	        || (w.proven && w.cost != x.cost)))
		printf("seed %" PRIu64 ": without what has no price %" PRIu64
		       " .. %" PRIu64 ", the optimum is %" PRIu64 "\n",
		    seed, w.lower_bound, w.cost, x.cost);
	else
		return true;
	return false;
}

int
main(int argc, char **argv)
{
	static const struct problem_mix mix = {8, 16, 3, 3, .launches = true};
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1500, bad = 0;
	struct arena a;
	uint32_t asked;

	arena_init(&a);
	for (uint64_t seed = 0; seed < n; seed++) {
		struct arena_mark mark = arena_mark(&a);
		struct rng r = rng_seeded(seed);
		struct problem *p = problem_random(&r, &mix, &a);

		dressed_plain(p);
		for (uint32_t c = 0; c < p->ncandidates; c++)
			p->candidate[c].banned = false;
		bad += !same(p, seed, (uint32_t)(seed % 5) * 25, &asked, &a);
		arena_back(&a, mark);
	}
	for (uint32_t low = 50; low <= 90; low += 20) {
		struct arena_mark mark = arena_mark(&a);
		struct problem *p = net_make("resnet", 1, &a);

		bad += !same(p, low, low, &asked, &a);
		printf("resnet, bounds at %" PRIu32
		       "-100 %% of the truth: %" PRIu32 " of %" PRIu32
		       " candidates priced\n",
		    low, asked, p->ncandidates);
		arena_back(&a, mark);
	}
	arena_release(&a);
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0;
}
