/* Checks a plan against the graph itself: nothing of the search is used. */
#include <inttypes.h>
#include <string.h>

#include "plan/memory.h"
#include "plan/plan.h"

struct review {
	const struct plan *p;
	uint32_t *available; /* [nvalues] mask of formats it can be converted
			      * from: on a device, those it was made in */
	uint32_t *holder; /* [nvalues][nformats] region (+ 1) that holds it,
			   * where a format lives on a device */
	uint32_t *made_by; /* [nnodes] composite, or UINT32_MAX */
	uint32_t next; /* conversion */
	uint64_t cost;
};

#define WRONG(...) err_set(err, ERR_INTERNAL, __VA_ARGS__)

static bool
is_on_host(const struct review *r, format_id f)
{
	return r->p->mix->formats.format[f].space == SPACE_HOST;
}

static uint32_t *
holder_of(struct review *r, value_id v, format_id f)
{
	return &r->holder[(size_t)v * r->p->mix->formats.n + f];
}

/* The region (+ 1) of a composite; 0: the caller's. */
static uint32_t
region_at(const struct review *r, uint32_t composite)
{
	return composite < r->p->ncomposites
	    ? r->p->composite[composite].region + 1
	    : 0;
}

/* Can it be read in this format here? What lives on a device is there for one
 * region only. */
static bool
is_there(struct review *r, value_id v, format_id f, uint32_t composite)
{
	uint32_t region = region_at(r, composite);

	if (is_on_host(r, f))
		return r->available[v] >> f & 1;
	return region && *holder_of(r, v, f) == region;
}

/* From now on it can. */
static void
put_value(struct review *r, value_id v, format_id f, uint32_t composite)
{
	*holder_of(r, v, f) = region_at(r, composite);
	if (is_on_host(r, f))
		r->available[v] |= UINT32_C(1) << f;
}

/* Devices take in what is on the host only, for one of their regions. */
static bool
leads_somewhere(const struct review *r, const struct plan_conversion *c)
{
	return is_on_host(r, c->to)
	    || (is_on_host(r, c->from) && c->before < r->p->ncomposites);
}

static bool
charge(struct review *r, cost_ns cost, struct err *err)
{
	if (cost == COST_NEVER || r->cost > COST_NEVER - 1 - cost)
		return WRONG("something without a price was chosen");
	r->cost += cost;
	return true;
}

static bool
pay_conversions(struct review *r, uint32_t before, struct err *err)
{
	const struct plan *p = r->p;

	for (; r->next < p->nconversions; r->next++) {
		const struct plan_conversion *c = &p->conversion[r->next];

		if (c->before > before)
			return true;
		if (p->prices->value_class[c->value] == UINT32_MAX)
			return WRONG("constant value %" PRIu32 " is converted",
			    c->value);
		if (!(r->available[c->value] >> c->from & 1)
		    || is_there(r, c->value, c->to, c->before))
			return WRONG("conversion %" PRIu32 " of value %" PRIu32
			             " has no source or is paid twice",
			    r->next, c->value);
		if (!leads_somewhere(r, c))
			return WRONG("conversion %" PRIu32 " of value %" PRIu32
			             " takes it in for nobody, or from "
			             "another device",
			    r->next, c->value);
		if (c->cost != plan_conversion_cost(p, c))
			return WRONG("conversion %" PRIu32
			             " is not charged its price",
			    r->next);
		put_value(r, c->value, c->to, c->before);
		if (!charge(r, c->cost, err))
			return false;
	}
	return true;
}

/* Does each port of the composite match the nodes it covers? */
static bool
read_ports(struct review *r, uint32_t i, struct err *err)
{
	const struct candidate *c = plan_candidate(r->p, i);

	for (uint32_t k = 0; k < c->ninputs; k++)
		if (!is_there(r, c->input[k].value, c->input[k].format, i))
			return WRONG("value '%s' is not there in format %u",
			    r->p->graph->value[c->input[k].value].name,
			    c->input[k].format);
	return true;
}

static bool
reads(const struct candidate *c, value_id v)
{
	for (uint32_t k = 0; k < c->ninputs; k++)
		if (c->input[k].value == v)
			return true;
	return false;
}

static bool
take_nodes(struct review *r, uint32_t i, struct err *err)
{
	const struct graph *g = r->p->graph;
	const struct candidate *c = plan_candidate(r->p, i);

	for (uint32_t k = 0; k < c->nnodes; k++) {
		if (r->made_by[c->node[k]] != UINT32_MAX)
			return WRONG(
			    "node #%" PRIu32 " is covered twice", c->node[k]);
		r->made_by[c->node[k]] = i;
		if (r->p->composite_of[c->node[k]] != i)
			return WRONG("node #%" PRIu32
			             " is filed under another composite",
			    c->node[k]);
	}
	for (uint32_t k = 0; k < c->nnodes; k++) {
		const struct node *n = &g->node[c->node[k]];

		for (uint32_t m = 0; m < n->ninputs + n->nimplicit; m++) {
			value_id v = n->input[m];
			node_id maker;

			if (v == VALUE_NONE || g->value[v].constant)
				continue;
			maker = g->value[v].producer;
			if (maker != NODE_NONE
			    && r->made_by[maker] == UINT32_MAX)
				return WRONG("node #%" PRIu32
				             " runs before its input is made",
				    c->node[k]);
			if ((maker == NODE_NONE || r->made_by[maker] != i)
			    && !reads(c, v))
				return WRONG("node #%" PRIu32
				             " reads '%s' through no port",
				    c->node[k], g->value[v].name);
		}
	}
	return true;
}

