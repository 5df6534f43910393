#include "emit/qdq.h"

#include <string.h>

#include "targets/quant.h"

/* SOURCE: the ONNX operator changelog: scales along an axis. */
#define OPSET_PER_AXIS 13

/* SOURCE: the same: QLinearConv; below 7 operators broadcast by attributes. */
#define OPSET_QLINEAR 10
#define OPSET_BROADCASTS 7

struct qdq_maker {
	const struct emit_work *w;
	struct arena *arena;
	struct graph *graph;
	uint32_t opset; /* of the default domain */
	const char *domain; /* of quantisers */
	uint32_t region; /* at hand */
	node_id *node; /* its nodes */
	uint32_t nnodes, node_cap;
	value_id
	    *now; /* [nvalues of the plan's graph] what stands for a value in
			* the region */
	struct qdq_node *inserted;
	uint32_t ninserted, inserted_cap;
};

static uint32_t
default_opset(const struct model *m)
{
	for (uint32_t i = 0; i < m->nopsets; i++)
		if (*m->opset[i].domain == '\0')
			return m->opset[i].version;
	return 1;
}

/* ---- opsets ---- */

/* Does the node mean the same at opset 10? SOURCE: the same, 7 to 10. */
static bool
is_same_at_10(const struct node *n)
{
	return !node_body(n, 0) && n->op != OP_UPSAMPLE && n->op != OP_SLICE
	    && n->op != OP_TOPK
	    && (n->op != OP_BATCHNORMALIZATION
	        || attr_int_or(n, "spatial", 1) == 1);
}

static uint32_t
opset_to_write(const struct graph *g, uint32_t opset)
{
	if (opset < OPSET_BROADCASTS || opset >= OPSET_QLINEAR)
		return opset;
	for (node_id id = 0; id < g->nnodes; id++)
		if (!is_same_at_10(graph_node(g, id)))
			return opset;
	return OPSET_QLINEAR;
}

/* Opset 9 took the attribute away; 1 was its default. */
static void
drop_spatial(struct node *n, struct arena *a)
{
	struct attr *kept = arena_new(a, struct attr, n->nattrs);
	uint32_t nkept = 0;

	if (n->op != OP_BATCHNORMALIZATION || !node_attr(n, "spatial"))
		return;
	for (uint32_t i = 0; i < n->nattrs; i++)
		if (strcmp(n->attr[i].name, "spatial") != 0)
			kept[nkept++] = n->attr[i];
	n->attr = kept;
	n->nattrs = nkept;
}

/* ---- values and nodes ---- */

static value_id
add_value(struct qdq_maker *k, const char *name, const struct type *type)
{
	return graph_add_value(k->graph, name, type);
}

static value_id
add_constant(struct qdq_maker *k, const char *name, enum dtype dtype,
    uint32_t rank, const int64_t *dim, const void *data)
{
	struct tensor t = tensor_view(dtype, rank, dim, data);

	return graph_add_constant(
	    k->graph, name, arena_copy(k->arena, &t, sizeof t));
}

static void
add_node(struct qdq_maker *k, const struct node *n)
{
	k->node = arena_grow(
	    k->arena, k->node, &k->node_cap, k->nnodes + 1, sizeof *k->node);
	k->node[k->nnodes++] = graph_add_node(k->graph, n);
}

static value_id *
copy_ids(struct qdq_maker *k, const value_id *v, uint32_t n)
{
	return arena_copy(k->arena, v, n * sizeof *v);
}

static const struct attr *
int_attr(struct qdq_maker *k, const char *name, int64_t x)
{
	const struct attr a = {.name = name,
	    .kind = ATTR_INT,
	    .n = 1,
	    .ints = arena_copy(k->arena, &x, sizeof x)};

	return arena_copy(k->arena, &a, sizeof a);
}

/* in[0] by in[1] and in[2] to `out`; an axis only where there is one. */
static void
add_quantiser(struct qdq_maker *k, bool back, const value_id *in, uint32_t nin,
    value_id out, int64_t axis)
{
	struct node n = {
	    .op = back ? OP_DEQUANTIZELINEAR : OP_QUANTIZELINEAR,
	    .op_type = back ? "DequantizeLinear" : "QuantizeLinear",
	    .domain = k->domain,
	    .opset = *k->domain ? 1 : k->opset,
	    .name = arena_printf(k->arena, "%s/%s", k->graph->value[out].name,
	        back ? "dequantize" : "quantize"),
	    .ninputs = nin,
	    .noutputs = 1,
	    .input = copy_ids(k, in, nin),
	    .output = copy_ids(k, &out, 1),
	};

	if (axis >= 0) {
		n.nattrs = 1;
		n.attr = int_attr(k, "axis", axis);
	}
	add_node(k, &n);
}

