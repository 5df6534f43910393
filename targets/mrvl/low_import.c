#include "targets/mrvl/low.h"

#include <math.h>
#include <string.h>

#include "targets/mrvl/window.h"

/* SOURCE: python/tvm/relay/frontend/onnx.py of TVM 0.15, per operator. What has
 * no row here becomes one opaque operator: it stays on the CPU in any case. */

struct import {
	struct lowered *low;
	const struct graph *graph;
	low_id *of; /* [nvalues] */
	struct err *err;
};

typedef void (*importer)(struct import *m, node_id id, const char *name);

/* ---- helpers ---- */

static const struct node *
node_of(const struct import *m, node_id id)
{
	return graph_node(m->graph, id);
}

static struct dims
dims_or_none(const struct type *t)
{
	struct dims none = {0};

	if (t->kind != TYPE_TENSOR || t->rank > DIMS_MAX)
		return none;
	return dims_of(t);
}

/* An operator for node `id` whose shape is the node's first output's. */
static struct low
blank(const struct import *m, node_id id, enum low_kind kind, const char *name)
{
	const struct value *out = node_out(m->graph, node_of(m, id), 0);
	struct low op = {.kind = kind, .name = name, .node = id};

	op.dims = dims_or_none(&out->type);
	op.dtype = out->type.dtype;
	op.value = node_of(m, id)->output[0];
	return op;
}

static low_id
input(const struct import *m, node_id id, uint32_t i)
{
	const struct node *n = node_of(m, id);

	return i < n->ninputs && n->input[i] != VALUE_NONE ? m->of[n->input[i]]
	                                                   : LOW_NONE;
}

static low_id
add_1(struct import *m, struct low *op, low_id x)
{
	op->nin = 1;
	op->in = &x;
	return low_add(m->low, op);
}

static low_id
add_2(struct import *m, struct low *op, low_id x, low_id y)
{
	low_id in[] = {x, y};

	op->nin = 2;
	op->in = in;
	return low_add(m->low, op);
}

static void
define(struct import *m, node_id id, low_id what)
{
	m->of[node_of(m, id)->output[0]] = what;
}

static low_id
scalar(struct import *m, float x)
{
	struct tensor *t = arena_new(m->low->arena, struct tensor, 1);
	struct konst k = {.tensor = t, .scale = 1, .value = VALUE_NONE};

	*t = tensor_fill(DT_FLOAT, 0, NULL, &x);
	return low_const(m->low, &k);
}

static uint32_t
rank_of(const struct import *m, low_id id)
{
	return low_get(m->low, id)->dims.rank;
}

/* All inputs, whatever they are. */
static void
import_opaque(struct import *m, node_id id, const char *name)
{
	const struct node *n = node_of(m, id);
	struct low op = blank(m, id, LOW_OPAQUE, name);
	low_id *in =
	    arena_new(m->low->arena, low_id, (size_t)n->ninputs + n->nimplicit);
	struct dims *more = arena_new(m->low->arena, struct dims, n->noutputs);
	low_id whole;

	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
		if (n->input[i] != VALUE_NONE)
			in[op.nin++] = m->of[n->input[i]];
	op.in = in;
	for (uint32_t i = 1; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			more[op.nmore++] = dims_or_none(
			    &graph_value(m->graph, n->output[i])->type);
	op.more = more;
	whole = low_add(m->low, &op);
	if (op.nmore == 0) {
		define(m, id, whole);
		return;
	}
	for (uint32_t i = 0, k = 0; i < n->noutputs; i++) {
		const struct value *v;
		struct low field = {.kind = LOW_FIELD,
		    .name = "field",
		    .node = id,
		    .value = n->output[i]};

		if (n->output[i] == VALUE_NONE)
			continue;
		v = graph_value(m->graph, n->output[i]);
		field.dims = dims_or_none(&v->type);
		field.dtype = v->type.dtype;
		field.axis = k++;
		m->of[n->output[i]] = add_1(m, &field, whole);
	}
}

/* ---- operators ---- */

static void
import_unary(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_UNARY, name);

	define(m, id, add_1(m, &op, input(m, id, 0)));
}

