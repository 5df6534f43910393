#include <float.h>
#include <math.h>
#include <string.h>

#include "targets/mrvl/low_import.h"

/* Element-wise operators, and those that upstream spells out in others. The
 * order in which a formula's parts are made does not matter, the order of its
 * operands does. */

/* An operator that is the node's value: the type is the node's own. */
static bool
finish(struct import *m, node_id id, low_id x)
{
	struct low own = import_blank(m, id, LOW_OPAQUE, "");

	m->low->op[x].dims = own.dims;
	m->low->op[x].dtype = own.dtype;
	return import_define(m, id, x);
}

bool
import_unary(struct import *m, node_id id, const char *name)
{
	low_id y = step_unary(m, id, name, import_input(m, id, 0));

	if (strcmp(name, "cast") == 0)
		m->low->op[y].kind = LOW_CAST;
	return finish(m, id, y);
}

bool
import_binary(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0), y = import_input(m, id, 1);

	return finish(m, id, step_binary(m, id, name, x, y));
}

bool
import_chain(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0);
	uint32_t n = import_node_of(m, id)->ninputs;

	for (uint32_t i = 1; i < n; i++)
		x = step_binary(m, id, name, x, import_input(m, id, i));
	return n > 1 ? finish(m, id, x) : import_define(m, id, x);
}

/* Stacked, then averaged over the stack. */
bool
import_mean(struct import *m, node_id id, const char *name)
{
	uint32_t n = import_node_of(m, id)->ninputs;
	struct low stack = import_blank(m, id, LOW_CONCAT, "concatenate");
	struct low mean = import_blank(m, id, LOW_REDUCE, name);
	low_id *in = arena_new(m->low->arena, low_id, n), whole;

	if (n == 1)
		return import_define(m, id, import_input(m, id, 0));
	if (stack.dims.rank == DIMS_MAX)
		return import_opaque(m, id, name);
	for (uint32_t i = 0; i < n; i++)
		in[i] = step_expand(m, id, import_input(m, id, i), 0);
	stack.dims = *import_dims(m, in[0]);
	stack.dims.dim[0] = n;
	whole = import_add(m, &stack, n, in);
	mean.reduced[0] = true;
	return import_define(m, id, import_add(m, &mean, 1, &whole));
}

/* ---- clipping ---- */

static low_id
step_clip(struct import *m, node_id id, low_id x, float min, float max)
{
	low_id y = step_unary(m, id, "clip", x);

	m->low->op[y].kind = LOW_CLIP;
	m->low->op[y].min = min;
	m->low->op[y].max = max;
	return y;
}

static bool
constant_limit(const struct import *m, node_id id, uint32_t i, float *x)
{
	const struct node *n = import_node_of(m, id);
	const struct value *v = i < n->ninputs && n->input[i] != VALUE_NONE
	    ? node_in(m->graph, n, i)
	    : NULL;

	if (!v || !v->constant || v->constant->count == 0)
		return false;
	*x = (float)tensor_real(v->constant, 0);
	return true;
}

/* Upstream drops a constant limit whose other side is open; limits that are
 * computed become operators. */
bool
import_clip(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	low_id x = import_input(m, id, 0), low, high;
	bool has_min, has_max;
	float min, max;

	(void)name;
	if (n->opset < 11) {
		min = attr_float_or(n, "min", -INFINITY);
		max = attr_float_or(n, "max", INFINITY);
		return finish(m, id, step_clip(m, id, x, min, max));
	}
	has_max = constant_limit(m, id, 2, &max);
	has_min = constant_limit(m, id, 1, &min);
	if (has_min && has_max)
		return finish(m, id, step_clip(m, id, x, min, max));
	low = has_min ? LOW_NONE : import_input(m, id, 1);
	/* a constant second limit was cut off with the list behind it */
	high = has_max || has_min ? LOW_NONE : import_input(m, id, 2);
	if (low != LOW_NONE)
		x = step_binary(m, id, "maximum", x, low);
	if (high != LOW_NONE)
		x = step_binary(m, id, "minimum", x, high);
	return import_define(m, id, x);
}

static low_id
hard_sigmoid(struct import *m, node_id id, float alpha)
{
	const struct node *n = import_node_of(m, id);
	low_id x = import_input(m, id, 0);

	alpha = attr_float_or(n, "alpha", alpha);
	x = step_binary(m, id, "multiply", x, import_scalar(m, alpha));
	x = step_binary(
	    m, id, "add", x, import_scalar(m, attr_float_or(n, "beta", 0.5F)));
	return step_clip(m, id, x, 0, 1);
}

bool
import_hard_sigmoid(struct import *m, node_id id, const char *name)
{
	(void)name;
	return finish(m, id, hard_sigmoid(m, id, 0.2F));
}

bool
import_hard_swish(struct import *m, node_id id, const char *name)
{
	low_id y = hard_sigmoid(m, id, 1.0F / 6), x = import_input(m, id, 0);

	(void)name;
	return finish(m, id, step_binary(m, id, "multiply", x, y));
}

/* ---- exponentials ---- */

/* -alpha * relu(1 - exp(x)) + relu(x) */
static low_id
elu(struct import *m, node_id id, float alpha)
{
	low_id x = import_input(m, id, 0), y = step_unary(m, id, "exp", x);

	y = step_binary(m, id, "subtract", import_scalar(m, 1), y);
	y = step_unary(m, id, "nn.relu", y);
	y = step_binary(m, id, "multiply", import_scalar(m, -alpha), y);
	return step_binary(m, id, "add", y, step_unary(m, id, "nn.relu", x));
}

