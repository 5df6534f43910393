#include "targets/known.h"

#include <math.h>

#include "targets/guarded.h"
#include "targets/host/walk.h"
#include "targets/step.h"

#define OPEN 0 /* nobody knows */
#define LOOKED 32 /* the guard's limit */
/* TUNING: what goes into a product is looked at when its sums could get beyond. Beyond
 * the second nothing is known: it leaves 2^31 for sums of pools, and for tiles of
 * Winograd's convolutions. */
#define SOFT 64
#define HARD 96

/* Which bound follows from those of what is read. */
enum growth {
	UNKNOWN = 0,
	SAME, /* the first input's */
	LARGEST, /* of all inputs */
	TOTAL, /* their sum */
	FACTORS, /* their product */
	QUOTIENT, /* by a constant */
	UNIT, /* below 2, if what is read is finite */
	OVERSHOT, /* four times the first input's */
	POOLED,
	PADDED,
	SLOPED,
	CLIPPED,
	NORMED,
	PRODUCT, /* sums of products with a constant */
};

/* clang-format off */
static const uint8_t growth_of[NOP] = {
	[OP_RELU] = SAME, [OP_HARDSWISH] = SAME, [OP_ABS] = SAME, [OP_NEG] = SAME,
	[OP_MAXPOOL] = POOLED, [OP_AVERAGEPOOL] = POOLED,
	[OP_GLOBALAVERAGEPOOL] = SAME, [OP_GLOBALMAXPOOL] = SAME,
	[OP_REDUCEMEAN] = SAME, [OP_REDUCEMAX] = SAME, [OP_REDUCEMIN] = SAME,
	[OP_RESHAPE] = SAME, [OP_FLATTEN] = SAME, [OP_SQUEEZE] = SAME,
	[OP_UNSQUEEZE] = SAME, [OP_TRANSPOSE] = SAME, [OP_IDENTITY] = SAME,
	[OP_SLICE] = SAME, [OP_SPLIT] = SAME,
	[OP_EXPAND] = SAME, [OP_TILE] = SAME, [OP_GATHER] = SAME,
	[OP_DEPTHTOSPACE] = SAME, [OP_SPACETODEPTH] = SAME,
	[OP_CONCAT] = LARGEST, [OP_MAX] = LARGEST, [OP_MIN] = LARGEST,
	[OP_ADD] = TOTAL, [OP_SUB] = TOTAL, [OP_SUM] = TOTAL,
	[OP_MUL] = FACTORS, [OP_DIV] = QUOTIENT,
	[OP_SIGMOID] = UNIT, [OP_HARDSIGMOID] = UNIT, [OP_TANH] = UNIT,
	[OP_RESIZE] = OVERSHOT, [OP_PAD] = PADDED,
	[OP_LEAKYRELU] = SLOPED, [OP_ELU] = SLOPED,
	[OP_CLIP] = CLIPPED,
	[OP_BATCHNORMALIZATION] = NORMED,
	[OP_CONV] = PRODUCT, [OP_CONVTRANSPOSE] = PRODUCT,
	[OP_GEMM] = PRODUCT, [OP_MATMUL] = PRODUCT,
};
/* clang-format on */

/* The power of two that |x| is below; 1 at least. */
static int
power(double x)
{
	int e;

	if (!isfinite(x))
		return OPEN;
	frexp(x, &e);
	return e < 1 ? 1 : e;
}

static int
within(int e)
{
	return e > HARD ? OPEN : e;
}

static int
of_constant(struct value *v)
{
	switch (constant_magnitude(v)) {
	case MAGNITUDE_TINY:
		return MAGNITUDE_TINY_POWER;
	case MAGNITUDE_SMALL:
		return LOOKED;
	default:
		return OPEN;
	}
}

static bool
is_float(const struct value *v)
{
	return v->type.kind == TYPE_TENSOR && v->type.dtype == DT_FLOAT;
}