static void
note_inserted(struct qdq_maker *k, value_id v)
{
	static const char *const type[] = {
	    "QuantizeLinear", "DequantizeLinear"};

	for (uint32_t i = 0; i < 2; i++) {
		k->inserted = arena_grow(k->arena, k->inserted,
		    &k->inserted_cap, k->ninserted + 1, sizeof *k->inserted);
		k->inserted[k->ninserted++] = (struct qdq_node){
		    k->graph->node[k->node[k->nnodes - 2 + i]].name, type[i],
		    k->region, v};
	}
}

/* `from` rounded to 8 bits and back to `to`; both are value v of the plan. */
static void
add_rounding(struct qdq_maker *k, value_id v, value_id from, value_id to)
{
	const struct quant *q = format_quant(&k->w->plan->mix->formats, v);
	const char *name = k->w->graph->value[v].name;
	const enum dtype dtype = q->is_unsigned ? DT_UINT8 : DT_INT8;
	const uint8_t zero = (uint8_t)q->zero;
	const char *at =
	    arena_printf(k->arena, "%s/%s", name, k->w->region[k->region]);
	struct type type = k->w->graph->value[v].type;
	value_id in[3], bytes;

	type.dtype = dtype;
	bytes = add_value(k, arena_printf(k->arena, "%s/quantized", at), &type);
	in[0] = from;
	in[1] =
	    add_constant(k, arena_printf(k->arena, "%s/scale", at), DT_FLOAT, 0,
	        NULL, arena_copy(k->arena, &q->scale, sizeof q->scale));
	in[2] = add_constant(k, arena_printf(k->arena, "%s/zero_point", at),
	    dtype, 0, NULL, arena_copy(k->arena, &zero, sizeof zero));
	add_quantiser(k, false, in, 3, bytes, -1);
	in[0] = bytes;
	add_quantiser(k, true, in, 3, to, -1);
	note_inserted(k, v);
}

/* ---- weights ---- */

/* Integers and their scales, as floats again. */
static value_id
add_integers(struct qdq_maker *k, const char *name, enum dtype dtype,
    uint32_t rank, const int64_t *dim, const void *data, const float *scale)
{
	const struct type type = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = rank, .dim = dim};
	value_id in[2], out;

	in[0] = add_constant(k,
	    arena_printf(k->arena, "%s/%s", name, dtype_name(dtype)), dtype,
	    rank, dim, data);
	in[1] = add_constant(k, arena_printf(k->arena, "%s/scale", name),
	    DT_FLOAT, 1, dim, scale);
	out =
	    add_value(k, arena_printf(k->arena, "%s/dequantized", name), &type);
	add_quantiser(k, true, in, 2, out, 0);
	return out;
}

/* The anchor over integers: Conv stays what it is, products become Gemm. */
static void
add_anchor(struct qdq_maker *k, const struct node *n, const struct weights8 *s)
{
	const char *name = k->graph->value[n->output[0]].name;
	const size_t channels = (size_t)s->dim[0];
	float *step = arena_new(k->arena, float, channels);
	const int64_t *dim = arena_copy(k->arena, s->dim, sizeof s->dim);
	struct node a = *n;
	value_id in[3];

	for (size_t o = 0; o < channels; o++)
		step[o] = s->input_scale * s->scale[o];
	in[0] = n->input[0];
	in[1] = add_integers(k, arena_printf(k->arena, "%s/weight", name),
	    DT_INT8, s->rank, dim, s->weight, s->scale);
	in[2] = add_integers(k, arena_printf(k->arena, "%s/bias", name),
	    DT_INT32, 1, dim, s->bias, step);
	a.ninputs = 3;
	a.input = copy_ids(k, in, 3);
	if (n->op != OP_CONV) {
		a.op = OP_GEMM;
		a.op_type = "Gemm";
		a.nattrs = 1;
		a.attr = int_attr(k, "transB", 1);
	}
	add_node(k, &a);
}

/* ---- a region ---- */

static bool
is_own(const struct qdq_maker *k, value_id v)
{
	const struct quant *q = format_quant(&k->w->plan->mix->formats, v);

	return !q || q->is_own;
}

static bool
is_output(const struct candidate *c, value_id v)
{
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (c->output[i].value == v)
			return true;
	return false;
}

static bool
reads_constant(const struct graph *g, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && graph_value(g, n->input[i])->constant)
			return true;
	return false;
}

/* What stands for the first input that is computed. */
static value_id
data_of(const struct qdq_maker *k, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && !graph_value(k->w->graph, n->input[i])->constant)
			return k->now[n->input[i]];
	return VALUE_NONE;
}

/* Biases and norms behind an anchor are part of its integers. */
static bool
is_absorbed(const struct qdq_maker *k, node_id id, const struct weights8 *s)
{
	return s && id > s->anchor
	    && reads_constant(k->w->graph, graph_node(k->w->graph, id));
}

