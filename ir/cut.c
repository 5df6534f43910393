#include "ir/cut.h"

#include <stdlib.h>

#include "ir/base/map.h"
#include "ir/base/order.h"

/* A part on its way to being a graph. */
struct subgraph_cut {
	const struct graph *from;
	struct graph *to;
	struct arena *arena;
	struct map index; /* value id of `from` -> value id of `to` */
	value_id *input, *output;
	uint32_t ninputs, noutputs, input_cap, output_cap;
	value_id *passed; /* constants that become inputs; ids of `from` */
	uint32_t npassed, passed_cap;
	size_t inline_max;
	uint32_t opset;
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

static value_id
take_value(struct subgraph_cut *k, value_id v)
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
	    || (!value->constant->made_up
	        && value->constant->count <= k->inline_max
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
add_input(struct subgraph_cut *k, value_id v)
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
add_output(struct subgraph_cut *k, value_id v)
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
take_values(struct subgraph_cut *k, const value_id *v, uint32_t n)
{
	value_id *out = arena_new(k->arena, value_id, n);

	for (uint32_t i = 0; i < n; i++)
		out[i] = v[i] == VALUE_NONE ? VALUE_NONE : take_value(k, v[i]);
	return out;
}

static void
add_nodes(struct subgraph_cut *k, const node_id *node, uint32_t nnodes)
{
	for (uint32_t i = 0; i < nnodes; i++) {
		struct node n = k->from->node[node[i]];

		n.input = take_values(k, n.input, n.ninputs + n.nimplicit);
		n.output = take_values(k, n.output, n.noutputs);
		graph_add_node(k->to, &n);
	}
}

struct graph *
graph_cut(
    const struct graph *from, const struct graph_part *part, struct arena *a)
{
	struct subgraph_cut k = {
	    .from = from,
	    .to = graph_new(a, part->name),
	    .arena = a,
	    .inline_max = part->inline_max,
	    .opset = part->opset,
	};

	k.to->origin_table = from->origin_table;
	k.to->symbol = from->symbol;
	k.to->nsymbols = from->nsymbols;
	map_init(&k.index, a);
	for (uint32_t i = 0; i < part->ninputs; i++)
		add_input(&k, part->input[i]);
	add_nodes(&k, part->node, part->nnodes);
	if (k.npassed > 0)
		qsort(k.passed, k.npassed, sizeof *k.passed, by_u32);
	for (uint32_t i = 0; i < k.npassed; i++)
		add_input(&k, k.passed[i]);
	for (uint32_t i = 0; i < part->noutputs; i++)
		add_output(&k, part->output[i]);
	k.to->input = k.input;
	k.to->ninputs = k.ninputs;
	k.to->output = k.output;
	k.to->noutputs = k.noutputs;
	return k.to;
}
