#include <float.h>
#include <string.h>

#include "targets/mrvl/low_import.h"
#include "targets/mrvl/window.h"

/* Convolutions, pools, products and norms. */

static bool
is_static_image(const struct dims *d)
{
	return d->rank == 4 && dims_are_static(d);
}

/* "nn.conv" and a rank of 3 to 5: "nn.conv1d" to "nn.conv3d". */
static const char *
with_dimension(const struct import *m, const char *name, uint32_t rank)
{
	return rank < 3 ? name
	                : arena_printf(m->low->arena, "%s%ud", name, rank - 2);
}

static void
set_window(struct low *op, const struct mrvl_window *w)
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
	struct low pad = {.kind = LOW_PAD,
	    .name = "nn.pad",
	    .node = id,
	    .dims = *import_dims(m, x),
	    .dtype = low_get(m->low, x)->dtype,
	    .pad_mode = "constant",
	    .value = VALUE_NONE};
	low_id in[] = {x, import_scalar(m, value)};

	for (int i = 0; i < 2; i++) {
		pad.before[2 + i] = op->pad[i];
		pad.after[2 + i] = op->pad[2 + i];
		pad.dims.dim[2 + i] += op->pad[i] + op->pad[2 + i];
	}
	memset(op->pad, 0, sizeof op->pad);
	return import_add(m, &pad, 2, in);
}

static bool
with_bias(struct import *m, node_id id, low_id x)
{
	struct low add = import_blank(m, id, LOW_BIAS_ADD, "nn.bias_add");
	low_id in[] = {x, import_input(m, id, 2)};

	if (in[1] != LOW_NONE)
		x = import_add(m, &add, 2, in);
	return import_define(m, id, x);
}

/* A convolution that keeps its layout: of another rank, or transposed. */
static bool
fixed_conv(struct import *m, node_id id, const char *name, bool transposed)
{
	static const char *const data[] = {
	    [3] = "NCW", [4] = "NCHW", [5] = "NCDHW"};
	static const char *const kernel[] = {
	    [3] = "OIW", [4] = "OIHW", [5] = "OIDHW"};
	struct low op = import_blank(m, id, LOW_FIXED, name);
	low_id in[] = {import_input(m, id, 0), import_input(m, id, 1)};
	uint32_t rank = import_rank(m, in[0]);

	if (rank < 3 || rank > 5)
		return import_opaque(m, id, name);
	strcpy(op.layout, data[rank]);
	strcpy(op.to, kernel[rank]);
	if (transposed) {
		op.to[0] = 'I';
		op.to[1] = 'O';
	}
	return with_bias(m, id, import_add(m, &op, 2, in));
}

bool
import_conv(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0), in[2];
	struct low op = import_blank(m, id, LOW_CONV, name);
	uint32_t rank = import_rank(m, x);
	struct mrvl_window w;

	if (rank != 4)
		return fixed_conv(
		    m, id, with_dimension(m, "nn.conv", rank), false);
	if (!is_static_image(import_dims(m, x))
	    || !window_of(
	        &w, m->graph, import_node_of(m, id), import_dims(m, x)->dim))
		return import_opaque(m, id, name);
	set_window(&op, &w);
	op.groups = attr_int_or(import_node_of(m, id), "group", 1);
	strcpy(op.layout, "NCHW");
	if (w.same)
		x = same_pad(m, id, x, &op, 0);
	in[0] = x;
	in[1] = import_input(m, id, 1);
	return with_bias(m, id, import_add(m, &op, 2, in));
}

bool
import_deconv(struct import *m, node_id id, const char *name)
{
	uint32_t rank = import_rank(m, import_input(m, id, 0));

	name = rank == 3 ? "nn.conv1d_transpose"
	                 : (rank == 5 ? "nn.conv3d_transpose" : name);
	return fixed_conv(m, id, name, true);
}

static bool
pool_2d(struct import *m, node_id id, const char *name, low_id x)
{
	const struct node *n = import_node_of(m, id);
	bool max = n->op == OP_MAXPOOL;
	struct low op =
	    import_blank(m, id, max ? LOW_MAXPOOL : LOW_AVGPOOL, name);
	struct mrvl_window w;

	if (!is_static_image(import_dims(m, x))
	    || !window_of(&w, m->graph, n, import_dims(m, x)->dim))
		return import_opaque(m, id, name);
	set_window(&op, &w);
	strcpy(op.layout, "NCHW");
	op.ceil_mode = attr_int_or(n, "ceil_mode", 0) != 0;
	op.count_include_pad = attr_int_or(n, "count_include_pad", 0) != 0;
	if (w.same && max)
		x = same_pad(m, id, x, &op, -FLT_MAX);
	return import_define(m, id, import_add(m, &op, 1, &x));
}