static void
copy_node(struct qdq_maker *k, const struct candidate *c, node_id id,
    const struct weights8 *s)
{
	struct node n = *graph_node(k->graph, id);

	n.input = copy_ids(k, n.input, n.ninputs + n.nimplicit);
	n.output = copy_ids(k, n.output, n.noutputs);
	for (uint32_t i = 0; i < n.ninputs; i++)
		if (n.input[i] != VALUE_NONE)
			n.input[i] = k->now[n.input[i]];
	for (uint32_t i = 0; i < n.noutputs; i++) {
		const value_id v = n.output[i];
		const struct value *value;

		if (v == VALUE_NONE || !is_output(c, v) || is_own(k, v))
			continue;
		value = graph_value(k->w->graph, v);
		n.output[i] = add_value(k,
		    arena_printf(k->arena, "%s/float", value->name),
		    &value->type);
		k->now[v] = n.output[i];
	}
	if (s && id == s->anchor)
		add_anchor(k, &n, s);
	else
		add_node(k, &n);
}

static void
add_composite(struct qdq_maker *k, const struct candidate *c)
{
	const struct graph *g = k->w->graph;
	const struct target *t = &k->w->plan->mix->target[c->target];
	struct weights8 weights;
	const struct weights8 *s = NULL;

	if (t->kind->int8
	    && t->kind->int8->weights(&weights, t, g, c, k->arena))
		s = &weights;
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		if (is_absorbed(k, c->node[i], s))
			k->now[n->output[0]] = data_of(k, n);
		else
			copy_node(k, c, c->node[i], s);
	}
	for (uint32_t i = 0; i < c->noutputs; i++) {
		const value_id v = c->output[i].value;

		if (k->now[v] != v)
			add_rounding(k, v, k->now[v], v);
		k->now[v] = v;
	}
}

/* What a region reads is rounded at its entry, once. */
static void
add_entry(struct qdq_maker *k, value_id v)
{
	const struct value *value = graph_value(k->w->graph, v);
	value_id rounded;

	if (is_own(k, v) || k->now[v] != v)
		return;
	rounded = add_value(k,
	    arena_printf(k->arena, "%s/%s/rounded", value->name,
	        k->w->region[k->region]),
	    &value->type);
	add_rounding(k, v, v, rounded);
	k->now[v] = rounded;
}

static void
add_region(struct qdq_maker *k, uint32_t region)
{
	const struct plan_region *r = &k->w->plan->region[region];

	k->region = region;
	k->node = NULL;
	k->nnodes = k->node_cap = 0;
	for (value_id v = 0; v < k->w->graph->nvalues; v++)
		k->now[v] = v;
	for (uint32_t i = 0; i < r->ninputs; i++)
		add_entry(k, r->input[i].value);
	for (uint32_t i = 0; i < r->ncomposites; i++)
		add_composite(k, plan_candidate(k->w->plan, r->first + i));
}

/* ---- the whole ---- */

static struct graph *
copy_of(const struct graph *from, struct arena *a)
{
	struct graph *g = arena_copy(a, from, sizeof *from);

	g->arena = a;
	g->node = arena_copy(a, from->node, from->nnodes * sizeof *g->node);
	g->node_cap = from->nnodes;
	g->value = arena_copy(a, from->value, from->nvalues * sizeof *g->value);
	g->value_cap = from->nvalues;
	return g;
}

static bool
quantises(const struct emit_work *w)
{
	for (uint32_t i = 0; i < w->plan->nregions; i++)
		if (emit_target(w, i)->quantises)
			return true;
	return false;
}

const struct qdq *
qdq_of(const struct emit_work *w)
{
	struct arena *a = w->arena;
	const uint32_t n = w->plan->nregions;
	struct qdq_maker k = {.w = w, .arena = a};
	struct qdq *out = arena_new(a, struct qdq, 1);
	const node_id **node = arena_new(a, const node_id *, n);
	uint32_t *nnodes = arena_new(a, uint32_t, n);

	if (!quantises(w))
		return NULL;
	k.graph = copy_of(w->graph, a);
	k.opset = default_opset(w->in->model);
	k.opset = opset_to_write(w->graph, k.opset);
	for (node_id id = 0; id < k.graph->nnodes; id++)
		if (k.opset != default_opset(w->in->model))
			drop_spatial(&k.graph->node[id], a);
	k.domain = k.opset >= OPSET_PER_AXIS ? "" : QDQ_DOMAIN;
	k.now = arena_new(a, value_id, w->graph->nvalues);
	for (uint32_t i = 0; i < n; i++) {
		if (!emit_target(w, i)->quantises)
			continue;
		add_region(&k, i);
		node[i] = k.node;
		nnodes[i] = k.nnodes;
	}
	*out = (struct qdq){.graph = k.graph,
	    .node = node,
	    .nnodes = nnodes,
	    .ninserted = k.ninserted,
	    .inserted = k.inserted,
	    .domain = k.domain,
	    .opset = k.opset};
	return out;
}
