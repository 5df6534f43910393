/* Other ways for values that pass between regions of an accelerator: the search
 * charges for a format once, a plan for every region. What crossed is charged to
 * the candidates that read it, and the search runs again; of all plans seen, the
 * cheapest is kept. */
#include "plan/problem.h"
#include "plan/quest.h"
#include "search/cost.h"

/* TUNING: searches spent on it; the gain is in the first few. */
#define ROUNDS 8u

static bool
reads(const struct graph *g, const struct candidate *c, value_id v)
{
	for (uint32_t k = 0; k < c->nnodes; k++) {
		const struct node *n = &g->node[c->node[k]];

		for (uint32_t i = 0; i < n->ninputs; i++)
			if (n->input[i] == v)
				return true;
	}
	return false;
}

static bool
shares_node(const struct candidate *a, const struct candidate *b)
{
	for (uint32_t i = 0; i < a->nnodes; i++)
		for (uint32_t k = 0; k < b->nnodes; k++)
			if (a->node[i] == b->node[k])
				return true;
	return false;
}

/* Whoever would read the value in the composite's place pays as much. */
static bool
charge(struct quest *q, value_id v, uint32_t composite, cost_ns cost)
{
	const struct plan *p = &q->plan;
	const struct candidate *all = p->candidates->candidate;
	const struct candidate *at = &all[p->composite[composite].candidate];
	bool moved = false;

	for (uint32_t i = 0; i < p->candidates->n; i++) {
		if (all[i].target != at->target || q->extra[i] >= cost
		    || !reads(p->graph, &all[i], v)
		    || !shares_node(&all[i], at))
			continue;
		q->extra[i] = cost;
		moved = true;
	}
	return moved;
}

/* Crossings are the conversions the cover does not have: one into the region,
 * and before it perhaps one to the host. */
static bool
charge_crossings(struct quest *q)
{
	const struct cover *cover = &q->best.cover;
	uint32_t known = 0;
	cost_ns out = 0;
	bool moved = false;

	for (uint32_t i = 0; i < q->plan.nconversions; i++) {
		const struct plan_conversion *c = &q->plan.conversion[i];
		const struct cover_conversion *k = &cover->conversion[known];

		if (known < cover->nconversions && k->value == c->value
		    && k->to == c->to && k->before == c->before) {
			known++;
			continue;
		}
		if (q->plan.mix->formats.format[c->to].space == SPACE_HOST) {
			out = c->cost;
			continue;
		}
		moved |= charge(q, c->value, c->before, cost_add(out, c->cost));
		out = 0;
	}
	return moved;
}

bool
quest_reroute(struct quest *q, struct err *err)
{
	struct quest v = *q;
	cost_ns bound = q->best.lower_bound;

	if (!quest_may_improve(q))
		return true;
	v.wholes.base = &v.problem;
	v.extra = arena_new(q->arena, cost_ns, q->r->candidates->n);
	v.problem.candidate = arena_copy(q->arena, q->problem.candidate,
	    q->problem.ncandidates * sizeof *q->problem.candidate);
	for (uint32_t i = 0;
	     i < ROUNDS && !quest_is_late(q) && charge_crossings(&v); i++) {
		quest_reprice(&v);
		if (!quest_search(&v, err)
		    || !quest_ask_regions(&v, &v.best.cover, err))
			return false;
		if (!quest_weigh(&v, &v.best.cover, &v.plan)
		    || v.plan.cost >= q->plan.cost)
			continue;
		q->best.cover = v.best.cover;
		q->plan = v.plan;
	}
	q->best.lower_bound = bound;
	quest_reprice(q);
	return true;
}