bool
import_pool(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	low_id x = import_input(m, id, 0);
	uint32_t rank = import_rank(m, x);

	if (n->noutputs > 1 && n->output[1] != VALUE_NONE)
		return err_set(m->err, ERR_UNSUPPORTED,
		    "node '%s': upstream has no indices of a %s", n->name,
		    n->op_type);
	name = with_dimension(m, name, rank);
	return rank == 4 ? pool_2d(m, id, name, x) : import_opaque(m, id, name);
}

bool
import_global(struct import *m, node_id id, const char *name)
{
	bool max = import_node_of(m, id)->op == OP_GLOBALMAXPOOL;
	struct low op = import_blank(
	    m, id, max ? LOW_GLOBALMAXPOOL : LOW_GLOBALAVGPOOL, name);
	low_id x = import_input(m, id, 0);

	op.name = with_dimension(m, name, import_rank(m, x));
	if (!is_static_image(import_dims(m, x)))
		return import_opaque(m, id, op.name);
	strcpy(op.layout, "NCHW");
	return import_define(m, id, import_add(m, &op, 1, &x));
}

/* ---- products ---- */

static struct low
dense_op(const struct import *m, node_id id)
{
	struct low op = import_blank(m, id, LOW_DENSE, "nn.dense");

	strcpy(op.layout, "NC");
	strcpy(op.to, "NC");
	return op;
}

bool
import_gemm(struct import *m, node_id id, const char *name)
{
	static const uint32_t swap[] = {1, 0};
	const struct node *n = import_node_of(m, id);
	float alpha = attr_float_or(n, "alpha", 1);
	float beta = attr_float_or(n, "beta", 1);
	low_id x = import_input(m, id, 0), w = import_input(m, id, 1);
	low_id c = import_input(m, id, 2);
	struct low op = dense_op(m, id);

	if (import_rank(m, x) != 2 || import_rank(m, w) != 2)
		return import_opaque(m, id, name);
	if (attr_int_or(n, "transA", 0))
		x = step_transpose(m, id, x, swap);
	if (!attr_int_or(n, "transB", 0))
		w = step_transpose(m, id, w, swap);
	if (alpha < 1 || alpha > 1)
		x = step_binary(m, id, "multiply", x, import_scalar(m, alpha));
	op.has_units = true;
	x = import_add(m, &op, 2, (low_id[]){x, w});
	if (c != LOW_NONE && (beta < 1 || beta > 1))
		c = step_binary(m, id, "multiply", import_scalar(m, beta), c);
	if (c != LOW_NONE)
		x = step_binary(m, id, "add", x, c);
	return import_define(m, id, x);
}

/* Batches broadcast, then three dimensions, the second transposed. */
static low_id
batch_operand(struct import *m, node_id id, low_id x, const struct dims *out)
{
	struct low all = import_blank(m, id, LOW_OPAQUE, "broadcast_to");
	struct dims own = *import_dims(m, x), flat = {3, {1}};

	all.dims = *out;
	for (uint32_t i = 0; i < 2; i++)
		all.dims.dim[out->rank - 2 + i] = own.dim[own.rank - 2 + i];
	if (!dims_equal(&own, &all.dims))
		x = import_add(m, &all, 1, &x);
	for (uint32_t i = 0; i + 2 < all.dims.rank; i++)
		flat.dim[0] *= all.dims.dim[i];
	flat.dim[1] = own.dim[own.rank - 2];
	flat.dim[2] = own.dim[own.rank - 1];
	return all.dims.rank == 3 ? x : step_reshape(m, id, x, &flat);
}

static bool
batch_matmul(struct import *m, node_id id, low_id x, low_id w)
{
	static const uint32_t swap[] = {0, 2, 1};
	struct low op = import_blank(m, id, LOW_OPAQUE, "nn.batch_matmul");
	struct dims out = op.dims;
	low_id in[2];

	in[0] = batch_operand(m, id, x, &out);
	in[1] = batch_operand(m, id, w, &out);
	op.dims.rank = 3;
	op.dims.dim[0] = import_dims(m, in[0])->dim[0];
	op.dims.dim[1] = out.dim[out.rank - 2];
	op.dims.dim[2] = out.dim[out.rank - 1];
	in[1] = step_transpose(m, id, in[1], swap);
	x = import_add(m, &op, 2, in);
	return import_define(m, id, step_reshape(m, id, x, &out));
}