static void
import_relu(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_RELU, name);

	define(m, id, add_1(m, &op, input(m, id, 0)));
}

static void
import_binary(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_BINARY, name);

	if (strcmp(name, "add") == 0)
		op.kind = LOW_ADD;
	else if (strcmp(name, "multiply") == 0)
		op.kind = LOW_MULTIPLY;
	define(m, id, add_2(m, &op, input(m, id, 0), input(m, id, 1)));
}

static void
import_sum(struct import *m, node_id id, const char *name)
{
	low_id sum = input(m, id, 0);

	for (uint32_t i = 1; i < node_of(m, id)->ninputs; i++) {
		struct low op = blank(m, id, LOW_ADD, name);

		sum = add_2(m, &op, sum, input(m, id, i));
	}
	define(m, id, sum);
}

static void
set_window(struct low *op, const struct window *w)
{
	memcpy(op->kernel, w->kernel, sizeof op->kernel);
	memcpy(op->stride, w->stride, sizeof op->stride);
	memcpy(op->dilation, w->dilation, sizeof op->dilation);
	memcpy(op->pad, w->pad, sizeof op->pad);
}

/* auto_pad SAME_*: a pad operator of its own in front. */
static low_id
same_pad(struct import *m, node_id id, low_id x, struct low *op, float value)
{
	struct low pad = *low_get(m->low, x);

	pad.kind = LOW_PAD;
	pad.name = "nn.pad";
	pad.node = id;
	pad.value = VALUE_NONE;
	memset(pad.before, 0, sizeof pad.before);
	memset(pad.after, 0, sizeof pad.after);
	for (int i = 0; i < 2; i++) {
		pad.before[2 + i] = op->pad[i];
		pad.after[2 + i] = op->pad[2 + i];
		pad.dims.dim[2 + i] += op->pad[i] + op->pad[2 + i];
	}
	memset(op->pad, 0, sizeof op->pad);
	return add_2(m, &pad, x, scalar(m, value));
}

static bool
is_static(const struct dims *d)
{
	for (uint32_t i = 0; i < d->rank; i++)
		if (d->dim[i] < 0)
			return false;
	return true;
}

static bool
is_static_image(const struct dims *d)
{
	return d->rank == 4 && is_static(d);
}

static void
import_conv(struct import *m, node_id id, const char *name)
{
	low_id x = input(m, id, 0), bias = input(m, id, 2);
	struct low op = blank(m, id, LOW_CONV, name), add = op;
	struct window w;

	if (!is_static_image(&low_get(m->low, x)->dims)
	    || !window_of(
	        &w, m->graph, node_of(m, id), low_get(m->low, x)->dims.dim)) {
		import_opaque(m, id, rank_of(m, x) == 3 ? "nn.conv1d" : name);
		return;
	}
	set_window(&op, &w);
	op.groups = attr_int_or(node_of(m, id), "group", 1);
	strcpy(op.layout, "NCHW");
	if (bias != LOW_NONE)
		op.value = VALUE_NONE;
	if (w.same)
		x = same_pad(m, id, x, &op, 0);
	x = add_2(m, &op, x, input(m, id, 1));
	if (bias != LOW_NONE) {
		add.kind = LOW_BIAS_ADD;
		add.name = "nn.bias_add";
		x = add_2(m, &add, x, bias);
	}
	define(m, id, x);
}

static void
import_pool(struct import *m, node_id id, const char *name)
{
	const struct node *n = node_of(m, id);
	low_id x = input(m, id, 0);
	bool max = n->op == OP_MAXPOOL;
	struct low op = blank(m, id, max ? LOW_MAXPOOL : LOW_AVGPOOL, name);
	struct window w;

	if (!is_static_image(&low_get(m->low, x)->dims)
	    || (n->noutputs > 1 && n->output[1] != VALUE_NONE)
	    || !window_of(&w, m->graph, n, low_get(m->low, x)->dims.dim)) {
		import_opaque(m, id, name);
		return;
	}
	set_window(&op, &w);
	strcpy(op.layout, "NCHW");
	op.ceil_mode = attr_int_or(n, "ceil_mode", 0) != 0;
	op.count_include_pad = attr_int_or(n, "count_include_pad", 0) != 0;
	if (w.same && max)
		x = same_pad(m, id, x, &op, -INFINITY);
	define(m, id, add_1(m, &op, x));
}

