#include "plan/crossing.h"

#include <string.h>

#include "search/cost.h"

#define NO_REGION UINT32_MAX

struct walk {
	struct plan *p;
	struct arena *arena;
	struct plan_conversion *list;
	uint32_t n, cap;
	uint32_t *made; /* [nvalues] mask: formats it has existed in so far */
	uint32_t *home; /* [nvalues][nformats] region it last was made for */
};

static uint32_t *
home_of(struct walk *w, value_id v, format_id f)
{
	return &w->home[(size_t)v * w->p->mix->formats.n + f];
}

static void
make(struct walk *w, value_id v, format_id f, uint32_t composite)
{
	w->made[v] |= UINT32_C(1) << f;
	*home_of(w, v, f) = composite < w->p->ncomposites
	    ? w->p->composite[composite].region
	    : NO_REGION;
}

static void
put(struct walk *w, const struct plan_conversion *c)
{
	w->list =
	    arena_grow(w->arena, w->list, &w->cap, w->n + 1, sizeof *w->list);
	w->list[w->n++] = *c;
	make(w, c->value, c->to, c->before);
}

static cost_ns
price_of(const struct walk *w, value_id v, format_id from, format_id to)
{
	return price_least(
	    &conversion_at(w->p->prices, w->p->prices->value_class[v], from, to)
	         ->price);
}

/* The cheapest way for the value to be in format f from what there is: 0 when
 * it is in it. */
static cost_ns
reach(const struct walk *w, value_id v, format_id f, format_id *from)
{
	cost_ns best = COST_NEVER;

	*from = f;
	if (w->made[v] >> f & 1)
		return 0;
	for (uint32_t m = 0; m < w->p->mix->formats.n; m++) {
		if (!(w->made[v] >> m & 1)
		    || price_of(w, v, (format_id)m, f) >= best)
			continue;
		best = price_of(w, v, (format_id)m, f);
		*from = (format_id)m;
	}
	return best;
}

/* Out to the host, where it is not there yet, and into this region. */
static void
bring(struct walk *w, struct port in, uint32_t composite)
{
	const struct formats *all = &w->p->mix->formats;
	struct plan_conversion c = {.value = in.value, .before = composite};
	cost_ns best = COST_NEVER;
	format_id host = FORMAT_PLAIN, from;

	for (uint32_t h = 0; h < all->n; h++) {
		cost_ns cost;

		if (all->format[h].space != SPACE_HOST)
			continue;
		cost = cost_add(reach(w, in.value, (format_id)h, &from),
		    price_of(w, in.value, (format_id)h, in.format));
		if (cost >= best)
			continue;
		best = cost;
		host = (format_id)h;
	}
	c.to = host;
	c.cost = reach(w, in.value, host, &c.from);
	if (c.from != host)
		put(w, &c);
	c.from = host;
	c.to = in.format;
	c.cost = price_of(w, in.value, host, in.format);
	put(w, &c);
}

static void
enter(struct walk *w, uint32_t composite)
{
	const struct candidate *c =
	    &w->p->candidates->candidate[w->p->composite[composite].candidate];
	uint32_t region = w->p->composite[composite].region;

	for (uint32_t i = 0; i < c->ninputs; i++) {
		const struct port *in = &c->input[i];
		bool host =
		    w->p->mix->formats.format[in->format].space == SPACE_HOST;

		if (!host && *home_of(w, in->value, in->format) != region)
			bring(w, *in, composite);
	}
	for (uint32_t i = 0; i < c->noutputs; i++)
		make(w, c->output[i].value, c->output[i].format, composite);
}

void
plan_add_crossings(struct plan *p, struct arena *a)
{
	size_t nhomes = (size_t)p->graph->nvalues * p->mix->formats.n;
	struct walk w = {.p = p,
	    .arena = a,
	    .made = arena_new(a, uint32_t, p->graph->nvalues),
	    .home = arena_new(a, uint32_t, nhomes)};
	uint32_t next = 0;

	memset(w.home, 0xff, nhomes * sizeof *w.home);
	for (value_id v = 0; v < p->graph->nvalues; v++)
		if (p->graph->value[v].producer == NODE_NONE)
			w.made[v] = UINT32_C(1) << FORMAT_PLAIN;
	for (uint32_t i = 0; i <= p->ncomposites; i++) {
		for (;
		     next < p->nconversions && p->conversion[next].before == i;
		     next++)
			put(&w, &p->conversion[next]);
		if (i < p->ncomposites)
			enter(&w, i);
	}
	p->conversion = w.list;
	p->nconversions = w.n;
}
