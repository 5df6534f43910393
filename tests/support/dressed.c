#include "tests/support/dressed.h"

static const struct rule any_rule = {.name = "any"};
static const struct target_kind plain_kind = {
    .name = "plain", .rule = &any_rule, .nrules = 1};
static const struct target_kind launching_kind = {
    .name = "launching", .rule = &any_rule, .nrules = 1, .launches = true};

static void
dress_graph(struct dressed *d)
{
	const struct problem *p = d->p;
	const struct type type = {.dtype = DT_FLOAT};
	value_id *outputs = arena_new(d->a, value_id, p->nvalues);

	d->graph = graph_new(d->a, "g");
	for (uint32_t v = 0; v < p->nvalues; v++) {
		graph_add_value(d->graph, "v", &type);
		if (!p->value[v].required)
			continue;
		d->graph->value[v].flags |= VALUE_OUTPUT;
		outputs[d->graph->noutputs++] = v;
	}
	d->graph->output = outputs;
	for (uint32_t n = 0; n < p->nnodes; n++) {
		const struct problem_node *from = &p->node[n];
		struct node node = {.op_type = "Op",
		    .domain = "",
		    .name = "",
		    .ninputs = from->ninputs,
		    .noutputs = from->noutputs};

		node.input = arena_copy(
		    d->a, from->input, from->ninputs * sizeof *from->input);
		node.output = arena_copy(
		    d->a, from->output, from->noutputs * sizeof *from->output);
		graph_add_node(d->graph, &node);
	}
}

static const struct port *
dress_ports(struct dressed *d, const struct problem_port *port, uint32_t n)
{
	struct port *out = arena_new(d->a, struct port, n);

	for (uint32_t i = 0; i < n; i++)
		out[i] =
		    (struct port){port[i].value, (format_id)port[i].format};
	return out;
}

static void
dress_candidates(struct dressed *d)
{
	const struct problem *p = d->p;
	struct candidate *list =
	    arena_new(d->a, struct candidate, p->ncandidates);
	struct target *target = arena_new(d->a, struct target, p->ntargets);

	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *from = &p->candidate[c];

		list[c] = (struct candidate){.target = from->target,
		    .implementation_name = "one",
		    .nnodes = from->nnodes,
		    .node = from->node,
		    .ninputs = from->ninputs,
		    .noutputs = from->noutputs,
		    .input = dress_ports(d, from->input, from->ninputs),
		    .output = dress_ports(d, from->output, from->noutputs)};
	}
	d->candidates.candidate = list;
	d->candidates.n = p->ncandidates;
	for (uint32_t t = 0; t < p->ntargets; t++)
		target[t] = (struct target){
		    .kind = p->target[t].launch ? &launching_kind : &plain_kind,
		    .text = p->target[t].name,
		    .index = t};
	d->mix.target = target;
	d->mix.n = p->ntargets;
	formats_init(&d->mix.formats);
	d->mix.formats.n = p->nformats;
	for (uint32_t f = 0; f < p->nformats; f++)
		d->mix.formats.format[f].space = SPACE_HOST;
}

static struct price
known(cost_ns cost)
{
	if (cost == COST_NEVER)
		return (struct price){.state = PRICE_FAILED};
	return (struct price){.state = PRICE_KNOWN, .ns = cost, .bound = cost};
}

void
dress_prices(struct dressed *d, struct rng *r, uint32_t low)
{
	const struct problem *p = d->p;
	uint32_t *class = arena_new(d->a, uint32_t, p->nvalues);

	prices_init(&d->prices, d->a);
	prices_of_each(&d->prices, p->ncandidates, p->ntargets);
	d->prices.nclasses = p->nclasses;
	d->prices.nformats = p->nformats;
	d->prices.value_class = class;
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		cost_ns cost = p->candidate[c].cost;
		uint32_t percent = low + rng_below(r, 101 - low);

		*prices_candidate(&d->prices, c) =
		    (struct price){.state = PRICE_BOUND,
		        .ns = cost == COST_NEVER ? 8 : cost,
		        .bound = cost == COST_NEVER ? 1 : cost * percent / 100};
	}
	for (uint32_t t = 0; t < p->ntargets; t++)
		*prices_launch(&d->prices, t) = known(p->target[t].launch);
	for (uint32_t v = 0; v < p->nvalues; v++)
		class[v] = p->value[v].class;
	d->prices.conversion = arena_new(d->a, struct conversion_price,
	    (size_t)p->nclasses * p->nformats * p->nformats);
	for (size_t i = 0; i < (size_t)p->nclasses * p->nformats * p->nformats;
	     i++)
		d->prices.conversion[i].price = known(p->conversion[i]);
}

void
dress(struct dressed *d)
{
	dress_graph(d);
	dress_candidates(d);
}

void
dress_known(struct dressed *d)
{
	struct rng any = rng_seeded(0);

	dress_prices(d, &any, 100);
	for (uint32_t c = 0; c < d->p->ncandidates; c++)
		*prices_candidate(&d->prices, c) =
		    known(d->p->candidate[c].cost);
}

void
dressed_plain(struct problem *p)
{
	for (uint32_t v = 0; v < p->nvalues; v++) {
		p->value[v].initial = p->value[v].producer == NO_NODE;
		p->value[v].required = p->value[v].required != 0;
	}
}