static void
import_global(struct import *m, node_id id, const char *name)
{
	bool max = node_of(m, id)->op == OP_GLOBALMAXPOOL;
	struct low op =
	    blank(m, id, max ? LOW_GLOBALMAXPOOL : LOW_GLOBALAVGPOOL, name);
	low_id x = input(m, id, 0);

	if (!is_static_image(&low_get(m->low, x)->dims)) {
		import_opaque(m, id, name);
		return;
	}
	strcpy(op.layout, "NCHW");
	define(m, id, add_1(m, &op, x));
}

static low_id
transposed(struct import *m, node_id id, low_id x)
{
	struct low op = *low_get(m->low, x);

	op.kind = LOW_TRANSPOSE;
	op.name = "transpose";
	op.node = id;
	op.value = VALUE_NONE;
	op.dims.dim[0] = low_get(m->low, x)->dims.dim[1];
	op.dims.dim[1] = low_get(m->low, x)->dims.dim[0];
	op.perm[0] = 1;
	op.perm[1] = 0;
	return add_1(m, &op, x);
}

static void
import_gemm(struct import *m, node_id id, const char *name)
{
	const struct node *n = node_of(m, id);
	float alpha = attr_float_or(n, "alpha", 1);
	float beta = attr_float_or(n, "beta", 1);
	low_id x = input(m, id, 0), w = input(m, id, 1), c = input(m, id, 2);
	struct low op = blank(m, id, LOW_DENSE, name), add = op, scale = op;

	if (rank_of(m, x) != 2 || rank_of(m, w) != 2) {
		import_opaque(m, id, name);
		return;
	}
	if (attr_int_or(n, "transA", 0))
		x = transposed(m, id, x);
	if (!attr_int_or(n, "transB", 0))
		w = transposed(m, id, w);
	scale.kind = LOW_MULTIPLY;
	scale.name = "multiply";
	scale.value = VALUE_NONE;
	if (alpha != 1) {
		scale.dims = low_get(m->low, x)->dims;
		x = add_2(m, &scale, x, scalar(m, alpha));
	}
	op.has_units = true;
	if (c != LOW_NONE)
		op.value = VALUE_NONE;
	x = add_2(m, &op, x, w);
	if (c != LOW_NONE) {
		add.kind = LOW_ADD;
		add.name = "add";
		if (beta != 1) {
			scale.dims = low_get(m->low, c)->dims;
			c = add_2(m, &scale, scalar(m, beta), c);
		}
		x = add_2(m, &add, x, c);
	}
	define(m, id, x);
}

static low_id
reshaped(struct import *m, node_id id, low_id x, uint32_t rank,
    const int64_t *dim, value_id v)
{
	struct low op = *low_get(m->low, x);

	op.kind = LOW_RESHAPE;
	op.name = "reshape";
	op.node = id;
	op.value = v;
	op.dims = dims_make(rank, dim);
	return add_1(m, &op, x);
}

/* A matrix on the right: rows of all leading dimensions, one dense. */
static void
import_matmul(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_DENSE, name);
	low_id x = input(m, id, 0), w = input(m, id, 1);
	struct dims d = low_get(m->low, x)->dims, out = op.dims;
	value_id result = op.value;
	int64_t rows = 1;

	if (d.rank < 2 || rank_of(m, w) != 2 || !is_static(&d)) {
		import_opaque(m, id, "nn.batch_matmul");
		return;
	}
	for (uint32_t i = 0; i + 1 < d.rank; i++)
		rows *= d.dim[i];
	op.out_float32 = true;
	op.dims = (struct dims){2, {rows, out.dim[out.rank - 1]}};
	if (d.rank > 2) {
		int64_t flat[] = {rows, d.dim[d.rank - 1]};

		x = reshaped(m, id, x, 2, flat, VALUE_NONE);
		op.value = VALUE_NONE;
	}
	x = add_2(m, &op, x, transposed(m, id, w));
	if (d.rank > 2)
		x = reshaped(m, id, x, out.rank, out.dim, result);
	define(m, id, x);
}