static int
of_input(const struct graph *g, const struct node *n, uint32_t i)
{
	const value_id id = node_input(n, i);
	struct value *v = id == VALUE_NONE ? NULL : graph_value(g, id);

	if (!v || !is_float(v) || !type_is_static(&v->type)
	    || shape_count(v->type.dim, 0, v->type.rank) == 0)
		return OPEN;
	return v->constant ? of_constant(v) : v->below;
}

static int
largest(const struct graph *g, const struct node *n)
{
	int most = 1;

	for (uint32_t i = 0; i < n->ninputs; i++) {
		const int e = of_input(g, n, i);

		if (e == OPEN)
			return OPEN;
		most = e > most ? e : most;
	}
	return most;
}

static int
product(const struct graph *g, const struct node *n)
{
	int sum = 0;

	for (uint32_t i = 0; i < n->ninputs; i++) {
		const int e = of_input(g, n, i);

		if (e == OPEN)
			return OPEN;
		sum += e;
	}
	return sum;
}

static int
quotient(const struct graph *g, const struct node *n)
{
	const int e = of_input(g, n, 0);
	float by;

	if (e == OPEN || !constant_scalar(g, node_input(n, 1), &by) || by == 0)
		return OPEN;
	return e + power(1 / (double)by);
}

/* A parameter that is an attribute, or since some opset an input; left out as given.
 * False: it is computed. */
static bool
read_number(const struct graph *g, const struct node *n, const char *name,
    uint32_t slot, float *x)
{
	*x = attr_float_or(n, name, *x);
	return node_input(n, slot) == VALUE_NONE
	    || constant_scalar(g, node_input(n, slot), x);
}

static int
larger(int a, int b)
{
	return a == OPEN || b == OPEN ? OPEN : a > b ? a : b;
}

static int
clipped(const struct graph *g, const struct node *n)
{
	float low = -INFINITY, high = INFINITY;
	int e = of_input(g, n, 0), most = 1;

	if (!read_number(g, n, "min", 1, &low)
	    || !read_number(g, n, "max", 2, &high) || isnan(low) || isnan(high)
	    || e == OPEN)
		return OPEN;
	if (isfinite(low))
		most = larger(most, power((double)low));
	if (isfinite(high))
		most = larger(most, power((double)high));
	return isfinite(low) && isfinite(high) ? most : larger(e, most);
}

static int
padded(const struct graph *g, const struct node *n)
{
	float value = 0;

	if (!read_number(g, n, "value", 2, &value))
		return OPEN;
	return larger(of_input(g, n, 0), power((double)value));
}

static int
sloped(const struct graph *g, const struct node *n)
{
	const float otherwise = n->op == OP_ELU ? 1 : 0.01f;
	const float alpha = attr_float_or(n, "alpha", otherwise);
	const int e = of_input(g, n, 0), slope = power((double)alpha);

	return e == OPEN || slope == OPEN ? OPEN : e + slope;
}

/* A window that only sees padding makes what it likes. */
static int
pooled(const struct graph *g, const struct node *n)
{
	uint32_t nkernel, npads, nsteps;
	const int64_t *kernel = attr_ints(n, "kernel_shape", &nkernel);
	const int64_t *pads = attr_ints(n, "pads", &npads);
	const int64_t *step = attr_ints(n, "dilations", &nsteps);

	for (uint32_t i = 0; i < nsteps; i++)
		if (step[i] != 1)
			return OPEN;
	if (attr_int_or(n, "ceil_mode", 0))
		return OPEN;
	for (uint32_t i = 0; i < npads; i++)
		if (nkernel == 0 || pads[i] >= kernel[i % nkernel])
			return OPEN;
	return of_input(g, n, 0);
}

