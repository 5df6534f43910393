#include "search/interval.h"

#include <assert.h>
#include <string.h>

#include "search/check.h"

#define ANY_FORMAT UINT32_MAX

/* The cheapest ways to cover nodes 0..n-1: the best, and the best that ends with
 * another target. */
struct reached {
	cost_ns cost[2];
	uint32_t target[2];
	uint32_t candidate[2]; /* taken last */
	uint8_t from[2]; /* which of the two before it */
};

struct interval_walk {
	const struct problem *p;
	struct reached *at; /* [nnodes + 1] */
	uint32_t format; /* of all ports; ANY_FORMAT: any */
};

static bool
is_limited(const struct problem *p, uint32_t target)
{
	const struct problem_target *t = &p->target[target];

	return t->max_runs != NO_LIMIT || t->max_run_nodes != NO_LIMIT
	    || t->fed_only || t->part_of
	    || p->target[target_owner(p, target)].capacity != UINT64_MAX;
}

static bool
is_in_format(const struct problem_port *port, uint32_t n, uint32_t format)
{
	for (uint32_t i = 0; i < n && format != ANY_FORMAT; i++)
		if (port[i].format != format)
			return false;
	return true;
}

static bool
may_take(const struct interval_walk *w, const struct problem_candidate *c)
{
	return c->node[c->nnodes - 1] - c->node[0] + 1 == c->nnodes
	    && !is_limited(w->p, c->target)
	    && is_in_format(c->input, c->ninputs, w->format)
	    && is_in_format(c->output, c->noutputs, w->format);
}

/* Offer a way to cover everything below a node. */
static void
offer(struct reached *r, cost_ns cost, uint32_t target, uint32_t candidate,
    uint8_t from)
{
	uint32_t at;

	if (cost < r->cost[0] && target != r->target[0]) {
		r->cost[1] = r->cost[0];
		r->target[1] = r->target[0];
		r->candidate[1] = r->candidate[0];
		r->from[1] = r->from[0];
	}
	if (cost < r->cost[0])
		at = 0;
	else if (cost < r->cost[1] && target != r->target[0])
		at = 1;
	else
		return;
	r->cost[at] = cost;
	r->target[at] = target;
	r->candidate[at] = candidate;
	r->from[at] = from;
}

static void
take(struct interval_walk *w, uint32_t id)
{
	const struct problem_candidate *c = &w->p->candidate[id];
	const struct reached *from = &w->at[c->node[0]];
	struct reached *to = &w->at[c->node[0] + c->nnodes];

	for (uint8_t i = 0; i < 2; i++) {
		cost_ns launch = from->target[i] == c->target
		    ? 0
		    : w->p->target[c->target].launch;

		offer(to, cost_add(from->cost[i], cost_add(c->cost, launch)),
		    c->target, id, i);
	}
}

static bool
walk(struct interval_walk *w)
{
	const struct problem *p = w->p;

	for (uint32_t n = 0; n <= p->nnodes; n++)
		w->at[n] = (struct reached){{COST_NEVER, COST_NEVER},
		    {NO_LIMIT, NO_LIMIT}, {0, 0}, {0, 0}};
	w->at[0].cost[0] = 0;
	for (uint32_t n = 0; n < p->nnodes; n++)
		for (uint32_t k = p->low_start[n]; k < p->low_start[n + 1]; k++)
			if (may_take(w, &p->candidate[p->low[k]]))
				take(w, p->low[k]);
	return w->at[p->nnodes].cost[0] != COST_NEVER;
}

static void
trace(const struct interval_walk *w, struct cover *out, struct arena *a)
{
	uint32_t *taken = arena_new(a, uint32_t, w->p->nnodes);
	uint32_t at = w->p->nnodes, n = w->p->nnodes;
	uint8_t which = 0;

	while (n > 0) {
		const struct reached *r = &w->at[n];

		assert(at > 0 && r->cost[which] != COST_NEVER);
		taken[--at] = r->candidate[which];
		n = w->p->candidate[taken[at]].node[0];
		which = r->from[which];
	}
	cover_complete(out, w->p, &taken[at], NULL, w->p->nnodes - at, a);
}

bool
interval_cover(struct cover *out, const struct problem *p, struct arena *a)
{
	struct interval_walk w = {.p = p};
	struct err err = {.kind = ERR_NONE};
	struct arena space;

	*out = (struct cover){.cost = COST_NEVER};
	arena_init(&space);
	w.at = arena_new(&space, struct reached, (size_t)p->nnodes + 1);
	for (uint32_t f = 0; f <= p->nformats; f++) {
		struct arena_mark mark = arena_mark(a);
		struct cover cover;

		w.format = f < p->nformats ? f : ANY_FORMAT;
		if (!walk(&w))
			continue;
		trace(&w, &cover, a);
		if (cover.cost < out->cost)
			*out = cover;
		else
			arena_back(a, mark);
	}
	if (out->cost != COST_NEVER && !cover_check(out, p, &space, &err))
		out->cost = COST_NEVER;
	arena_release(&space);
	return out->cost != COST_NEVER;
}
