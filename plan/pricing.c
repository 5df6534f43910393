#include "plan/pricing.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/base/order.h"
#include "plan/problem.h"
#include "plan/trace.h"

static bool
is_listed(const struct planner *pl, struct pricer_conversion c)
{
	for (uint32_t k = 0; k < pl->nconvert; k++)
		if (pl->convert[k].class == c.class
		    && pl->convert[k].from == c.from
		    && pl->convert[k].to == c.to)
			return true;
	return false;
}

static void
list_conversion(struct planner *pl, struct pricer_conversion c)
{
	pl->convert = arena_grow(pl->arena, pl->convert, &pl->convert_cap,
	    pl->nconvert + 1, sizeof *pl->convert);
	pl->convert[pl->nconvert++] = c;
}

static void
list_conversions(struct planner *pl, const struct cover *cover)
{
	const struct prices *p = pl->r->prices;

	pl->nconvert = 0;
	for (uint32_t i = 0; i < cover->nconversions; i++) {
		const struct cover_conversion *c = &cover->conversion[i];
		const struct pricer_conversion key = {p->value_class[c->value],
		    (format_id)c->from, (format_id)c->to};

		if (conversion_at(p, key.class, key.from, key.to)->price.state
		        == PRICE_BOUND
		    && !is_listed(pl, key))
			list_conversion(pl, key);
	}
}

static void
list_all_conversions(struct planner *pl)
{
	const struct prices *p = pl->r->prices;

	pl->nconvert = 0;
	for (uint32_t k = 0; k < p->nclasses * p->nformats * p->nformats; k++)
		if (p->conversion[k].price.state == PRICE_BOUND)
			list_conversion(pl,
			    (struct pricer_conversion){
			        k / (p->nformats * p->nformats),
			        (format_id)(k / p->nformats % p->nformats),
			        (format_id)(k % p->nformats)});
}

uint32_t
pricing_list(struct planner *pl, const struct cover *cover)
{
	list_conversions(pl, cover);
	pl->nask = 0;
	for (uint32_t i = 0; i < cover->nsteps; i++) {
		uint32_t id = cover->step[i].candidate, k;
		const struct prices *p = pl->r->prices;

		for (k = 0; k < pl->nask; k++)
			if (p->candidate[pl->ask[k]] == p->candidate[id])
				break;
		if (prices_candidate(p, id)->state == PRICE_BOUND
		    && k == pl->nask)
			pl->ask[pl->nask++] = id;
	}
	assert(pl->nask <= pl->r->candidates->n);
	return pl->nask + pl->nconvert;
}

void
pricing_list_all(struct planner *pl)
{
	const struct prices *p = pl->r->prices;

	list_all_conversions(pl);
	pl->nask = 0;
	for (uint32_t c = 0; c < pl->r->candidates->n; c++)
		if (prices_candidate(p, c)->state == PRICE_BOUND)
			pl->ask[pl->nask++] = c;
}

void
pricing_update(struct planner *pl)
{
	pl->epoch++;
	pl->fell += problem_reprice(&pl->problem, pl->r->prices, pl->arena);
	assert(pl->fell <= pl->epoch);
}

/* TUNING: what begins with the same node and has a bound above this many times
 * that of a candidate asked for is left for when it is asked for itself. */
#define PROBE_NEXT 4

/* Look at what was listed and never looked at, and at what begins with the same
 * nodes: it would be asked for next. Else look at what is listed once more. */
static bool
probe_listed(struct planner *pl, bool *any, struct err *err)
{
	const struct candidates *all = pl->r->candidates;
	const struct prices *p = pl->r->prices;
	cost_ns *limit =
	    arena_new(pl->arena, cost_ns, pl->r->graph->nnodes); /* by node */
	uint32_t *list = arena_new(pl->arena, uint32_t, all->n), n = 0;

	for (uint32_t k = 0; k < pl->nask; k++) {
		const struct candidate *c = &all->candidate[pl->ask[k]];

		if (prices_candidate(p, pl->ask[k])->probes == 0)
			limit[c->node[0]] =
			    price_guess(prices_candidate(p, pl->ask[k]))
			    * PROBE_NEXT;
	}
	for (uint32_t c = 0; c < all->n; c++)
		if (prices_candidate(p, c)->state == PRICE_BOUND
		    && price_guess(prices_candidate(p, c))
		        <= limit[all->candidate[c].node[0]])
			list[n++] = c;
	trace_ask(pl->r->trace, "probe", list, n);
	if (!pricer_probe(pl->r->pricer, list, n, 0, any, err))
		return false;
	return *any
	    || pricer_probe(pl->r->pricer, pl->ask, pl->nask, 1, any, err);
}

