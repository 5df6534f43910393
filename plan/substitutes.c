/* A probe may be wrong about a kernel; where much hangs on it, it gets a price. */
#include "plan/substitutes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plan/pricing.h"
#include "plan/trace.h"

/* TUNING: a choice of so much of a plan's cost is worth a second price. Permille. */
#define COSTLY 20
/* SOURCE: of 448 prices 2 % were more than a tenth below the lesser of two
 * probes, a Gemm of 9216x4096 by up to two fifths. Permille. */
#define SUBSTITUTE_NEAR 150
/* TUNING: at most one for so many distinct candidates: they are measured on top of
 * what the search asked for, and compared as well. */
#define SUBSTITUTE_EVERY 80

#define PROBES 2 /* before a price, as for all candidates */

static bool
same_ports(const struct port *x, const struct port *y, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (x[i].value != y[i].value || x[i].format != y[i].format)
			return false;
	return true;
}

static node_id
first_node(const struct planner *pl, uint32_t candidate)
{
	const struct candidate *c = &pl->r->candidates->candidate[candidate];

	assert(c->nnodes > 0);
	return c->node[0];
}

void
substitutes_index(struct planner *pl)
{
	const uint32_t n = pl->r->candidates->n;
	const uint32_t nnodes = pl->r->graph->nnodes;
	uint32_t *from = arena_new(pl->arena, uint32_t, (size_t)nnodes + 1);

	pl->beginning = arena_new(pl->arena, uint32_t, n);
	pl->beginning_from = from;
	for (uint32_t i = 0; i < n; i++)
		from[first_node(pl, i)]++;
	/* sums are where each ends, and filled from behind where it begins */
	for (uint32_t v = 1; v <= nnodes; v++)
		from[v] += from[v - 1];
	for (uint32_t i = n; i-- > 0;)
		pl->beginning[--from[first_node(pl, i)]] = i;
}

const uint32_t *
substitutes_among(const struct planner *pl, uint32_t candidate, uint32_t *n)
{
	const uint32_t *from = &pl->beginning_from[first_node(pl, candidate)];

	*n = from[1] - from[0];
	return &pl->beginning[from[0]];
}

bool
is_substitute(const struct planner *pl, uint32_t a, uint32_t b)
{
	const struct candidate *x = &pl->r->candidates->candidate[a];
	const struct candidate *y = &pl->r->candidates->candidate[b];

	return x->nnodes == y->nnodes && x->ninputs == y->ninputs
	    && x->noutputs == y->noutputs
	    && memcmp(x->node, y->node, x->nnodes * sizeof *x->node) == 0
	    && same_ports(x->input, y->input, x->ninputs)
	    && same_ports(x->output, y->output, x->noutputs);
}

uint64_t
substitutes_tolerance(const struct cover *c, const struct price *chosen)
{
	return chosen->ns >= c->cost * COSTLY / 1000
	    ? chosen->ns * SUBSTITUTE_NEAR / 1000
	    : 0;
}

struct substitute {
	cost_ns chosen; /* what it could save some of */
	cost_ns bound;
	uint32_t candidate;
};

struct substitutes {
	struct substitute *list;
	uint32_t n, cap;
};

static void
add(struct planner *pl, struct substitutes *all, const struct substitute *r)
{
	const struct prices *p = pl->r->prices;

	for (uint32_t i = 0; i < all->n; i++)
		if (p->candidate[all->list[i].candidate]
		    == p->candidate[r->candidate])
			return;
	all->list = arena_grow(
	    pl->arena, all->list, &all->cap, all->n + 1, sizeof *all->list);
	all->list[all->n++] = *r;
}

/* What probes make of it, whether it has a price or not. */
static cost_ns
seen(const struct price *p)
{
	return p->guess > p->bound ? p->guess : p->bound;
}

/* Does it have a price by now? Then a run before this one, or a round, doubted it
 * too: it stays on the list, so that the same ones are on it every time. */
static bool
is_probed(const struct price *p, uint32_t probes)
{
	return p->source == PRICE_MEASURED && p->probes >= probes
	    && (p->state == PRICE_BOUND
	        || (p->state == PRICE_KNOWN && p->probes > 0));
}