/* A matrix on the right: rows of all leading dimensions, one dense. */
static bool
dense_matmul(struct import *m, node_id id, low_id x, low_id w)
{
	static const uint32_t swap[] = {1, 0};
	struct low op = dense_op(m, id);
	struct dims d = *import_dims(m, x), out = op.dims, flat = {2, {1}};

	for (uint32_t i = 0; i + 1 < d.rank; i++)
		flat.dim[0] *= d.dim[i];
	flat.dim[1] = d.dim[d.rank - 1];
	op.out_float32 = true;
	op.dims = flat;
	op.dims.dim[1] = out.dim[out.rank - 1];
	if (d.rank > 2)
		x = step_reshape(m, id, x, &flat);
	w = step_transpose(m, id, w, swap);
	x = import_add(m, &op, 2, (low_id[]){x, w});
	if (d.rank > 2)
		x = step_reshape(m, id, x, &out);
	return import_define(m, id, x);
}

bool
import_matmul(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0), w = import_input(m, id, 1);
	const struct dims *a = import_dims(m, x), *b = import_dims(m, w);

	(void)name;
	if (a->rank < 2 || b->rank < 2 || !dims_are_static(a)
	    || !dims_are_static(b))
		return import_opaque(m, id, "nn.batch_matmul");
	return b->rank == 2 ? dense_matmul(m, id, x, w)
	                    : batch_matmul(m, id, x, w);
}

/* ---- norms and pads ---- */

bool
import_batch_norm(struct import *m, node_id id, const char *name)
{
	struct low op = import_blank(m, id, LOW_BATCH_NORM, name), field = op;
	struct dims *more = arena_new(m->low->arena, struct dims, 2);
	const struct node *n = import_node_of(m, id);
	low_id in[5], norm;

	if (n->noutputs > 1) /* training */
		return import_opaque(m, id, name);
	for (uint32_t i = 0; i < 5; i++)
		in[i] = import_input(m, id, i);
	more[0] = more[1] = *import_dims(m, in[3]);
	op.more = more;
	op.nmore = 2;
	op.axis = 1;
	op.epsilon = attr_float_or(n, "epsilon", 1e-5F);
	norm = import_add(m, &op, 5, in);
	field.kind = LOW_FIELD;
	field.name = "field";
	return import_define(m, id, import_add(m, &field, 1, &norm));
}

bool
import_instance_norm(struct import *m, node_id id, const char *name)
{
	struct low op = import_blank(m, id, LOW_NORM, name);
	low_id in[3];

	for (uint32_t i = 0; i < 3; i++)
		in[i] = import_input(m, id, i);
	op.axis = 1;
	return import_define(m, id, import_add(m, &op, 3, in));
}

static low_id
mean_of(struct import *m, node_id id, const char *name, low_id x, low_id mean)
{
	const struct dims *d = import_dims(m, x);
	struct low op = {.kind = LOW_REDUCE,
	    .name = name,
	    .node = id,
	    .dims = *d,
	    .dtype = DT_FLOAT,
	    .keepdims = true,
	    .value = VALUE_NONE};
	int64_t axis = attr_int_or(import_node_of(m, id), "axis", -1);
	low_id in[] = {x, mean};

	for (uint32_t i = (uint32_t)(axis < 0 ? axis + d->rank : axis);
	     i < d->rank; i++) {
		op.reduced[i] = true;
		op.dims.dim[i] = 1;
	}
	return import_add(m, &op, mean == LOW_NONE ? 1 : 2, in);
}

/* (x - mean) * (1 / sqrt(variance + epsilon)) * gamma + beta */
bool
import_layer_norm(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	low_id x = import_input(m, id, 0), beta = import_input(m, id, 2);
	low_id mean, y, epsilon;

	if (n->noutputs > 1)
		return import_opaque(m, id, name[0] ? name : n->op_type);
	mean = mean_of(m, id, "mean", x, LOW_NONE);
	epsilon = import_scalar(m, attr_float_or(n, "epsilon", 1e-5F));
	y = mean_of(m, id, "variance", x, mean);
	y = step_binary(m, id, "add", y, epsilon);
	y = step_unary(m, id, "sqrt", y);
	y = step_binary(m, id, "divide", import_scalar(m, 1), y);
	x = step_binary(m, id, "subtract", x, mean);
	x = step_binary(m, id, "multiply", x, y);
	x = step_binary(m, id, "multiply", x, import_input(m, id, 1));
	if (beta != LOW_NONE)
		x = step_binary(m, id, "add", x, beta);
	return import_define(m, id, x);
}

bool
import_pad(struct import *m, node_id id, const char *name)
{
	struct low op = import_blank(m, id, LOW_PAD, name);
	low_id in[] = {import_input(m, id, 0), import_input(m, id, 2)};
	struct padding p;

	if (!padding_of(&p, m->graph, import_node_of(m, id)))
		return import_opaque(m, id, name);
	memcpy(op.before, p.before, sizeof op.before);
	memcpy(op.after, p.after, sizeof op.after);
	op.pad_mode = p.mode;
	if (in[1] == LOW_NONE)
		in[1] = import_scalar(m, (float)p.value);
	return import_define(m, id, import_add(m, &op, 2, in));
}
