#include "search/bound.h"

void
bound_init(struct bound *b, const struct problem *p, struct arena *a)
{
	b->p = p;
	b->price = arena_new(a, cost_ns, p->nnodes);
	b->below = arena_new(a, cost_ns, (size_t)p->nnodes + 1);
	for (uint32_t n = 0; n < p->nnodes; n++)
		b->price[n] = COST_NEVER;
	for (uint32_t k = 0; k < p->low_start[p->nnodes]; k++) {
		const struct problem_candidate *c = &p->candidate[p->low[k]];

		for (uint32_t i = 0; i < c->nnodes; i++)
			if (c->cost / c->nnodes < b->price[c->node[i]])
				b->price[c->node[i]] = c->cost / c->nnodes;
	}
	for (uint32_t n = 0; n < p->nnodes; n++)
		b->below[n + 1] = cost_add(b->below[n], b->price[n]);
}

cost_ns
bound_rest(const struct bound *b, const struct group *g)
{
	cost_ns rest;

	if (g->top == NO_NODE)
		return 0;
	rest = b->below[g->top + 1];
	for (uint32_t i = 0; i < g->nover && rest != COST_NEVER; i++)
		rest -= b->price[g->over[i]];
	return rest;
}

cost_ns
bound_label(
    const struct bound *b, const struct group *g, const struct sweep_label *l)
{
	(void)b;
	return cost_add(l->cost, g->rest);
}
