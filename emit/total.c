#include "emit/work.h"
#include "ir/base/cost.h"

/* A price's range; a price that is only a bound has none above. */
static void
add_range(struct total *t, enum plan_part part, cost_ns cost,
    const struct price *p, struct paid paid)
{
	cost_ns low = cost, high = cost;

	if (p && p->state == PRICE_KNOWN) {
		paid.price = p->low;
		low = objective_cost(part, &paid);
		paid.price = p->high;
		high = objective_cost(part, &paid);
	}
	t->cpu = cost_add(t->cpu, p ? p->cpu : 0);
	t->low = cost_add(t->low, low < cost ? low : cost);
	t->high = cost_add(t->high, high > cost ? high : cost);
}

struct total
emit_total(const struct emit_work *w)
{
	const struct plan *p = w->plan;
	struct total t = {0};

	for (uint32_t i = 0; i < p->ncomposites; i++)
		add_range(&t, PART_COMPOSITE, p->composite[i].cost,
		    emit_price(w, i),
		    (struct paid){.ncomposites = 1,
		        .nnodes = plan_candidate(w->plan, i)->nnodes});
	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *c = &p->conversion[i];

		add_range(&t, PART_CONVERSION, c->cost,
		    emit_conversion_price(w, c), (struct paid){0});
	}
	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *r = &p->region[i];

		if (p->mix->target[r->target].kind->launches)
			add_range(&t, PART_LAUNCH, r->launch,
			    prices_launch(p->prices, r->target),
			    (struct paid){0});
	}
	return t;
}

double
emit_gap(const struct plan *p)
{
	if (p->proven || p->cost == 0 || p->lower_bound >= p->cost)
		return 0;
	return (double)(p->cost - p->lower_bound) / (double)p->cost;
}
