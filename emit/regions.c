#include "emit/regions.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "plan/marks.h"

/* One region on its way to being a graph. */
struct cut {
	const struct graph *from;
	struct graph *to;
	struct arena *arena;
	struct map index; /* value id of `from` -> value id of `to` */
	value_id *input, *output;
	uint32_t ninputs, noutputs, input_cap, output_cap;
	value_id *passed; /* constants that become inputs; ids of `from` */
	uint32_t npassed, passed_cap;
	size_t inline_max;
	uint32_t opset; /* of the default domain */
};

/* Can a Constant node of this opset hold the element type? SOURCE: the ONNX
 * operator changelog, Constant-1, -9 and -13. */
static bool
fits_constant(enum dtype t, uint32_t opset)
{
	if (opset < 9)
		return t == DT_FLOAT || t == DT_DOUBLE || t == DT_FLOAT16;
	return opset >= 13 || t != DT_BFLOAT16;
}

static uint32_t
default_opset(const struct model *m)
{
	for (uint32_t i = 0; i < m->nopsets; i++)
		if (*m->opset[i].domain == '\0')
			return m->opset[i].version;
	return 1;
}

static value_id
take_value(struct cut *k, value_id v)
{
	const struct value *value = &k->from->value[v];
	value_id *key = arena_copy(k->arena, &v, sizeof v);
	value_id id = map_find(&k->index, key, sizeof v);

	if (id != MAP_NONE)
		return id;
	id = graph_add_value(k->to, value->name, &value->type);
	map_add(&k->index, key, sizeof v, id);
	if (!value->constant)
		return id;
	if (k->inline_max == SIZE_MAX
	    || (value->constant->count <= k->inline_max
	        && fits_constant(value->constant->dtype, k->opset))) {
		k->to->value[id].constant = value->constant;
		return id;
	}
	k->passed = arena_grow(k->arena, k->passed, &k->passed_cap,
	    k->npassed + 1, sizeof *k->passed);
	k->passed[k->npassed++] = v;
	return id;
}

static void
add_input(struct cut *k, value_id v)
{
	value_id id = take_value(k, v);

	if (k->to->value[id].flags & VALUE_INPUT)
		return; /* in two formats */
	k->to->value[id].flags |= VALUE_INPUT;
	k->input = arena_grow(k->arena, k->input, &k->input_cap, k->ninputs + 1,
	    sizeof *k->input);
	k->input[k->ninputs++] = id;
}

static void
add_output(struct cut *k, value_id v)
{
	value_id id = take_value(k, v);

	if (k->to->value[id].flags & VALUE_OUTPUT)
		return;
	k->to->value[id].flags |= VALUE_OUTPUT;
	k->output = arena_grow(k->arena, k->output, &k->output_cap,
	    k->noutputs + 1, sizeof *k->output);
	k->output[k->noutputs++] = id;
}

static value_id *
take_values(struct cut *k, const value_id *v, uint32_t n)
{
	value_id *out = arena_new(k->arena, value_id, n);

	for (uint32_t i = 0; i < n; i++)
		out[i] = v[i] == VALUE_NONE ? VALUE_NONE : take_value(k, v[i]);
	return out;
}

static void
add_nodes(struct cut *k, const struct candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++) {
		struct node n = k->from->node[c->node[i]];

		n.input = take_values(k, n.input, n.ninputs + n.nimplicit);
		n.output = take_values(k, n.output, n.noutputs);
		graph_add_node(k->to, &n);
	}
}

static int
by_id(const void *a, const void *b)
{
	value_id x = *(const value_id *)a, y = *(const value_id *)b;

	return x < y ? -1 : x > y;
}

struct graph *
region_graph(const struct emit_work *w, uint32_t region, size_t inline_max,
    struct arena *a)
{
	const struct plan_region *r = &w->plan->region[region];
	struct cut k = {
	    .from = w->graph,
	    .to = graph_new(a, w->region[region]),
	    .arena = a,
	    .inline_max = inline_max,
	    .opset = default_opset(w->in->model),
	};

	k.to->symbol = w->graph->symbol;
	k.to->nsymbols = w->graph->nsymbols;
	map_init(&k.index, a);
	for (uint32_t i = 0; i < r->ninputs; i++)
		add_input(&k, r->input[i].value);
	for (uint32_t i = 0; i < r->ncomposites; i++)
		add_nodes(&k, emit_candidate(w, r->first + i));
	if (k.npassed > 0)
		qsort(k.passed, k.npassed, sizeof *k.passed, by_id);
	for (uint32_t i = 0; i < k.npassed; i++)
		add_input(&k, k.passed[i]);
	for (uint32_t i = 0; i < r->noutputs; i++)
		add_output(&k, r->output[i].value);
	k.to->input = k.input;
	k.to->ninputs = k.ninputs;
	k.to->output = k.output;
	k.to->noutputs = k.noutputs;
	return k.to;
}

/* Ids of `g` by name, of what crosses region boundaries. */
static value_id *
outer_values(const struct map *names, const struct graph *body,
    const value_id *inner, uint32_t n, struct arena *a)
{
	value_id *out = arena_new(a, value_id, n);

	for (uint32_t i = 0; i < n; i++) {
		const char *name = body->value[inner[i]].name;

		out[i] = map_find(names, name, strlen(name));
	}
	return out;
}

static void
add_call(struct graph *g, const struct map *names, const struct graph *body)
{
	struct node call = {
	    .op = OP_CUSTOM,
	    .op_type = body->name,
	    .domain = REGION_DOMAIN,
	    .opset = 1,
	    .name = body->name,
	    .ninputs = body->ninputs,
	    .noutputs = body->noutputs,
	};

	call.input =
	    outer_values(names, body, body->input, body->ninputs, g->arena);
	call.output =
	    outer_values(names, body, body->output, body->noutputs, g->arena);
	graph_add_node(g, &call);
}

static void
add_host_nodes(struct graph *g, const struct emit_work *w, uint32_t region)
{
	const struct plan_region *r = &w->plan->region[region];

	for (uint32_t i = 0; i < r->ncomposites; i++) {
		const struct candidate *c = emit_candidate(w, r->first + i);

		for (uint32_t k = 0; k < c->nnodes; k++)
			graph_add_node(g, &w->graph->node[c->node[k]]);
	}
}

struct graph *
main_graph(
    const struct emit_work *w, const struct graph *const *body, struct arena *a)
{
	const struct graph *from = w->graph;
	struct graph *g = graph_new(a, from->name);
	struct map names;

	map_init(&names, a);
	g->symbol = from->symbol;
	g->nsymbols = from->nsymbols;
	g->input = from->input;
	g->ninputs = from->ninputs;
	g->output = from->output;
	g->noutputs = from->noutputs;
	g->value = arena_copy(a, from->value, from->nvalues * sizeof *g->value);
	g->nvalues = g->value_cap = from->nvalues;
	for (value_id v = 0; v < g->nvalues; v++) {
		g->value[v].producer = NODE_NONE;
		map_add(&names, g->value[v].name, strlen(g->value[v].name), v);
	}
	for (uint32_t i = 0; i < w->plan->nregions; i++) {
		if (emit_region_is_host(w, i))
			add_host_nodes(g, w, i);
		else
			add_call(g, &names, body[i]);
	}
	return g;
}
