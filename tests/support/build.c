#include "tests/support/build.h"

#include <string.h>

value_id
build_input(struct graph *g, const char *name, enum dtype dtype,
    const int64_t *dim, uint32_t rank)
{
	struct type t = {.kind = TYPE_TENSOR, .dtype = dtype, .rank = rank};
	value_id *inputs = arena_new(g->arena, value_id, g->ninputs + 1);
	value_id v;

	t.dim = arena_copy(g->arena, dim, rank * sizeof *dim);
	v = graph_add_value(g, name, &t);
	graph_value(g, v)->flags = VALUE_INPUT;
	if (g->ninputs)
		memcpy(inputs, g->input, g->ninputs * sizeof *inputs);
	inputs[g->ninputs++] = v;
	g->input = inputs;
	return v;
}

value_id
build_ints(struct graph *g, const int64_t *v, uint32_t n)
{
	struct tensor *t = arena_new(g->arena, struct tensor, 1);
	int64_t *dim = arena_new(g->arena, int64_t, 1);

	dim[0] = n;
	*t = tensor_view(
	    DT_INT64, 1, dim, arena_copy(g->arena, v, n * sizeof *v));
	return graph_add_constant(
	    g, arena_printf(g->arena, "c%u", g->nvalues), t);
}

value_id
build_zeros(
    struct graph *g, enum dtype dtype, const int64_t *dim, uint32_t rank)
{
	static const unsigned char zero[16];
	struct tensor *t = arena_new(g->arena, struct tensor, 1);

	*t = tensor_fill(
	    dtype, rank, arena_copy(g->arena, dim, rank * sizeof *dim), zero);
	return graph_add_constant(
	    g, arena_printf(g->arena, "c%u", g->nvalues), t);
}

value_id
build_node(
    struct graph *g, enum op op, uint32_t opset, const value_id *in, uint32_t n)
{
	struct node node = {
	    .op = op,
	    .op_type = op_get(op)->type,
	    .domain = "",
	    .opset = opset,
	    .ninputs = n,
	    .noutputs = 1,
	};

	node.name = arena_printf(g->arena, "n%u", g->nnodes);
	node.input = arena_copy(g->arena, in, n * sizeof *in);
	node.output = arena_new(g->arena, value_id, 1);
	node.output[0] =
	    graph_add_value(g, arena_printf(g->arena, "v%u", g->nvalues), NULL);
	graph_add_node(g, &node);
	return node.output[0];
}

static struct attr *
last_attr(struct graph *g, const char *name, enum attr_kind kind, uint32_t n)
{
	struct node *node = graph_node(g, g->nnodes - 1);
	struct attr *a = arena_new(g->arena, struct attr, node->nattrs + 1);

	if (node->nattrs)
		memcpy(a, node->attr, node->nattrs * sizeof *a);
	node->attr = a;
	a += node->nattrs++;
	*a = (struct attr){.name = name, .kind = kind, .n = n};
	return a;
}

void
build_int(struct graph *g, const char *name, int64_t v)
{
	last_attr(g, name, ATTR_INT, 1)->ints =
	    arena_copy(g->arena, &v, sizeof v);
}

void
build_float(struct graph *g, const char *name, float v)
{
	last_attr(g, name, ATTR_FLOAT, 1)->floats =
	    arena_copy(g->arena, &v, sizeof v);
}

void
build_string(struct graph *g, const char *name, const char *v)
{
	struct string_view view = {v, strlen(v)};

	last_attr(g, name, ATTR_STRING, 1)->strings =
	    arena_copy(g->arena, &view, sizeof view);
}

void
build_list(struct graph *g, const char *name, const int64_t *v, uint32_t n)
{
	last_attr(g, name, ATTR_INTS, n)->ints =
	    arena_copy(g->arena, v, n * sizeof *v);
}

value_id
build_output(struct graph *g)
{
	node_id id = g->nnodes - 1;
	struct node *node = graph_node(g, id);
	value_id *out = arena_new(g->arena, value_id, node->noutputs + 1);

	memcpy(out, node->output, node->noutputs * sizeof *out);
	out[node->noutputs] =
	    graph_add_value(g, arena_printf(g->arena, "v%u", g->nvalues), NULL);
	graph_value(g, out[node->noutputs])->producer = id;
	node->output = out;
	return out[node->noutputs++];
}
