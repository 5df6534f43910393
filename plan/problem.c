#include "plan/problem.h"

#include <assert.h>

#include "plan/objective.h"
#include "plan/partition.h"
#include "search/problem_index.h"

static bool
flows(const struct graph *g, value_id v)
{
	return v != VALUE_NONE && !g->value[v].constant;
}

static void
build_values(struct problem *p, const struct graph *g,
    const struct prices *prices, struct arena *a)
{
	const uint32_t plain = UINT32_C(1) << FORMAT_PLAIN;

	p->nvalues = g->nvalues;
	p->value = arena_new(a, struct problem_value, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++) {
		const struct value *from = &g->value[v];
		struct problem_value *to = &p->value[v];

		to->producer = from->constant ? NO_NODE : from->producer;
		to->class = from->constant ? NO_CLASS : prices->value_class[v];
		to->initial = to->producer == NO_NODE ? plain : 0;
		to->required = from->flags & VALUE_OUTPUT ? plain : 0;
	}
}

static const uint32_t *
flowing(const struct graph *g, const value_id *value, uint32_t n,
    uint32_t *count, struct arena *a)
{
	uint32_t *out = arena_new(a, uint32_t, n);

	*count = 0;
	for (uint32_t i = 0; i < n; i++)
		if (flows(g, value[i]))
			out[(*count)++] = value[i];
	return out;
}

static void
build_nodes(struct problem *p, const struct graph *g, struct arena *a)
{
	p->nnodes = g->nnodes;
	p->node = arena_new(a, struct problem_node, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++) {
		const struct node *from = &g->node[n];
		struct problem_node *to = &p->node[n];

		to->input = flowing(g, from->input,
		    from->ninputs + from->nimplicit, &to->ninputs, a);
		to->output =
		    flowing(g, from->output, from->noutputs, &to->noutputs, a);
	}
}

static const struct problem_port *
build_ports(const struct port *port, uint32_t n, struct arena *a)
{
	struct problem_port *out = arena_new(a, struct problem_port, n);

	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct problem_port){port[i].value, port[i].format};
	return out;
}

static void
build_candidates(
    struct problem *p, const struct plan_request *r, struct arena *a)
{
	const struct candidates *c = r->candidates;

	p->ncandidates = c->n;
	p->candidate = arena_new(a, struct problem_candidate, c->n);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct candidate *from = &c->candidate[i];

		assert(from->target < r->mix->n && from->nnodes > 0);
		p->candidate[i] = (struct problem_candidate){
		    .target = from->target,
		    .resource = from->resident,
		    .banned = r->only && !r->only[i],
		    .nnodes = from->nnodes,
		    .node = from->node,
		    .ninputs = from->ninputs,
		    .noutputs = from->noutputs,
		    .input = build_ports(from->input, from->ninputs, a),
		    .output = build_ports(from->output, from->noutputs, a),
		};
	}
}

/* What the residents of its candidates may add up to, beside the least scratch;
 * UINT64_MAX: nobody counts, or nothing is kept. */
static uint64_t
capacity_of(const struct plan_request *r, uint32_t target)
{
	const struct target *t = &r->mix->target[target];
	const struct region none = region_of(t, r->graph, NULL, 0);
	struct memory m;
	bool any = false;

	for (uint32_t i = 0; i < r->candidates->n; i++)
		any |= r->candidates->candidate[i].target == target
		    && r->candidates->candidate[i].resident > 0;
	if (!t->kind->memory || !any)
		return UINT64_MAX;
	t->kind->memory(&none, &m);
	return m.limit > m.scratch ? m.limit - m.scratch : 0;
}

static cost_ns
launch_cost(const struct plan_request *r, uint32_t target)
{
	const struct paid paid = {
	    .price = price_least(prices_launch(r->prices, target))};

	return r->mix->target[target].kind->launches
	    ? objective_cost(PART_LAUNCH, &paid)
	    : 0;
}