static void
import_batch_norm(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_BATCH_NORM, name), field = op;
	struct dims *more = arena_new(m->low->arena, struct dims, 2);
	const struct node *n = node_of(m, id);
	low_id in[5];

	if (n->noutputs > 1) { /* training */
		import_opaque(m, id, name);
		return;
	}

	for (uint32_t i = 0; i < 5; i++)
		in[i] = input(m, id, i);
	more[0] = more[1] = low_get(m->low, in[3])->dims;
	op.nin = 5;
	op.in = in;
	op.more = more;
	op.nmore = 2;
	op.axis = 1;
	op.epsilon = attr_float_or(n, "epsilon", 1e-5f);
	op.value = VALUE_NONE;
	field.kind = LOW_FIELD;
	field.name = "field";
	define(m, id, add_1(m, &field, low_add(m->low, &op)));
}

static void
import_pad(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_PAD, name);
	low_id x = input(m, id, 0), value = input(m, id, 2);
	struct padding p;

	if (!padding_of(&p, m->graph, node_of(m, id))
	    || strcmp(p.mode, "constant") != 0) {
		import_opaque(m, id, name);
		return;
	}
	memcpy(op.before, p.before, sizeof op.before);
	memcpy(op.after, p.after, sizeof op.after);
	if (value == LOW_NONE)
		value = scalar(m, (float)p.value);
	define(m, id, add_2(m, &op, x, value));
}

static void
import_concat(struct import *m, node_id id, const char *name)
{
	const struct node *n = node_of(m, id);
	struct low op = blank(m, id, LOW_CONCAT, name);
	int64_t axis = attr_int_or(n, "axis", 1);
	low_id *in = arena_new(m->low->arena, low_id, n->ninputs);

	for (uint32_t i = 0; i < n->ninputs; i++)
		in[i] = input(m, id, i);
	op.axis = (uint32_t)(axis < 0 ? axis + op.dims.rank : axis);
	op.nin = n->ninputs;
	op.in = in;
	define(m, id, low_add(m->low, &op));
}

static void
import_reshape(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_RESHAPE, name);

	define(m, id, add_1(m, &op, input(m, id, 0)));
}

static void
import_flatten(struct import *m, node_id id, const char *name)
{
	int64_t axis = attr_int_or(node_of(m, id), "axis", 1);
	struct low op = blank(m, id, LOW_BATCH_FLATTEN, name);

	if (axis != 1) {
		op.kind = LOW_RESHAPE;
		op.name = "reshape";
	}
	define(m, id, add_1(m, &op, input(m, id, 0)));
}

static void
mark_axes(struct low *op, uint32_t rank, const int64_t *axes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];

		if (axis >= 0 && axis < rank)
			op->reduced[axis] = true;
	}
}

/* Axes as an attribute (old opsets) or as a constant input. */
static size_t
read_axes(const struct import *m, const struct node *n, int64_t *axes)
{
	uint32_t count;
	const int64_t *list = attr_ints(n, "axes", &count);
	const struct value *v = n->ninputs > 1 ? node_in(m->graph, n, 1) : NULL;
	size_t k = 0;

	for (; list && k < count && k < DIMS_MAX; k++)
		axes[k] = list[k];
	if (list || !v || !v->constant)
		return k;
	for (; k < v->constant->count && k < DIMS_MAX; k++)
		axes[k] = tensor_int(v->constant, k);
	return k;
}

static void
import_squeeze(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_SQUEEZE, name);
	low_id x = input(m, id, 0);
	struct dims d = low_get(m->low, x)->dims;
	int64_t axes[DIMS_MAX];
	size_t n = read_axes(m, node_of(m, id), axes);

	mark_axes(&op, d.rank, axes, n);
	for (uint32_t i = 0; n == 0 && i < d.rank; i++)
		op.reduced[i] = d.dim[i] == 1;
	define(m, id, add_1(m, &op, x));
}