/* Those of one step that, from `probes` looks, seem near. */
static void
list_substitutes(struct planner *pl, const struct cover *c, uint32_t chosen,
    uint32_t probes, struct substitutes *all)
{
	const struct prices *p = pl->r->prices;
	uint64_t tolerance =
	    substitutes_tolerance(c, prices_candidate(p, chosen));
	const uint32_t *among;
	uint32_t n;

	if (prices_candidate(p, chosen)->state != PRICE_KNOWN
	    || prices_candidate(p, chosen)->source != PRICE_MEASURED
	    || tolerance == 0)
		return;
	among = substitutes_among(pl, chosen, &n);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = among[k];

		if (i != chosen && is_probed(prices_candidate(p, i), probes)
		    && seen(prices_candidate(p, i))
		        <= prices_candidate(p, chosen)->ns + tolerance
		    && candidate_allowed(&pl->problem.candidate[i])
		    && is_substitute(pl, chosen, i))
			add(pl, all,
			    &(struct substitute){
			        prices_candidate(p, chosen)->ns,
			        seen(prices_candidate(p, i)), i});
	}
}

/* The costliest choices first, what seems nearest to one first. */
static int
by_worth(const void *x, const void *y)
{
	const struct substitute *a = x, *b = y;

	if (a->chosen != b->chosen)
		return a->chosen < b->chosen ? 1 : -1;
	if (a->bound != b->bound)
		return a->bound > b->bound ? 1 : -1;
	return (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

/* Candidates of them all, sorted; *n of them. */
static uint32_t *
substitutes_of(
    struct planner *pl, const struct cover *c, uint32_t probes, uint32_t *n)
{
	struct substitutes all = {.n = 0};
	uint32_t *candidate;

	for (uint32_t i = 0; i < c->nsteps; i++)
		list_substitutes(pl, c, c->step[i].candidate, probes, &all);
	if (all.n)
		qsort(all.list, all.n, sizeof *all.list, by_worth);
	candidate = arena_new(pl->arena, uint32_t, all.n);
	for (uint32_t i = 0; i < all.n; i++)
		candidate[i] = all.list[i].candidate;
	*n = all.n;
	return candidate;
}

/* Is it one of the first `most` that came up? Whether it has a price by now makes
 * no difference: another run must have the same list. */
static bool
doubt(struct planner *pl, uint32_t candidate, uint32_t most)
{
	assert(candidate < pl->r->candidates->n);
	if (!pl->doubted[candidate] && pl->ndoubted < most) {
		pl->doubted[candidate] = true;
		pl->ndoubted++;
	}
	return pl->doubted[candidate];
}

bool
substitutes_price(
    struct planner *pl, const struct cover *c, bool *moved, struct err *err)
{
	struct pricer *pricer = pl->r->pricer;
	struct prices *prices = pl->r->prices;
	uint32_t n, *list, kept = 0;
	uint32_t most =
	    (prices->nkeys + SUBSTITUTE_EVERY - 1) / SUBSTITUTE_EVERY;
	bool looked, again;

	*moved = false;
	if (!pricer_may_measure(pricer))
		return true;
	list = substitutes_of(pl, c, 0, &n);
	trace_ask(pl->r->trace, "probe", list, n);
	if (!pricer_probe(pricer, list, n, 0, &looked, err)
	    || !pricer_probe(pricer, list, n, 1, &again, err))
		return false;
	*moved = looked || again; /* a bound may be lower now */
	list = substitutes_of(pl, c, PROBES, &n);
	for (uint32_t i = 0; i < n; i++)
		if (doubt(pl, list[i], most)
		    && prices_candidate(prices, list[i])->state == PRICE_BOUND)
			list[kept++] = list[i];
	trace_ask(pl->r->trace, "price", list, kept);
	if (!pricer_price(pricer, list, kept, err))
		return false;
	for (uint32_t i = 0; i < kept; i++)
		*moved |=
		    prices_candidate(prices, list[i])->state != PRICE_BOUND;
	pricing_update(pl);
	return true;
}
