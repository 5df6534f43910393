#include "tests/support/make.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/infer.h"
#include "tests/support/support.h"

#define VALUES_MAX 256

void
make_begin(struct maker *m, struct arena *a)
{
	*m = (struct maker){.arena = a, .graph = graph_new(a, "made")};
	m->input = arena_new(a, value_id, VALUES_MAX);
	m->output = arena_new(a, value_id, VALUES_MAX);
	m->graph->origin_table = arena_new(a, struct onnx_nodes, 1);
}

static struct type
type_of(struct maker *m, const int64_t *dim)
{
	struct type t = {.kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 0};

	while (dim[t.rank] != 0)
		t.rank++;
	t.dim = arena_copy(m->arena, dim, t.rank * sizeof *dim);
	return t;
}

static const char *
next_name(struct maker *m)
{
	return arena_printf(m->arena, "v%u", (unsigned)m->graph->nvalues);
}

value_id
make_input(struct maker *m, const int64_t *dim)
{
	struct type t = type_of(m, dim);
	value_id v = graph_add_value(m->graph, next_name(m), &t);

	graph_value(m->graph, v)->flags = VALUE_INPUT;
	m->input[m->graph->ninputs++] = v;
	m->graph->input = m->input;
	return v;
}

value_id
make_constant(struct maker *m, const int64_t *dim, float low, float high)
{
	struct type t = type_of(m, dim);
	struct rng r = rng_seeded(++m->seed);
	struct tensor *c = arena_new(m->arena, struct tensor, 1);
	size_t n = 1;
	float *data;

	for (uint32_t i = 0; i < t.rank; i++)
		n *= (size_t)t.dim[i];
	data = arena_new(m->arena, float, n + 64);
	for (size_t i = 0; i < n; i++)
		data[i] = low
		    + (high - low) * (float)rng_below(&r, 1 << 20) * 0x1p-20f;
	*c = tensor_view(DT_FLOAT, t.rank, t.dim, data);
	return graph_add_constant(m->graph, next_name(m), c);
}

value_id
make_triangle(struct maker *m, const int64_t *dim, enum triangle what)
{
	const struct type t = type_of(m, dim);
	const size_t ns = (size_t)t.dim[t.rank - 2],
	             nt = (size_t)t.dim[t.rank - 1];
	struct tensor *c = arena_new(m->arena, struct tensor, 1);
	float *added = arena_new(m->arena, float, ns *nt + 64);
	uint8_t *is = arena_new(m->arena, uint8_t, ns * nt + 64);

	for (size_t i = 0; i < ns * nt; i++) {
		const bool seen = i % nt + ns <= i / nt + nt;

		added[i] = seen ? 0 : -FLT_MAX;
		is[i] = seen == (what == TRIANGLE_SEEN);
	}
	*c = what == TRIANGLE_ADDED
	    ? tensor_view(DT_FLOAT, t.rank, t.dim, added)
	    : tensor_view(DT_BOOL, t.rank, t.dim, is);
	return graph_add_constant(m->graph, next_name(m), c);
}

value_id
make_scalar(struct maker *m, float x)
{
	struct tensor *c = arena_new(m->arena, struct tensor, 1);

	*c = tensor_view(DT_FLOAT, 0, NULL, arena_copy(m->arena, &x, sizeof x));
	return graph_add_constant(m->graph, next_name(m), c);
}

value_id
make_ints(struct maker *m, const int64_t *x)
{
	struct tensor *c = arena_new(m->arena, struct tensor, 1);
	int64_t *dim = arena_new(m->arena, int64_t, 1);

	while (x[dim[0]] != INTS_END)
		dim[0]++;
	*c = tensor_view(DT_INT64, 1, dim,
	    arena_copy(m->arena, x, (size_t)dim[0] * sizeof *x));
	return graph_add_constant(m->graph, next_name(m), c);
}

static value_id
make_bytes(struct maker *m, const int64_t *dim, enum dtype dtype)
{
	struct type t = type_of(m, dim);
	struct rng r = rng_seeded(++m->seed);
	struct tensor *c = arena_new(m->arena, struct tensor, 1);
	size_t n = 1;
	uint8_t *data;

	for (uint32_t i = 0; i < t.rank; i++)
		n *= (size_t)t.dim[i];
	data = arena_new(m->arena, uint8_t, n);
	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)rng_below(&r, 256);
	*c = tensor_view(dtype, t.rank, t.dim, data);
	return graph_add_constant(m->graph, next_name(m), c);
}

