/* What is said of a plan when regions are offered and withheld, on random problems:
 * every convex set of a target's nodes may be one region of it, at no less than the
 * work of its nodes, but only some are offered. "Proven" without more means that none
 * of those withheld makes anything cheaper; the search of all is the oracle.
 * Argument: number of cases (default 3000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/search.h"
#include "search/problem_index.h"
#include "tests/support/dressed.h"
#include "tests/support/problems.h"
#define STANDIN_WORK
#include "tests/support/standin_pricer.h"

#define NODES_MAX 7u
#define FUSES 0u /* the target whose regions cost what they like */

struct pricer {
	cost_ns work[NODES_MAX];
};

cost_ns
pricer_work(const struct pricer *p, uint32_t target, node_id node)
{
	return target == FUSES ? p->work[node] : 0;
}

/* ---- regions ---- */

static bool
is_in(uint32_t set, uint32_t node)
{
	return set >> node & 1;
}

/* Does no path leave the set and come back? */
static bool
is_convex(const struct problem *p, uint32_t set)
{
	uint32_t behind = 0; /* outside, and reads what comes from the set */

	for (uint32_t n = 0; n < p->nnodes; n++)
		for (uint32_t i = 0; i < p->node[n].ninputs; i++) {
			uint32_t from = p->value[p->node[n].input[i]].producer;

			if (from == NO_NODE)
				continue;
			if (is_in(set, n) && is_in(behind, from))
				return false;
			if (!is_in(set, n)
			    && (is_in(set, from) || is_in(behind, from)))
				behind |= UINT32_C(1) << n;
		}
	return true;
}

static bool
is_used_outside(const struct problem *p, uint32_t set, uint32_t value)
{
	bool used = p->value[value].required != 0;

	for (uint32_t u = p->user_start[value]; u < p->user_start[value + 1];
	     u++)
		used |= !is_in(set, p->user[u]);
	return used;
}

/* Its ports, all plain, by value id. */
static void
add_ports(const struct problem *p, uint32_t set, struct problem_candidate *c,
    struct arena *a)
{
	struct problem_port *in = arena_new(a, struct problem_port, p->nvalues);
	struct problem_port *out =
	    arena_new(a, struct problem_port, p->nvalues);

	for (uint32_t v = 0; v < p->nvalues; v++) {
		const uint32_t from = p->value[v].producer;
		const bool made = from != NO_NODE && is_in(set, from);
		bool read = false;

		for (uint32_t u = p->user_start[v]; u < p->user_start[v + 1];
		     u++)
			read |= is_in(set, p->user[u]);
		if (made && is_used_outside(p, set, v))
			out[c->noutputs++] = (struct problem_port){v, 0};
		if (!made && read)
			in[c->ninputs++] = (struct problem_port){v, 0};
	}
	c->input = in;
	c->output = out;
}

static void
add_region(struct problem *p, uint32_t set, cost_ns cost, struct arena *a)
{
	uint32_t *node = arena_new(a, uint32_t, NODES_MAX);
	struct problem_candidate *c = &p->candidate[p->ncandidates++];

	*c = (struct problem_candidate){.target = FUSES,
	    .cost = cost,
	    .class = p->ncandidates,
	    .node = node};
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (is_in(set, n))
			node[c->nnodes++] = n;
	add_ports(p, set, c, a);
}

static cost_ns
work_of(const struct pricer *w, uint32_t set)
{
	cost_ns sum = 0;

	for (uint32_t n = 0; n < NODES_MAX; n++)
		sum += is_in(set, n) ? w->work[n] : 0;
	return sum;
}

/* `some`: with those that are offered; `all`: with all there are of `taken`. */
static bool
make(struct problem *some, struct problem *all, const struct problem *base,
    const struct pricer *w, uint32_t taken, struct rng *r, struct arena *a,
    struct err *err)
{
	const uint32_t offered = rng_below(r, 101);

