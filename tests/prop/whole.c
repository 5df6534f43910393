/* One runtime that is offered the whole of a chain and stretches of it: each part costs
 * as much work as its nodes and a border besides, prices carry 5 % of noise, and the
 * least of many is too low. When a plan of stretches was run in turn with the whole, what
 * is left is in 95 % of cases no slower than the whole, beyond the spread of a plan run
 * against itself. Argument: number of cases (default 1000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/confirmed.h"
#include "plan/search.h"
#include "plan/whole.h"
#include "search/problem_index.h"
#include "tests/support/chain.h"

#define PIECES 8u
#define NCANDIDATES (PIECES * (PIECES + 1) / 2 + PIECES)
#define BORDER 0.03 /* of the whole */
#define SLOW 40 /* the fallback's, times as much */

enum { RUNTIME, FALLBACK };

/* What is true; `gain`: what two halves are cheaper than the whole. */
static struct problem *
chain(double gain, struct rng *r, struct arena *a)
{
	static const char *const name[] = {"runtime", "host"};
	struct problem *p = chain_empty(PIECES, name, 2, NCANDIDATES, a);
	struct err err = {.kind = ERR_NONE};
	cost_ns work[PIECES], all = 0;

	for (uint32_t i = 0; i < PIECES; i++)
		all += work[i] = 500000 + rng_below(r, 1000000);
	for (uint32_t from = 0; from < PIECES; from++)
		for (uint32_t to = from + 1; to <= PIECES; to++) {
			const bool half = (from == 0 && to == PIECES / 2)
			    || (from == PIECES / 2 && to == PIECES);
			cost_ns cost = (cost_ns)(BORDER * (double)all);

			for (uint32_t i = from; i < to; i++)
				cost += work[i];
			if (half)
				cost = (cost_ns)((double)cost * (1 - gain));
			chain_add(p, RUNTIME, from, to, cost, a);
		}
	for (uint32_t i = 0; i < PIECES; i++)
		chain_add(p, FALLBACK, i, i + 1, SLOW * work[i], a);
	if (!problem_index(p, a, &err))
		abort();
	return p;
}

/* ---- running ---- */

struct stand_in {
	cost_ns truth[2];
	struct rng r;
};

static bool
run(void *context, uint32_t which, cost_ns *took, bool *disturbed,
    struct err *err)
{
	struct stand_in *s = context;

	(void)err;
	*took = noisy(s->truth[which], RUN_NOISE, &s->r);
	*disturbed = false;
	return true;
}

/* ---- cases ---- */

struct tally {
	uint32_t n, picked, good, unconfirmed_good, pays, kept;
};

static void
dress_runtime(struct dressed *d, struct rng *r)
{
	static const struct rule rule = {.name = "any"};
	static const struct target_kind runtime = {
	    .name = "runtime", .rule = &rule, .nrules = 1, .nset_rules = 1};
	static const struct target_kind host = {
	    .name = "host", .rule = &rule, .nrules = 1};
	struct target *t;

	dress(d);
	t = arena_copy(d->a, d->mix.target, 2 * sizeof *t);
	t[RUNTIME].kind = &runtime;
	t[FALLBACK].kind = &host;
	d->mix.target = t;
	dress_noisy(d, r);
}

static void
judge(struct tally *t, struct plan *plan, const struct problem *truth,
    struct stand_in *s)
{
	const struct in_turn_options o = {.budget = 1000000000};
	const struct plan *single = plan_best_single(plan)->plan;
	struct plan_confirmation c;
	struct err err = {.kind = ERR_NONE};
	struct in_turn turns;
	double most;

	s->truth[0] = chain_cost(plan, truth);
	s->truth[1] = chain_cost(single, truth);
	if (single->ncomposites != 1
	    || !in_turn_run(&turns, &o, &(struct in_turn_runner){run, s}, &err))
		abort();
	most = (double)s->truth[1]
	    * (1 + (double)(turns.self_high - turns.self_low) / 2e6);
	t->picked++;
	t->unconfirmed_good += (double)s->truth[0] <= most;
	confirmed_decide(plan, &c, single, &turns);
	t->good += (double)chain_cost(plan, truth) <= most;
	if ((double)s->truth[0] > 0.93 * (double)s->truth[1])
		return;
	t->pays++;
	t->kept += c.kind == CONFIRM_CONFIRMED;
}

static void
try_one(struct tally *t, struct rng *r, struct arena *a)
{
	const double gain = rng_below(r, 2) ? 0 : rng_below(r, 200) / 1e3;
	const struct problem *truth = chain(gain, r, a);
	struct dressed d = {.a = a, .p = truth};
	struct plan_request q = {.trace = trace_wanted(),
	    .graph = NULL,
	    .mix = &d.mix,
	    .candidates = &d.candidates,
	    .prices = &d.prices};
	struct err err = {.kind = ERR_NONE};
	struct stand_in s;
	struct plan plan;

	dress_runtime(&d, r);
	q.graph = d.graph;
	s.r = rng_seeded(rng_next(r));
	if (!plan_search(&plan, &q, a, &err))
		abort();
	t->n++;
	if (plan_is_picked(&plan))
		judge(t, &plan, truth, &s);
}

int
main(int argc, char **argv)
{
	const uint64_t n =
	    argc > 1 ? strtoull(argv[1], NULL, 10) : cases_of(1000);
	struct tally t = {0};
	struct arena a;
	bool ok;

	arena_init(&a);
	for (uint64_t seed = 0; seed < n; seed++) {
		const struct arena_mark mark = arena_mark(&a);
		struct rng r = rng_seeded(seed);

		try_one(&t, &r, &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	printf("%u plans, %u of stretches: %u no slower than the whole when "
	       "confirmed, %u when not; %u pay, of which %u are kept\n",
	    t.n, t.picked, t.good, t.unconfirmed_good, t.pays, t.kept);
	ok = t.good * 100 >= t.picked * 95 && t.kept * 10 >= t.pays * 9;
	/* else they show nothing */
	ok = ok && t.unconfirmed_good * 100 < t.picked * 80
	    && (n < 100 || t.pays > 0);
	return !ok;
}