static void
import_reduce(struct import *m, node_id id, const char *name)
{
	const struct node *node = node_of(m, id);
	struct low op = blank(m, id, LOW_REDUCE, name);
	low_id x = input(m, id, 0);
	uint32_t rank = rank_of(m, x);
	int64_t axes[DIMS_MAX];
	size_t n = read_axes(m, node, axes);

	mark_axes(&op, rank, axes, n);
	for (uint32_t i = 0; n == 0 && i < rank; i++)
		op.reduced[i] = true;
	op.keepdims = attr_int_or(node, "keepdims", 1) != 0;
	define(m, id, add_1(m, &op, x));
}

static void
import_transpose(struct import *m, node_id id, const char *name)
{
	struct low op = blank(m, id, LOW_TRANSPOSE, name);
	uint32_t count;
	const int64_t *perm = attr_ints(node_of(m, id), "perm", &count);

	for (uint32_t i = 0; i < op.dims.rank; i++)
		op.perm[i] = perm && i < count ? (uint32_t)perm[i]
		                               : op.dims.rank - 1 - i;
	define(m, id, add_1(m, &op, input(m, id, 0)));
}

/* Before opset 13 the input is a matrix from `axis` on. */
static void
import_softmax(struct import *m, node_id id, const char *name)
{
	const struct node *n = node_of(m, id);
	struct low op = blank(m, id, LOW_OPAQUE, name);
	struct dims d = op.dims;
	int64_t axis = attr_int_or(n, "axis", n->opset < 13 ? 1 : -1);
	int64_t flat[] = {1, 1};
	low_id x = input(m, id, 0);

	if (axis < 0)
		axis += d.rank;
	if (n->opset >= 13 || axis == (int64_t)d.rank - 1 || !is_static(&d)) {
		define(m, id, add_1(m, &op, x));
		return;
	}
	for (uint32_t i = 0; i < d.rank; i++)
		flat[i >= axis] *= d.dim[i];
	op.value = VALUE_NONE;
	if (axis == 0)
		op.dims = (struct dims){1, {flat[1]}};
	else
		op.dims = dims_make(2, flat);
	x = reshaped(m, id, x, op.dims.rank, op.dims.dim, VALUE_NONE);
	x = add_1(m, &op, x);
	define(m, id, reshaped(m, id, x, d.rank, d.dim, n->output[0]));
}