bool
import_elu(struct import *m, node_id id, const char *name)
{
	float alpha = attr_float_or(import_node_of(m, id), "alpha", 1);

	(void)name;
	return finish(m, id, elu(m, id, alpha));
}

bool
import_selu(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	float alpha = attr_float_or(n, "alpha", 1.6732632F);
	low_id gamma = import_scalar(m, attr_float_or(n, "gamma", 1.0507010F));

	(void)name;
	return finish(
	    m, id, step_binary(m, id, "multiply", gamma, elu(m, id, alpha)));
}

/* maximum(0, x) + minimum(0, alpha * (exp(x / alpha) - 1)) */
bool
import_celu(struct import *m, node_id id, const char *name)
{
	float a = attr_float_or(import_node_of(m, id), "alpha", 1);
	low_id alpha = import_scalar(m, a), x = import_input(m, id, 0), y;

	(void)name;
	y = step_binary(m, id, "divide", x, alpha);
	y = step_unary(m, id, "exp", y);
	y = step_binary(m, id, "subtract", y, import_scalar(m, 1));
	y = step_binary(m, id, "multiply", alpha, y);
	y = step_binary(m, id, "minimum", import_scalar(m, 0), y);
	x = step_binary(m, id, "maximum", import_scalar(m, 0), x);
	return finish(m, id, step_binary(m, id, "add", x, y));
}

static low_id
softplus(struct import *m, node_id id, bool one_first)
{
	low_id x = step_unary(m, id, "exp", import_input(m, id, 0));
	low_id one = import_scalar(m, 1);

	x = one_first ? step_binary(m, id, "add", one, x)
	              : step_binary(m, id, "add", x, one);
	return step_unary(m, id, "log", x);
}

bool
import_softplus(struct import *m, node_id id, const char *name)
{
	(void)name;
	return finish(m, id, softplus(m, id, false));
}

bool
import_mish(struct import *m, node_id id, const char *name)
{
	low_id y = step_unary(m, id, "tanh", softplus(m, id, true));

	(void)name;
	return finish(
	    m, id, step_binary(m, id, "multiply", import_input(m, id, 0), y));
}

/* (0.5 * x) * (1 + erf(x / sqrt(2))) */
bool
import_gelu(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0), half, y;

	(void)name;
	half = step_binary(m, id, "multiply", import_scalar(m, 0.5F), x);
	y = step_binary(m, id, "divide", x, import_scalar(m, sqrtf(2)));
	y = step_unary(m, id, "erf", y);
	y = step_binary(m, id, "add", import_scalar(m, 1), y);
	return finish(m, id, step_binary(m, id, "multiply", half, y));
}

bool
import_softsign(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0), y = step_unary(m, id, "abs", x);

	y = step_binary(m, id, "add", import_scalar(m, 1), y);
	return finish(m, id, step_binary(m, id, name, x, y));
}

bool
import_reciprocal(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0);

	return finish(m, id, step_binary(m, id, name, import_scalar(m, 1), x));
}

/* ---- along axes ---- */

static struct dims
flat(const struct dims *d)
{
	struct dims out = {1, {1}};

	for (uint32_t i = 0; i < d->rank; i++)
		out.dim[0] *= d->dim[i];
	return out;
}

/* Everything in one row, the slopes too. */
bool
import_prelu(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0), slope = import_input(m, id, 1);
	struct low op = import_blank(m, id, LOW_OPAQUE, name), all = op;
	struct dims own = *import_dims(m, x), row = flat(&own);
	bool constant = low_is_const(m->low, slope);
	low_id in[2];

	if (!dims_are_static(&own))
		return import_opaque(m, id, name);
	all.dims = constant ? row : own;
	all.name = "broadcast_to";
	if (constant)
		all.kind = LOW_CONST;
	slope = import_add(m, &all, constant ? 0 : 1, &slope);
	in[0] = step_reshape(m, id, x, &row);
	in[1] = constant ? slope : step_reshape(m, id, slope, &row);
	op.dims = row;
	x = import_add(m, &op, 2, in);
	return import_define(m, id, step_reshape(m, id, x, &own));
}

static low_id
softmax(struct import *m, node_id id, const char *name, low_id x)
{
	const struct node *n = import_node_of(m, id);
	struct low op = import_blank(m, id, LOW_OPAQUE, name);
	struct dims d = op.dims, matrix = {2, {1, 1}};
	int64_t axis = attr_int_or(n, "axis", n->opset < 13 ? 1 : -1);

	if (axis < 0)
		axis += d.rank;
	if (n->opset >= 13 || axis == (int64_t)d.rank - 1
	    || !dims_are_static(&d))
		return import_add(m, &op, 1, &x);
	for (uint32_t i = 0; i < d.rank; i++)
		matrix.dim[i >= axis] *= d.dim[i];
	op.dims = axis == 0 ? flat(&d) : matrix;
	x = step_reshape(m, id, x, &op.dims);
	x = import_add(m, &op, 1, &x);
	return step_reshape(m, id, x, &d);
}

/* Before opset 13 the input is a matrix from `axis` on. */
bool
import_softmax(struct import *m, node_id id, const char *name)
{
	low_id x = softmax(m, id, name, import_input(m, id, 0));

	if (import_node_of(m, id)->op == OP_LOGSOFTMAX)
		x = step_unary(m, id, "log", x);
	return import_define(m, id, x);
}