static void
build_targets(struct problem *p, const struct plan_request *r, struct arena *a)
{
	const struct mix *m = r->mix;

	p->ntargets = m->n;
	p->target = arena_new(a, struct problem_target, m->n);
	for (uint32_t t = 0; t < m->n; t++)
		p->target[t] = (struct problem_target){
		    .name = m->target[t].text,
		    .launch = launch_cost(r, t),
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = capacity_of(r, t),
		};
}

/* What a device gives back it gives to the host, and takes from there: a format in
 * its memory is there for one region only. */
static uint32_t
local_formats(const struct formats *f)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (f->format[i].space != SPACE_HOST)
			mask |= UINT32_C(1) << i;
	return mask;
}

typedef cost_ns price_as(const struct price *p);

static bool
set_cost(cost_ns *cost, enum plan_part part, struct paid paid)
{
	cost_ns now = objective_cost(part, &paid);
	bool fell = now < *cost;

	*cost = now;
	return fell;
}

/* Costs from prices, without touching the derived part of the problem; did any
 * fall? */
static bool
fill_costs(struct problem *p, const struct prices *prices, price_as *as)
{
	const uint32_t n = p->nformats;
	bool fell = false;

	assert(prices->nformats >= n && prices->nclasses == p->nclasses);
	for (uint32_t i = 0; i < p->ncandidates; i++) {
		struct problem_candidate *c = &p->candidate[i];

		fell |= set_cost(&c->cost, PART_COMPOSITE,
		    (struct paid){
		        as(prices_candidate(prices, i)), 1, c->nnodes});
		c->class = prices->candidate[i];
	}
	for (uint32_t class = 0; class < p->nclasses; class ++)
		for (uint32_t i = 0; i < n * n; i++)
			fell |=
			    set_cost(&p->conversion[(size_t) class * n * n + i],
			        PART_CONVERSION,
			        (struct paid){
			            .price = as(&conversion_at(prices, class,
			                (format_id)(i / n), (format_id)(i % n))
			                             ->price)});
	return fell;
}

bool
problem_build(struct problem *out, const struct plan_request *r,
    const bool *skip, struct arena *a, struct err *err)
{
	*out = (struct problem){.nformats = r->mix->formats.n,
	    .nclasses = r->prices->nclasses,
	    .local = local_formats(&r->mix->formats)};
	out->conversion = arena_new(
	    a, cost_ns, (size_t)out->nclasses * out->nformats * out->nformats);
	build_values(out, r->graph, r->prices, a);
	build_nodes(out, r->graph, a);
	build_candidates(out, r, a);
	build_targets(out, r, a);
	fill_costs(out, r->prices, price_least);
	constraints_apply(r->constraints, skip, r->graph, out);
	if (r->constraints)
		partitions_apply(r->constraints, skip, out, a);
	return problem_index(out, a, err) || err_in(err, "search problem");
}

bool
problem_reprice(struct problem *p, const struct prices *prices, struct arena *a)
{
	bool fell = fill_costs(p, prices, price_least);

	problem_reindex(p, a);
	return fell;
}

void
problem_expect(struct problem *out, const struct problem *p,
    const struct prices *prices, const bool *allowed, struct arena *a)
{
	problem_derive(out, p, EDIT_CANDIDATES | EDIT_CONVERSIONS, a);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		out->candidate[c].banned |= !allowed[c];
	fill_costs(out, prices, price_expected);
	problem_reindex(out, a);
}

void
problem_least(struct problem *out, const struct problem *p,
    const struct prices *prices, struct arena *a)
{
	problem_derive(out, p, EDIT_CANDIDATES | EDIT_CONVERSIONS, a);
	fill_costs(out, prices, price_least);
	problem_reindex(out, a);
}

void
problem_guess(struct problem *out, const struct problem *p,
    const struct prices *prices, struct arena *a)
{
	problem_derive(out, p, EDIT_CANDIDATES | EDIT_CONVERSIONS, a);
	assert(out->candidate != p->candidate); /* p keeps its bounds */
	fill_costs(out, prices, price_guess);
	problem_reindex(out, a);
}
