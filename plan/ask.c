/* What to ask for next: of a cheapest cover, the prices that may change it. */
#include <stdlib.h>

#include "plan/quest.h"
#include "plan/trace.h"

static bool
is_listed(const struct quest *q, struct pricer_conversion c)
{
	for (uint32_t k = 0; k < q->nconvert; k++)
		if (q->convert[k].class == c.class
		    && q->convert[k].from == c.from && q->convert[k].to == c.to)
			return true;
	return false;
}

static void
list_conversion(struct quest *q, struct pricer_conversion c)
{
	q->convert = arena_grow(q->arena, q->convert, &q->convert_cap,
	    q->nconvert + 1, sizeof *q->convert);
	q->convert[q->nconvert++] = c;
}

static void
list_conversions(struct quest *q, const struct cover *cover)
{
	const struct prices *p = q->r->prices;

	q->nconvert = 0;
	for (uint32_t i = 0; i < cover->nconversions; i++) {
		const struct cover_conversion *c = &cover->conversion[i];
		const struct pricer_conversion key = {p->value_class[c->value],
		    (format_id)c->from, (format_id)c->to};

		if (conversion_at(p, key.class, key.from, key.to)->price.state
		        == PRICE_BOUND
		    && !is_listed(q, key))
			list_conversion(q, key);
	}
}

void
quest_list_conversions(struct quest *q)
{
	const struct prices *p = q->r->prices;

	q->nconvert = 0;
	for (uint32_t k = 0; k < p->nclasses * p->nformats * p->nformats; k++)
		if (p->conversion[k].price.state == PRICE_BOUND)
			list_conversion(q,
			    (struct pricer_conversion){
			        k / (p->nformats * p->nformats),
			        (format_id)(k / p->nformats % p->nformats),
			        (format_id)(k % p->nformats)});
}

void
quest_list_unpriced(struct quest *q, const struct cover *cover)
{
	list_conversions(q, cover);
	q->nask = 0;
	for (uint32_t i = 0; i < cover->nsteps; i++) {
		uint32_t id = cover->step[i].candidate, k;
		const struct price *p = q->r->prices->candidate;

		for (k = 0; k < q->nask; k++)
			if (p[q->ask[k]].key == p[id].key)
				break;
		if (p[id].state == PRICE_BOUND && k == q->nask)
			q->ask[q->nask++] = id;
	}
}

/* TUNING: rivals whose bound is above this many times that of a candidate asked
 * for are left for when they are asked for themselves. */
#define RIVAL_BOUND 4

/* Look at what was listed and never looked at, and at what begins with the same
 * nodes: it would be asked for next. Else look at what is listed once more. */
static bool
probe_listed(struct quest *q, bool *any, struct err *err)
{
	const struct candidates *all = q->r->candidates;
	const struct price *p = q->r->prices->candidate;
	cost_ns *limit =
	    arena_new(q->arena, cost_ns, q->r->graph->nnodes); /* by node */
	uint32_t *list = arena_new(q->arena, uint32_t, all->n), n = 0;

	for (uint32_t k = 0; k < q->nask; k++) {
		const struct candidate *c = &all->candidate[q->ask[k]];

		if (p[q->ask[k]].probes == 0)
			limit[c->node[0]] =
			    price_guess(&p[q->ask[k]]) * RIVAL_BOUND;
	}
	for (uint32_t c = 0; c < all->n; c++)
		if (p[c].state == PRICE_BOUND
		    && price_guess(&p[c]) <= limit[all->candidate[c].node[0]])
			list[n++] = c;
	trace_ask(q->r->trace, "probe", list, n);
	if (!pricer_probe(q->r->pricer, q->r->prices, list, n, any, err))
		return false;
	return *any
	    || pricer_probe_again(
	        q->r->pricer, q->r->prices, q->ask, q->nask, any, err);
}

struct asked {
	cost_ns bound;
	uint32_t candidate;
};

static int
by_bound_down(const void *x, const void *y)
{
	const struct asked *a = x, *b = y;

	if (a->bound != b->bound)
		return a->bound < b->bound ? 1 : -1;
	return (a->candidate > b->candidate) - (a->candidate < b->candidate);
}

/* Mark the nodes of a candidate and those next to it. *free: none of its own was
 * marked. */
static void
mark_neighbours(
    const struct quest *q, uint32_t candidate, bool *marked, bool *free)
{
	const struct problem *p = &q->problem;
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

/* Of what is listed, the dearest and what is not next to anything dearer: once
 * that has a price, the cheapest cover may do without its neighbours. */
static uint32_t
pick(struct quest *q, uint32_t *picked)
{
	struct asked *list = arena_new(q->arena, struct asked, q->nask);
	bool *marked = arena_new(q->arena, bool, q->problem.nnodes), free;
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->nask; i++)
		list[i] = (struct asked){
		    price_guess(&q->r->prices->candidate[q->ask[i]]),
		    q->ask[i]};
	qsort(list, q->nask, sizeof *list, by_bound_down);
	for (uint32_t i = 0; i < q->nask; i++) {
		mark_neighbours(q, list[i].candidate, marked, &free);
		if (free)
			picked[n++] = list[i].candidate;
	}
	return n;
}

static uint32_t
count_unpriced(const struct quest *q)
{
	const struct prices *p = q->r->prices;
	uint32_t n = 0;

	for (uint32_t k = 0; k < q->nconvert; k++) {
		const struct pricer_conversion *c = &q->convert[k];

		n += conversion_at(p, c->class, c->from, c->to)->price.state
		    == PRICE_BOUND;
	}
	return n;
}

static bool
price_conversions(struct quest *q, bool *moved, struct err *err)
{
	uint32_t before = count_unpriced(q);

	for (uint32_t k = 0; k < q->nconvert; k++)
		trace_ask(q->r->trace, "conversion",
		    (uint32_t[]){q->convert[k].class, q->convert[k].from,
		        q->convert[k].to},
		    3);
	if (q->nconvert
	    && !pricer_price_conversions(
	        q->r->pricer, q->r->prices, q->convert, q->nconvert, err))
		return false;
	*moved = count_unpriced(q) < before;
	if (*moved)
		quest_reprice(q);
	return true;
}

static bool
price_candidates(struct quest *q, const uint32_t *ask, uint32_t n, bool *moved,
    struct err *err)
{
	trace_ask(q->r->trace, "price", ask, n);
	if (!pricer_price(q->r->pricer, q->r->prices, ask, n, err))
		return false;
	for (uint32_t k = 0; k < n; k++)
		*moved |= q->r->prices->candidate[ask[k]].state != PRICE_BOUND;
	quest_reprice(q);
	return true;
}

bool
quest_price_all_listed(struct quest *q, bool *moved, struct err *err)
{
	*moved = false;
	return !q->r->pricer
	    || (price_conversions(q, moved, err)
	        && price_candidates(q, q->ask, q->nask, moved, err));
}

bool
quest_price_listed(struct quest *q, bool *moved, struct err *err)
{
	uint32_t n, *picked;

	if (q->r->eager_pricing)
		return quest_price_all_listed(q, moved, err);
	*moved = false;
	if (!q->r->pricer)
		return true;
	/* what is priced may be off the cheapest cover by then */
	if (!price_conversions(q, moved, err) || *moved)
		return err->kind == ERR_NONE;
	if (!probe_listed(q, moved, err))
		return false;
	if (*moved) {
		quest_reprice(q);
		return true;
	}
	picked = arena_new(q->arena, uint32_t, q->nask);
	n = pick(q, picked);
	return price_candidates(q, picked, n, moved, err);
}