static bool
write_ports(struct review *r, uint32_t i, struct err *err)
{
	const struct candidate *c = plan_candidate(r->p, i);
	const struct price *price =
	    prices_candidate(r->p->prices, r->p->composite[i].candidate);

	for (uint32_t k = 0; k < c->noutputs; k++) {
		put_value(r, c->output[k].value, c->output[k].format, i);
		r->available[c->output[k].value] |= UINT32_C(1)
		    << c->output[k].format;
	}
	if (price->state == PRICE_FAILED)
		return WRONG("a candidate whose price failed was chosen");
	return charge(r, r->p->composite[i].cost, err);
}

static bool
review_composites(struct review *r, struct err *err)
{
	for (uint32_t i = 0; i < r->p->ncomposites; i++)
		if (!pay_conversions(r, i, err) || !take_nodes(r, i, err)
		    || !read_ports(r, i, err) || !write_ports(r, i, err))
			return err_in(err, "composite %" PRIu32, i);
	return pay_conversions(r, r->p->ncomposites, err);
}

/* Are the region's composites charged what it costs as a whole, or each its own
 * price? */
static bool
review_price(
    const struct plan *p, const struct plan_region *region, struct err *err)
{
	struct arena scratch;
	uint32_t *all;
	cost_ns whole;
	uint64_t charged = 0, expected = 0;

	arena_init(&scratch);
	all = arena_new(&scratch, uint32_t, region->ncomposites);
	for (uint32_t k = 0; k < region->ncomposites; k++) {
		const struct plan_composite *c =
		    &p->composite[region->first + k];

		all[k] = c->candidate;
		charged += c->cost;
		expected += plan_candidate_cost(p, c->candidate);
	}
	if (plan_region_cost(p, all, region->ncomposites, &whole))
		expected = whole;
	arena_release(&scratch);
	if (charged != expected || region->cost != expected)
		return WRONG("a region that costs %" PRIu64 " says %" PRIu64
		             ", its composites %" PRIu64,
		    expected, region->cost, charged);
	return true;
}

/* Regions tile the order, one target each; since the order respects every
 * dependency, that makes them convex and acyclic. */
static bool
review_regions(struct review *r, struct err *err)
{
	const struct plan *p = r->p;
	uint32_t at = 0;

	for (uint32_t i = 0; i < p->nregions; i++) {
		const struct plan_region *region = &p->region[i];

		if (region->first != at || region->ncomposites == 0
		    || region->ncomposites > p->ncomposites - at)
			return WRONG("region %" PRIu32
			             " does not follow the one before",
			    i);
		for (uint32_t k = 0; k < region->ncomposites; k++, at++)
			if (p->composite[at].region != i
			    || plan_candidate(p, at)->target != region->target)
				return WRONG(
				    "region %" PRIu32 " holds a stranger", i);
		if (!charge(r, region->launch, err))
			return false;
		if (region->launch != plan_launch_cost(p, region->target))
			return WRONG(
			    "region %" PRIu32 " is not charged its launch", i);
		if (!review_price(p, region, err))
			return err_in(err, "region %" PRIu32, i);
	}
	if (at != p->ncomposites)
		return WRONG("composites behind the last region");
	return true;
}

bool
plan_verify(const struct plan *p, struct err *err)
{
	const struct graph *g = p->graph;
	struct arena scratch;
	struct review r = {.p = p};
	struct device_use use;
	bool ok;

	arena_init(&scratch);
	r.available = arena_new(&scratch, uint32_t, g->nvalues);
	r.made_by = arena_new(&scratch, uint32_t, g->nnodes);
	r.holder = arena_new(
	    &scratch, uint32_t, (size_t)g->nvalues * p->mix->formats.n);
	memset(r.made_by, 0xff, g->nnodes * sizeof *r.made_by);
	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].constant || g->value[v].producer == NODE_NONE)
			r.available[v] = UINT32_C(1) << FORMAT_PLAIN;
	ok = review_composites(&r, err) && review_regions(&r, err);
	for (node_id n = 0; ok && n < g->nnodes; n++)
		if (r.made_by[n] == UINT32_MAX)
			ok =
			    WRONG("node #%" PRIu32 " is covered by nothing", n);
	for (uint32_t i = 0; ok && i < g->noutputs; i++)
		if (!(r.available[g->output[i]] >> FORMAT_PLAIN & 1))
			ok = WRONG("output '%s' is not given back",
			    g->value[g->output[i]].name);
	if (ok && !plan_fits(p, &use, &scratch))
		ok = WRONG("the regions of '%s' do not fit its memory",
		    use.kind->name);
	if (ok && r.cost != p->cost)
		ok = WRONG("the parts cost %" PRIu64 ", the plan says %" PRIu64,
		    r.cost, p->cost);
	arena_release(&scratch);
	return ok || err_in(err, "plan check");
}