value_id
make_int8(struct maker *m, const int64_t *dim)
{
	return make_bytes(m, dim, DT_INT8);
}

value_id
make_uint8(struct maker *m, const int64_t *dim)
{
	return make_bytes(m, dim, DT_UINT8);
}

static const struct type unknown_type = {
    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = RANK_UNKNOWN};

value_id
make_more(struct maker *m)
{
	struct node *n = &m->graph->node[m->graph->nnodes - 1];
	value_id *output = arena_new(m->arena, value_id, n->noutputs + 1);
	value_id v = graph_add_value(m->graph, next_name(m), &unknown_type);

	for (uint32_t i = 0; i < n->noutputs; i++)
		output[i] = n->output[i];
	output[n->noutputs++] = v;
	n->output = output;
	graph_value(m->graph, v)->producer = m->graph->nnodes - 1;
	return v;
}

/* Attributes made on the caller's stack, moved to where the graph lives. */
static const struct attr *
keep_attrs(struct maker *m, const struct attr *attr, uint32_t n)
{
	struct attr *kept = arena_copy(m->arena, attr, n * sizeof *attr);

	for (uint32_t i = 0; i < n; i++) {
		const enum attr_kind k = attr[i].kind;
		size_t each = k == ATTR_FLOAT || k == ATTR_FLOATS
		    ? sizeof(float)
		    : k == ATTR_STRING || k == ATTR_STRINGS
		    ? sizeof(struct string_view)
		    : sizeof(int64_t);

		kept[i].ints =
		    arena_copy(m->arena, attr[i].ints, attr[i].n * each);
	}
	return kept;
}

static const char *
domain_of(enum op op)
{
	const char *type = op_get(op)->type;

	return op_find(type, strlen(type)) == op ? "" : "com.microsoft";
}

value_id
make_node(struct maker *m, enum op op, const value_id *in,
    const struct attr *attr, uint32_t nattrs)
{
	value_id out = graph_add_value(m->graph, next_name(m), &unknown_type);
	struct node n = {
	    .op = op,
	    .op_type = op_get(op)->type,
	    .domain = domain_of(op),
	    .opset = m->opset ? m->opset : 17,
	    .name = next_name(m),
	    .noutputs = 1,
	    .output = arena_copy(m->arena, &out, sizeof out),
	    .nattrs = nattrs,
	    .attr = attr,
	};

	while (in[n.ninputs] != VALUE_LAST)
		n.ninputs++;
	n.input = arena_copy(m->arena, in, n.ninputs * sizeof *in);
	n.attr = keep_attrs(m, attr, nattrs);
	graph_add_node(m->graph, &n);
	return out;
}

static const struct tensor *
rounded_to_halves(struct maker *m, const struct tensor *t)
{
	struct tensor *h = arena_new(m->arena, struct tensor, 1);
	uint16_t *to = arena_new(m->arena, uint16_t, t->count + 1);

	for (size_t i = 0; i < t->count; i++)
		to[i] = f32_to_f16((float)tensor_real(t, i));
	*h = tensor_view(DT_FLOAT16, t->rank, t->dim, to);
	return h;
}

void
make_halves(struct maker *m)
{
	for (value_id v = 0; v < m->graph->nvalues; v++) {
		struct value *value = graph_value(m->graph, v);

		if (value->constant && value->constant->dtype == DT_FLOAT)
			value->constant = rounded_to_halves(m, value->constant);
		if (value->type.dtype == DT_FLOAT)
			value->type.dtype = DT_FLOAT16;
	}
}

void
make_output(struct maker *m, value_id v)
{
	graph_value(m->graph, v)->flags |= VALUE_OUTPUT;
	m->output[m->graph->noutputs++] = v;
	m->graph->output = m->output;
}

void
make_end(struct maker *m)
{
	struct infer_options o = {0};
	struct err err = {.kind = ERR_NONE};

	if (!graph_sort(m->graph, &err) || !infer(m->graph, &o, &err)) {
		fprintf(stderr, "made graph: %s\n", err.text);
		exit(1);
	}
}