/* A cubic goes beyond what it interpolates. */
static int
overshot(const struct graph *g, const struct node *n)
{
	const float cubic = attr_float_or(n, "cubic_coeff_a", -0.75f);
	const int e = of_input(g, n, 0);

	if (!(fabsf(cubic) <= 1) || attr_int_or(n, "exclude_outside", 0)
	    || attr_is(n, "coordinate_transformation_mode", "half_pixel",
	        "tf_crop_and_resize"))
		return OPEN;
	return e == OPEN ? OPEN : e + 2;
}

static int
unit(const struct graph *g, const struct node *n)
{
	if (!isfinite(attr_float_or(n, "alpha", 0))
	    || !isfinite(attr_float_or(n, "beta", 0)))
		return OPEN;
	return of_input(g, n, 0) == OPEN ? OPEN : 1;
}

static bool
trains(const struct node *n)
{
	return attr_int_or(n, "training_mode", 0)
	    || (n->opset < 7 && !attr_int_or(n, "is_test", 0))
	    || n->noutputs > 1;
}

static bool
parameters(
    const struct graph *g, const struct node *n, const struct tensor *t[5])
{
	for (uint32_t i = 1; i < 5; i++) {
		const struct value *v = node_in(g, n, i);

		if (!v || !v->constant
		    || (i > 1 && v->constant->count != t[1]->count))
			return false;
		t[i] = v->constant;
	}
	return true;
}

/* (x - mean) * scale / sqrt(variance + epsilon) + shift; with all that constant. */
static int
normed(const struct graph *g, const struct node *n)
{
	const double epsilon = (double)attr_float_or(n, "epsilon", 1e-5f);
	const struct tensor *t[5] = {NULL};
	const int e = of_input(g, n, 0);
	double factor = 0, add = 0;

	if (e == OPEN || trains(n) || !parameters(g, n, t))
		return OPEN;
	for (size_t i = 0; i < t[1]->count; i++) {
		const double f = fabs(tensor_real(t[1], i))
		    / sqrt(tensor_real(t[4], i) + epsilon);
		const double s =
		    f * fabs(tensor_real(t[3], i)) + fabs(tensor_real(t[2], i));

		if (!isfinite(f) || !isfinite(s))
			return OPEN;
		factor = fmax(factor, f);
		add = fmax(add, s);
	}
	return larger(e + power(factor), power(add)) + 1;
}

/* How many products are summed; 0: not known. */
static size_t
terms(const struct graph *g, const struct node *n)
{
	const struct value *v = node_in(g, n, 1);
	const struct tensor *w = v ? v->constant : NULL;
	int64_t outputs;

	if (!w || w->rank < 2)
		return 0;
	if (n->op == OP_CONV)
		outputs = w->dim[0];
	else if (n->op == OP_CONVTRANSPOSE)
		outputs = w->dim[1];
	else
		outputs = w->dim[n->op == OP_GEMM && attr_int_or(n, "transB", 0)
		        ? 0
		        : w->rank - 1];
	return outputs > 0 ? w->count / (size_t)outputs : 0;
}

/* By how much a product is above its input; OPEN: nobody knows. */
static int
gain(const struct graph *g, const struct node *n)
{
	const size_t sum = terms(g, n);
	const int weight = of_input(g, n, 1);
	double factor = 1;

	if (n->op == OP_GEMM)
		factor = fmax(fabs((double)attr_float_or(n, "alpha", 1)), 1);
	if (sum == 0 || weight == OPEN || !isfinite(factor))
		return OPEN;
	return weight + power((double)sum) + power(factor) - 1;
}

static bool
is_depthwise(const struct node *n)
{
	return n->op == OP_CONV && attr_int_or(n, "group", 1) > 1;
}

/* The input of a product, looked at if need be: convolutions that one composite takes
 * with what is before them, as late as can be. */
static int
product_input(const struct graph *g, const struct node *n, int gained)
{
	const int most = is_depthwise(n) ? HARD - 16 : SOFT;
	struct value *v = graph_value(g, n->input[0]);

	if (!v->constant && is_float(v)
	    && (v->below == OPEN
	        || (v->below > LOOKED && v->below + gained > most))) {
		v->below = LOOKED;
		v->looked_at = true;
	}
	return of_input(g, n, 0);
}

