#include "emit/work.h"
#include "ir/base/cost.h"

/* A price's range; a price that is only a bound has none above. */
static void
add_range(struct total *t, const struct price *p, cost_ns cost)
{
	bool known = p && p->state == PRICE_KNOWN;

	t->low = cost_add(t->low, known && p->low < cost ? p->low : cost);
	t->high = cost_add(t->high, known && p->high > cost ? p->high : cost);
}

struct total
emit_total(const struct emit_work *w)
{
	const struct plan *p = w->plan;
	struct total t = {0};

	for (uint32_t i = 0; i < p->ncomposites; i++) {
		t.composites = cost_add(t.composites, p->composite[i].cost);
		add_range(&t, emit_price(w, i), p->composite[i].cost);
	}
	for (uint32_t i = 0; i < p->nconversions; i++) {
		const struct plan_conversion *c = &p->conversion[i];

		t.conversions = cost_add(t.conversions, c->cost);
		add_range(&t, emit_conversion_price(w, c), c->cost);
	}
	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *r = &p->region[i];

		t.launches = cost_add(t.launches, r->launch);
		add_range(&t, prices_launch(p->prices, r->target), r->launch);
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