/* Mark the nodes of a candidate and those next to it. *free: none of its own was
 * marked. */
static void
mark_neighbours(
    const struct planner *pl, uint32_t candidate, bool *marked, bool *free)
{
	const struct problem *p = &pl->problem;
	const struct problem_candidate *c = &p->candidate[candidate];

	*free = true;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		*free &= !marked[c->node[i]];
		marked[c->node[i]] = true;
	}
	for (uint32_t i = 0; i < c->ninputs; i++) {
		uint32_t from = p->value[c->input[i].value].producer;

		if (from != NO_NODE)
			marked[from] = true;
	}
	for (uint32_t i = 0; i < c->noutputs; i++) {
		uint32_t v = c->output[i].value;

		for (uint32_t u = p->user_start[v]; u < p->user_start[v + 1];
		     u++)
			marked[p->user[u]] = true;
	}
}

/* Of what is listed, the costliest and what is not next to anything costlier: once
 * that has a price, the cheapest cover may do without its neighbours. */
static uint32_t
pick(struct planner *pl, uint32_t *picked)
{
	struct ranked *list = arena_new(pl->arena, struct ranked, pl->nask);
	bool *marked = arena_new(pl->arena, bool, pl->problem.nnodes), free;
	uint32_t n = 0;

	for (uint32_t i = 0; i < pl->nask; i++)
		list[i] = (struct ranked){
		    price_guess(prices_candidate(pl->r->prices, pl->ask[i])),
		    pl->ask[i]};
	qsort(list, pl->nask, sizeof *list, by_rank_down);
	for (uint32_t i = 0; i < pl->nask; i++) {
		mark_neighbours(pl, list[i].id, marked, &free);
		if (free)
			picked[n++] = list[i].id;
	}
	return n;
}

static uint32_t
count_unpriced(const struct planner *pl)
{
	const struct prices *p = pl->r->prices;
	uint32_t n = 0;

	for (uint32_t k = 0; k < pl->nconvert; k++) {
		const struct pricer_conversion *c = &pl->convert[k];

		n += conversion_at(p, c->class, c->from, c->to)->price.state
		    == PRICE_BOUND;
	}
	return n;
}

static bool
price_conversions(struct planner *pl, bool *moved, struct err *err)
{
	uint32_t before = count_unpriced(pl);

	for (uint32_t k = 0; k < pl->nconvert; k++)
		trace_ask(pl->r->trace, "conversion",
		    (uint32_t[]){pl->convert[k].class, pl->convert[k].from,
		        pl->convert[k].to},
		    3);
	if (pl->nconvert
	    && !pricer_price_conversions(
	        pl->r->pricer, pl->convert, pl->nconvert, err))
		return false;
	*moved = count_unpriced(pl) < before;
	if (*moved)
		pricing_update(pl);
	return true;
}

static bool
price_candidates(struct planner *pl, const uint32_t *ask, uint32_t n,
    bool *moved, struct err *err)
{
	trace_ask(pl->r->trace, "price", ask, n);
	if (!pricer_price(pl->r->pricer, ask, n, err))
		return false;
	for (uint32_t k = 0; k < n; k++)
		*moved |= prices_candidate(pl->r->prices, ask[k])->state
		    != PRICE_BOUND;
	pricing_update(pl);
	return true;
}

bool
pricing_all(struct planner *pl, bool *moved, struct err *err)
{
	*moved = false;
	return !pl->r->pricer
	    || (price_conversions(pl, moved, err)
	        && price_candidates(pl, pl->ask, pl->nask, moved, err));
}

bool
pricing_some(struct planner *pl, bool *moved, struct err *err)
{
	uint32_t n, *picked;

	if (pl->r->eager_pricing)
		return pricing_all(pl, moved, err);
	*moved = false;
	if (!pl->r->pricer)
		return true;
	/* what is priced may be off the cheapest cover by then */
	if (!price_conversions(pl, moved, err) || *moved)
		return err->kind == ERR_NONE;
	if (!probe_listed(pl, moved, err))
		return false;
	if (*moved) {
		pricing_update(pl);
		return true;
	}
	picked = arena_new(pl->arena, uint32_t, pl->nask);
	n = pick(pl, picked);
	return price_candidates(pl, picked, n, moved, err);
}