static int
summed_products(const struct graph *g, const struct node *n)
{
	const int gained = gain(g, n);
	const bool has_bias = node_input(n, 2) != VALUE_NONE;
	const int bias = has_bias ? of_input(g, n, 2) : 1;
	const int beta =
	    n->op == OP_GEMM ? power((double)attr_float_or(n, "beta", 1)) : 1;
	int e;

	if (gained == OPEN || bias == OPEN || beta == OPEN)
		return OPEN;
	e = product_input(g, n, gained);
	if (e == OPEN)
		return OPEN;
	return larger(e + gained, bias + beta) + 1;
}

static int
below_of(const struct graph *g, const struct node *n)
{
	const int all = largest(g, n);

	switch ((enum growth)growth_of[n->op]) {
	case SAME:
		return of_input(g, n, 0);
	case LARGEST:
		return all;
	case TOTAL:
		return all == OPEN ? OPEN : all + power((double)n->ninputs);
	case FACTORS:
		return product(g, n);
	case QUOTIENT:
		return quotient(g, n);
	case UNIT:
		return unit(g, n);
	case OVERSHOT:
		return overshot(g, n);
	case POOLED:
		return pooled(g, n);
	case PADDED:
		return padded(g, n);
	case SLOPED:
		return sloped(g, n);
	case CLIPPED:
		return clipped(g, n);
	case NORMED:
		return normed(g, n);
	case PRODUCT:
		return summed_products(g, n);
	case UNKNOWN:
		break;
	}
	return OPEN;
}

void
known_find(const struct graph *g)
{
	for (value_id i = 0; i < g->nvalues; i++) {
		struct value *v = graph_value(g, i);

		v->looked_at = v->producer == NODE_NONE && !v->constant
		    && is_float(v) && type_is_static(&v->type);
		v->below = v->looked_at ? LOOKED : OPEN;
	}
	for (node_id i = 0; i < g->nnodes; i++) {
		const struct node *n = graph_node(g, i);
		const int e = within(below_of(g, n));

		for (uint32_t k = 0; k < n->noutputs; k++)
			if (n->output[k] != VALUE_NONE
			    && is_float(graph_value(g, n->output[k])))
				graph_value(g, n->output[k])->below =
				    (int16_t)e;
	}
}

static bool
is_known(const struct value *v)
{
	return v->constant || !is_float(v) || v->below != OPEN;
}

bool
known_match(const struct graph *g, const struct match *m)
{
	for (uint32_t i = 0; i < m->nnodes; i++) {
		const struct node *n = graph_node(g, m->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++)
			if (n->input[k] != VALUE_NONE
			    && !is_known(graph_value(g, n->input[k])))
				return false;
		for (uint32_t k = 0; k < n->noutputs; k++) {
			const struct value *v = node_out(g, n, k);

			if (v
			    && (!is_float(v) || v->below == OPEN
			        || (v->looked_at && m->node[i] != m->root)))
				return false;
		}
	}
	return true;
}

static bool
is_needed(const struct graph *g, const struct node *n, struct bitset needed)
{
	for (uint32_t k = 0; k < n->noutputs; k++)
		if (n->output[k] != VALUE_NONE
		    && bitset_has(needed, n->output[k])
		    && !graph_value(g, n->output[k])->looked_at)
			return true;
	return false;
}

/* Nodes come behind what they read. */
void
known_needs(const struct graph *g, struct bitset needed)
{
	for (node_id i = g->nnodes; i-- > 0;) {
		const struct node *n = graph_node(g, i);

		if (!is_needed(g, n, needed))
			continue;
		for (uint32_t k = 0; k < n->ninputs; k++)
			if (n->input[k] != VALUE_NONE)
				bitset_add(needed, n->input[k]);
	}
}