static const struct {
	enum op op;
	importer import;
	const char *name;
} importers[] = {
    {OP_CONV, import_conv, "nn.conv2d"},
    {OP_GEMM, import_gemm, "nn.dense"},
    {OP_MATMUL, import_matmul, "nn.dense"},
    {OP_MAXPOOL, import_pool, "nn.max_pool2d"},
    {OP_AVERAGEPOOL, import_pool, "nn.avg_pool2d"},
    {OP_GLOBALAVERAGEPOOL, import_global, "nn.global_avg_pool2d"},
    {OP_GLOBALMAXPOOL, import_global, "nn.global_max_pool2d"},
    {OP_BATCHNORMALIZATION, import_batch_norm, "nn.batch_norm"},
    {OP_ADD, import_binary, "add"},
    {OP_MUL, import_binary, "multiply"},
    {OP_SUB, import_binary, "subtract"},
    {OP_DIV, import_binary, "divide"},
    {OP_POW, import_binary, "power"},
    {OP_SUM, import_sum, "add"},
    {OP_RELU, import_relu, "nn.relu"},
    {OP_SIGMOID, import_unary, "sigmoid"},
    {OP_TANH, import_unary, "tanh"},
    {OP_EXP, import_unary, "exp"},
    {OP_LOG, import_unary, "log"},
    {OP_SQRT, import_unary, "sqrt"},
    {OP_ABS, import_unary, "abs"},
    {OP_NEG, import_unary, "negative"},
    {OP_FLOOR, import_unary, "floor"},
    {OP_CEIL, import_unary, "ceil"},
    {OP_ERF, import_unary, "erf"},
    {OP_CLIP, import_unary, "clip"},
    {OP_LEAKYRELU, import_unary, "nn.leaky_relu"},
    {OP_CAST, import_unary, "cast"},
    {OP_PAD, import_pad, "nn.pad"},
    {OP_CONCAT, import_concat, "concatenate"},
    {OP_RESHAPE, import_reshape, "reshape"},
    {OP_FLATTEN, import_flatten, "nn.batch_flatten"},
    {OP_SQUEEZE, import_squeeze, "squeeze"},
    {OP_REDUCEMEAN, import_reduce, "mean"},
    {OP_REDUCESUM, import_reduce, "sum"},
    {OP_REDUCEMAX, import_reduce, "max"},
    {OP_REDUCEMIN, import_reduce, "min"},
    {OP_REDUCEPROD, import_reduce, "prod"},
    {OP_TRANSPOSE, import_transpose, "transpose"},
    {OP_SOFTMAX, import_softmax, "nn.softmax"},
    {OP_LOGSOFTMAX, import_softmax, "nn.log_softmax"},
    {OP_LRN, import_opaque, "nn.lrn"},
    {OP_CONVTRANSPOSE, import_opaque, "nn.conv2d_transpose"},
    {OP_PRELU, import_opaque, "nn.prelu"},
    {OP_UNSQUEEZE, import_opaque, "expand_dims"},
    {OP_SLICE, import_opaque, "strided_slice"},
    {OP_SPLIT, import_opaque, "split"},
    {OP_GATHER, import_opaque, "take"},
    {OP_RESIZE, import_opaque, "image.resize2d"},
    {OP_UPSAMPLE, import_opaque, "nn.upsampling"},
    {OP_INSTANCENORMALIZATION, import_opaque, "nn.instance_norm"},
    {OP_DEPTHTOSPACE, import_opaque, "nn.depth_to_space"},
    {OP_ARGMAX, import_opaque, "argmax"},
};

static void
import_node(struct import *m, node_id id)
{
	const struct node *n = node_of(m, id);

	for (size_t i = 0; i < sizeof importers / sizeof importers[0]; i++)
		if (importers[i].op == n->op && n->domain[0] == '\0') {
			importers[i].import(m, id, importers[i].name);
			return;
		}
	import_opaque(m, id, n->op_type);
}

static void
import_value(struct import *m, value_id v)
{
	const struct value *value = graph_value(m->graph, v);
	struct low var = {.kind = LOW_VAR,
	    .name = "var",
	    .node = NODE_NONE,
	    .dtype = value->type.dtype,
	    .value = v};
	const struct tensor *t = value->constant;

	if (t && t->dtype == DT_FLOAT && t->rank <= DIMS_MAX) {
		struct konst k = konst_of(m->graph, v);

		m->of[v] = low_const(m->low, &k);
		return;
	}
	var.dims = dims_or_none(&value->type);
	if (t) {
		/* not float32: nothing here looks into it */
		var.kind = LOW_CONST;
		var.name = "constant";
	}
	m->of[v] = low_add(m->low, &var);
}

bool
low_import(
    struct lowered *l, const struct graph *g, struct arena *a, struct err *err)
{
	struct import m = {.low = l, .graph = g, .err = err};

	*l = (struct lowered){.graph = g, .arena = a};
	m.of = arena_new(a, low_id, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++) {
		m.of[v] = LOW_NONE;
		if (g->value[v].producer == NODE_NONE || g->value[v].constant)
			import_value(&m, v);
	}
	for (node_id id = 0; id < g->nnodes; id++)
		import_node(&m, id);
	l->noutputs = g->noutputs;
	l->output = arena_new(a, low_id, g->noutputs);
	for (uint32_t i = 0; i < g->noutputs; i++) {
		l->output[i] = m.of[g->output[i]];
		if (l->output[i] == LOW_NONE)
			return err_set(err, ERR_UNSUPPORTED,
			    "output '%s' has no producer",
			    g->value[g->output[i]].name);
	}
	return true;
}
