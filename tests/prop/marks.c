/* Constraints on random problems, by every searcher: no plan that is returned
 * breaks one, the exact search finds what brute force finds, and a conflict that
 * is named is one, with nothing in it to spare.
 * Argument: number of cases (default 3000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/explain.h"
#include "plan/partition.h"
#include "plan/search.h"
#include "tests/support/dressed.h"
#include "tests/support/problems.h"

static const struct problem_mix mix = {
    7, 14, 2, 3, .launches = true, .resources = true};

/* ---- random constraints ---- */

static struct constraint
some_nodes(const struct dressed *d, struct rng *r, uint32_t most)
{
	node_id *node = arena_new(d->a, node_id, d->graph->nnodes);
	struct constraint c = {.node = node, .text = "some"};
	node_id first = rng_below(r, d->graph->nnodes);
	uint32_t wanted = 1 + rng_below(r, most);

	for (node_id n = first; n < d->graph->nnodes && c.nnodes < wanted; n++)
		if (n == first || rng_below(r, 4) > 0)
			node[c.nnodes++] = n;
	c.targets = UINT64_C(1) << rng_below(r, d->mix.n);
	return c;
}

static void
add_random(struct constraints *s, const struct dressed *d, struct rng *r)
{
	struct constraint c = some_nodes(d, r, 4);
	struct err err = {.kind = ERR_NONE};

	switch (rng_below(r, 7)) {
	case 0:
		c.kind = CONSTRAIN_PIN;
		c.targets |= UINT64_C(1) << rng_below(r, d->mix.n);
		break;
	case 1:
		c.kind = CONSTRAIN_FORBID;
		break;
	case 2:
		c.kind = CONSTRAIN_STOP;
		c.targets = 0;
		break;
	case 3:
		c.kind = CONSTRAIN_REGIONS;
		c.amount = 1 + rng_below(r, 3);
		break;
	case 4:
		c.kind = CONSTRAIN_REGION_NODES;
		c.amount = 1 + rng_below(r, 5);
		break;
	default:
		/* refused when it overlaps or is not convex: then there is none
		 */
		partition_add(s, c, d->graph, d->a, &err);
		return;
	}
	constraints_add(s, c, d->a);
}

/* ---- is a constraint kept? Obvious on purpose ---- */

static bool
has_node(const struct constraint *c, node_id n)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (c->node[i] == n)
			return true;
	return false;
}

static uint32_t
region_at(const struct plan *p, node_id n)
{
	return p->composite[p->composite_of[n]].region;
}

static bool
keeps_place(const struct plan *p, const struct constraint *c, bool on)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		uint32_t t = p->region[region_at(p, c->node[i])].target;

		if ((c->targets >> t & 1) != on)
			return false;
	}
	return true;
}

/* Nothing crosses from the marked nodes to their users. */
static bool
keeps_stop(const struct plan *p, const struct constraint *c)
{
	const struct graph *g = p->graph;

	for (node_id user = 0; user < g->nnodes; user++)
		for (uint32_t i = 0; i < g->node[user].ninputs; i++) {
			node_id maker =
			    g->value[g->node[user].input[i]].producer;

			if (maker != NODE_NONE && has_node(c, maker)
			    && region_at(p, maker) == region_at(p, user))
				return false;
		}
	return true;
}

static bool
keeps_limit(const struct plan *p, const struct constraint *c)
{
	for (uint32_t t = 0; t < p->mix->n; t++) {
		uint64_t regions = 0;

		if (!(c->targets >> t & 1))
			continue;
		for (uint32_t i = 0; i < p->nregions; i++) {
			uint64_t nodes = 0;

			if (p->region[i].target != t)
				continue;
			regions++;
			for (node_id n = 0; n < p->graph->nnodes; n++)
				nodes += region_at(p, n) == i;
			if (c->kind == CONSTRAIN_REGION_NODES
			    && nodes > c->amount)
				return false;
		}
		if (c->kind == CONSTRAIN_REGIONS && regions > c->amount)
			return false;
	}
	return true;
}

/* One region that holds these nodes and no other. */
static bool
keeps_partition(const struct plan *p, const struct constraint *c)
{
	uint32_t region = region_at(p, c->node[0]);

	for (node_id n = 0; n < p->graph->nnodes; n++)
		if ((region_at(p, n) == region) != has_node(c, n))
			return false;
	return keeps_place(p, c, true);
}

static bool
keeps(const struct plan *p, const struct constraint *c)
{
	switch (c->kind) {
	case CONSTRAIN_PIN:
		return keeps_place(p, c, true);
	case CONSTRAIN_FORBID:
		return keeps_place(p, c, false);
	case CONSTRAIN_STOP:
		return keeps_stop(p, c);
	case CONSTRAIN_PARTITION:
		return keeps_partition(p, c);
	default:
		return keeps_limit(p, c);
	}
}

