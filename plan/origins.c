#include "plan/origins.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/price.h"

const char *
price_class(const struct price *p)
{
	if (!p->machine)
		return NULL;
	switch (p->origin) {
	case FROM_DB_EXACT:
	case FROM_MEASURING:
		return "exact";
	case FROM_DB_COMPATIBLE:
		return "compatible";
	case FROM_DB_OTHER:
		return "any";
	case FROM_NOWHERE:
	case FROM_SIMULATION:
	case FROM_EXTERNAL:
	case FROM_ESTIMATE:
		break;
	}
	return NULL;
}

struct origin_sums {
	struct plan_origin *list; /* [n] */
	uint32_t n, cap;
	struct arena *arena;
};

static void
count(struct origin_sums *o, const struct price *price)
{
	const char *class = price_class(price);

	if (!class)
		return;
	for (uint32_t i = 0; i < o->n; i++)
		if (strcmp(o->list[i].class, class) == 0
		    && strcmp(o->list[i].machine, price->machine) == 0) {
			o->list[i].n++;
			return;
		}
	o->list =
	    arena_grow(o->arena, o->list, &o->cap, o->n + 1, sizeof *o->list);
	o->list[o->n++] = (struct plan_origin){class, price->machine, 1};
}

static int
compare(const void *a, const void *b)
{
	const struct plan_origin *x = a, *y = b;
	bool first = strcmp(x->class, "exact") == 0;

	if (first != (strcmp(y->class, "exact") == 0))
		return first ? -1 : 1;
	if (strcmp(x->class, y->class) != 0)
		return strcmp(y->class, x->class); /* compatible before any */
	return strcmp(x->machine, y->machine);
}

const struct plan_origin *
plan_origins(const struct plan *p, uint32_t *n, struct arena *a)
{
	const struct prices *prices = p->prices;
	struct origin_sums o = {.arena = a};

	for (uint32_t i = 0; i < p->ncomposites; i++)
		count(&o, prices_candidate(prices, p->composite[i].candidate));
	for (uint32_t i = 0; prices->conversion && i < p->nconversions; i++) {
		const struct plan_conversion *c = &p->conversion[i];
		uint32_t class = prices->value_class[c->value];

		if (class != UINT32_MAX)
			count(&o,
			    &conversion_at(prices, class, c->from, c->to)
			         ->price);
	}
	if (o.n > 1)
		qsort(o.list, o.n, sizeof *o.list, compare);
	*n = o.n;
	return o.list;
}