	problem_derive_more(some, base, 1u << NODES_MAX, base->ntargets, a);
	problem_derive_more(all, base, 1u << NODES_MAX, base->ntargets, a);
	for (uint32_t set = 1; set < 1u << base->nnodes; set++) {
		cost_ns cost;

		if ((set & taken) != set || !is_convex(base, set))
			continue;
		cost = work_of(w, set) + rng_below(r, 12);
		add_region(all, set, cost, a);
		if (rng_below(r, 100) < offered)
			add_region(some, set, cost, a);
	}
	return problem_index(some, a, err) && problem_index(all, a, err);
}

/* ---- cases ---- */

struct tally {
	uint32_t plans, whole, among,
	    cheaper; /* cheaper: with those withheld */
};

static bool
find_best(
    cost_ns *cost, const struct problem *p, struct arena *a, struct err *err)
{
	const struct search_options o = {.deadline_ns = 0};
	struct search_result found;

	if (!search_exact(&found, p, &o, a, err))
		return false;
	*cost = found.found ? found.cover.cost : COST_NEVER;
	return !found.found || found.proven
	    || err_set(err, ERR_NO_COVER, "the oracle proves nothing");
}

static bool
plan_offered(struct plan *plan, const struct problem *p, struct pricer *w,
    uint32_t taken, struct arena *a, struct err *err)
{
	struct dressed d = {.a = a, .p = p};
	struct bitset *unoffered = arena_new(a, struct bitset, p->ntargets);
	struct plan_request r;

	dress(&d);
	dress_known(&d);
	unoffered[FUSES] = bitset_new(a, p->nnodes);
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (is_in(taken, n))
			bitset_add(unoffered[FUSES], n);
	d.candidates.unoffered = unoffered;
	r = (struct plan_request){.trace = trace_wanted(),
	    .graph = d.graph,
	    .mix = &d.mix,
	    .candidates = &d.candidates,
	    .prices = &d.prices,
	    .pricer = w};
	return plan_search(plan, &r, a, err);
}

static bool
holds(const struct problem *base, struct rng *r, uint64_t seed, struct tally *t,
    struct arena *a)
{
	const uint32_t taken = rng_below(r, 1u << base->nnodes);
	const uint32_t most = rng_below(r, 40);
	struct err err = {.kind = ERR_NONE};
	struct problem some, all;
	cost_ns best_some, best_all;
	struct pricer w;
	struct plan plan;

	for (uint32_t n = 0; n < NODES_MAX; n++)
		w.work[n] = rng_below(r, most + 1);
	if (!make(&some, &all, base, &w, taken, r, a, &err)
	    || !find_best(&best_some, &some, a, &err)
	    || !find_best(&best_all, &all, a, &err)
	    || (!plan_offered(&plan, &some, &w, taken, a, &err)
	        && err.kind != ERR_NO_COVER)) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	if (err.kind == ERR_NO_COVER)
		return best_some == COST_NEVER;
	t->plans++;
	t->whole += plan.proven && !plan.among;
	t->among += plan.proven && plan.among;
	t->cheaper += best_all < best_some;
	if (plan.cost == best_some && plan.proven && plan.among <= (taken != 0)
	    && (plan.among || plan.cost == best_all))
		return true;
	printf("seed %" PRIu64 ": %" PRIu64 ", proven %d, among %d; of those "
	       "offered %" PRIu64 ", of all %" PRIu64 "\n",
	    seed, plan.cost, plan.proven, plan.among, best_some, best_all);
	return false;
}

int
main(int argc, char **argv)
{
	static const struct problem_mix mix = {
	    NODES_MAX - 1, 8, 2, 2, .launches = true};
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
		bad += p->nnodes > NODES_MAX || !holds(p, &r, seed, &t, &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	printf("%" PRIu32 " plans: %" PRIu32 " proven, %" PRIu32
	       " proven among regions; %" PRIu32
	       " times something withheld is cheaper\n",
	    t.plans, t.whole, t.among, t.cheaper);
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0
	    || (n >= 1000 && (t.whole == 0 || t.among == 0 || t.cheaper == 0));
}