/* ---- cases ---- */

/* COST_NEVER: no plan. False: a constraint is broken, or the search failed. */
static bool
try(cost_ns *cost, const struct plan_request *r, uint64_t seed, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct plan plan;

	*cost = COST_NEVER;
	if (!plan_search(&plan, r, a, &err)) {
		if (err.kind == ERR_NO_COVER)
			return true;
		printf(
		    "seed %" PRIu64 ", %s: %s\n", seed, r->searcher, err.text);
		return false;
	}
	*cost = plan.cost;
	for (uint32_t i = 0; i < r->constraints->n; i++)
		if (!keeps(&plan, &r->constraints->item[i])) {
			printf("seed %" PRIu64 ", %s: breaks constraint %u of "
			       "kind %d\n",
			    seed, r->searcher, i,
			    (int)r->constraints->item[i].kind);
			return false;
		}
	return true;
}

/* What is left of the constraints when only those in[] count, less one. */
static bool
solves_with(const struct plan_request *r, const bool *in, uint32_t without,
    struct arena *a)
{
	struct constraints some = {.n = 0};
	struct plan_request part = *r;
	struct err err = {.kind = ERR_NONE};
	struct plan plan;

	for (uint32_t i = 0; i < r->constraints->n; i++)
		if (in[i] && i != without)
			constraints_add(&some, r->constraints->item[i], a);
	part.constraints = &some;
	part.searcher = "brute";
	return plan_search(&plan, &part, a, &err);
}

static bool
names_conflict(const struct plan_request *r, uint64_t seed, struct arena *a)
{
	uint32_t n = r->constraints->n;
	bool *in = arena_new(a, bool, n), *all = arena_new(a, bool, n);
	uint32_t size = constraints_conflict(in, r, a);

	memset(all, size > 0, n);
	if (size == 0 && solves_with(r, all, UINT32_MAX, a)) {
		printf("seed %" PRIu64 ": no conflict is found\n", seed);
		return false;
	}
	if (size > 0 && solves_with(r, in, UINT32_MAX, a)) {
		printf(
		    "seed %" PRIu64 ": what is named is no conflict\n", seed);
		return false;
	}
	for (uint32_t i = 0; i < n; i++)
		if (in[i] && !solves_with(r, in, i, a)) {
			printf(
			    "seed %" PRIu64 ": %u could be missing\n", seed, i);
			return false;
		}
	return true;
}

static bool
holds(struct problem *p, uint64_t seed, uint32_t *conflicts, struct arena *a)
{
	static const char *const searcher[] = {
	    "exact", "beam", "eager", "greedy"};
	struct rng r = rng_seeded(seed + 7);
	struct dressed d = {.a = a, .p = p};
	struct constraints s = {.n = 0};
	struct plan_request q = {.graph = NULL};
	cost_ns best, cost;

	dress(&d);
	dress_known(&d);
	for (uint32_t i = 1 + rng_below(&r, 4); i > 0; i--)
		add_random(&s, &d, &r);
	q = (struct plan_request){.trace = trace_wanted(),
	    .graph = d.graph,
	    .mix = &d.mix,
	    .candidates = &d.candidates,
	    .prices = &d.prices,
	    .constraints = &s,
	    .searcher = "brute"};
	if (!try(&best, &q, seed, a))
		return false;
	for (size_t i = 0; i < sizeof searcher / sizeof searcher[0]; i++) {
		q.searcher = searcher[i];
		if (!try(&cost, &q, seed, a))
			return false;
		if (cost < best || (i == 0 && cost != best)) {
			printf("seed %" PRIu64 ": %s %" PRIu64
			       ", brute %" PRIu64 "\n",
			    seed, q.searcher, cost, best);
			return false;
		}
	}
	*conflicts += best == COST_NEVER;
	return best != COST_NEVER || names_conflict(&q, seed, a);
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000, bad = 0;
	uint32_t conflicts = 0;
	struct arena a;

	arena_init(&a);
	for (uint64_t seed = 0; seed < n && bad < 10; seed++) {
		struct arena_mark mark = arena_mark(&a);
		struct rng r = rng_seeded(seed);
		struct problem *p = problem_random(&r, &mix, &a);

		dressed_plain(p);
		for (uint32_t c = 0; c < p->ncandidates; c++)
			p->candidate[c].banned = false;
		bad += !holds(p, seed, &conflicts, &a);
		arena_back(&a, mark);
	}
	arena_release(&a);
	printf("%" PRIu64 " cases, %" PRIu32 " without a plan, %" PRIu64
	       " failed\n",
	    n, conflicts, bad);
	return bad > 0;
}
