#include "targets/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "targets/host/walk.h"
#include "targets/magnitude.h"
#include "targets/step.h"

/* Bounds are binary logarithms. */
#define OPEN ((double)INFINITY) /* nobody knows */
#define LOOKED ((double)KNOWN_POWER)
/* Beyond it nothing is known: it leaves 2^31 for sums of pools, and for tiles of Winograd's
 * convolutions. There an input's transform is at most 15^2 times the image (the largest sum of
 * a row of |B|, in both directions), a weight's no more than the sum of its filter's, so
 * products' sums are at most 15^2 times the bound of what the convolution computes, and
 * the way back makes no more than 69^2 times that (of |A|): 2^20, for tiles of 8x8. */
#define MOST 96
/* TUNING: what goes into a product is looked at when its sums could get beyond: it leaves
 * 2^16 for what functions and sums behind it make of them. */
#define MOST_OF_PRODUCT 80

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
	SLOPED, /* negative ones */
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

/* Numbers below 1 count as 1: bounds are of more than what they stand for. */
static double
power(double x)
{
	return isfinite(x) ? log2(fmax(fabs(x), 1)) : OPEN;
}

/* Of a sum of two. */
static double
total(double a, double b)
{
	const double most = fmax(a, b);

	return most == OPEN ? OPEN : most + log2(1 + exp2(-fabs(a - b)));
}

static bool
is_float(const struct value *v)
{
	return v->type.kind == TYPE_TENSOR && v->type.dtype == DT_FLOAT;
}

/* Bounds as far as they are worked out. */
struct value_bounds {
	const struct graph *graph;
	/* By value, zero where nobody knows; NULL: the graph's own, and what goes into a
	 * product may be looked at. */
	float *below;
};

static float *
below_at(const struct value_bounds *b, value_id v)
{
	return b->below ? &b->below[v] : &graph_value(b->graph, v)->below;
}

static double
of_input(const struct value_bounds *b, const struct node *n, uint32_t i)
{
	const value_id id = node_input(n, i);
	struct value *v = id == VALUE_NONE ? NULL : graph_value(b->graph, id);
	float below;

	if (!v || !is_float(v) || !type_is_static(&v->type)
	    || shape_count(v->type.dim, 0, v->type.rank) == 0)
		return OPEN;
	if (v->constant)
		return power(magnitude_most(v));
	below = *below_at(b, id);
	return below > 0 ? (double)below : OPEN;
}

/* Of all inputs: the largest, the sum, the product. */
static double
largest(const struct value_bounds *b, const struct node *n)
{
	double most = 0;

	for (uint32_t i = 0; i < n->ninputs; i++)
		most = fmax(most, of_input(b, n, i));
	return most;
}

static double
sum(const struct value_bounds *b, const struct node *n)
{
	double all = of_input(b, n, 0);

	for (uint32_t i = 1; i < n->ninputs; i++)
		all = total(all, of_input(b, n, i));
	return all;
}

static double
product(const struct value_bounds *b, const struct node *n)
{
	double all = 0;

	for (uint32_t i = 0; i < n->ninputs; i++)
		all += of_input(b, n, i);
	return all;
}

static double
quotient(const struct value_bounds *b, const struct node *n)
{
	float by;

	if (!constant_scalar(b->graph, node_input(n, 1), &by) || by == 0)
		return OPEN;
	return of_input(b, n, 0) + power(1 / (double)by);
}

/* A parameter that is an attribute, or since some opset an input; left out as given.
 * False: it is computed. */
static bool
read_number(const struct value_bounds *b, const struct node *n,
    const char *name, uint32_t slot, float *x)
{
	*x = attr_float_or(n, name, *x);
	return node_input(n, slot) == VALUE_NONE
	    || constant_scalar(b->graph, node_input(n, slot), x);
}

static double
clipped(const struct value_bounds *b, const struct node *n)
{
	float low = -INFINITY, high = INFINITY;
	const double e = of_input(b, n, 0);
	double most = 0;

	if (!read_number(b, n, "min", 1, &low)
	    || !read_number(b, n, "max", 2, &high) || isnan(low) || isnan(high)
	    || e == OPEN)
		return OPEN;
	if (isfinite(low))
		most = power((double)low);
	if (isfinite(high))
		most = fmax(most, power((double)high));
	return isfinite(low) && isfinite(high) ? most : fmax(e, most);
}

static double
padded(const struct value_bounds *b, const struct node *n)
{
	float value = 0;

	if (!read_number(b, n, "value", 2, &value))
		return OPEN;
	return fmax(of_input(b, n, 0), power((double)value));
}

/* What is below zero is multiplied, or its exponential less one. */
static double
sloped(const struct value_bounds *b, const struct node *n)
{
	const bool is_elu = n->op == OP_ELU;
	const double slope =
	    power((double)attr_float_or(n, "alpha", is_elu ? 1 : 0.01f));
	const double e = of_input(b, n, 0);

	return is_elu ? fmax(e, slope) : e + slope;
}

/* A window that only sees padding makes what it likes. */
static double
pooled(const struct value_bounds *b, const struct node *n)
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
	return of_input(b, n, 0);
}

/* A cubic goes beyond what it interpolates. */
static double
overshot(const struct value_bounds *b, const struct node *n)
{
	const float cubic = attr_float_or(n, "cubic_coeff_a", -0.75f);

	if (!(fabsf(cubic) <= 1) || attr_int_or(n, "exclude_outside", 0)
	    || attr_is(n, "coordinate_transformation_mode", "half_pixel",
	        "tf_crop_and_resize"))
		return OPEN;
	return of_input(b, n, 0) + 2;
}

static double
unit(const struct value_bounds *b, const struct node *n)
{
	if (!isfinite(attr_float_or(n, "alpha", 0))
	    || !isfinite(attr_float_or(n, "beta", 0)))
		return OPEN;
	return of_input(b, n, 0) == OPEN ? OPEN : 1;
}

static bool
trains(const struct node *n)
{
	return attr_int_or(n, "training_mode", 0)
	    || (n->opset < 7 && !attr_int_or(n, "is_test", 0))
	    || n->noutputs > 1;
}

static bool
parameters(const struct value_bounds *b, const struct node *n,
    const struct tensor *t[5])
{
	for (uint32_t i = 1; i < 5; i++) {
		const struct value *v = node_in(b->graph, n, i);

		if (!v || !v->constant
		    || (i > 1 && v->constant->count != t[1]->count))
			return false;
		t[i] = v->constant;
	}
	return true;
}

/* Most are floats of a file, and all are read. */
static double
real_at(const struct tensor *t, size_t i)
{
	float x;

	if (t->kind != TENSOR_VIEW || t->dtype != DT_FLOAT)
		return tensor_real(t, i);
	memcpy(&x, (const unsigned char *)t->data + i * sizeof x, sizeof x);
	return (double)x;
}

/* (x - mean) * scale / sqrt(variance + epsilon) + shift; with all that constant. */
static double
normed(const struct value_bounds *b, const struct node *n)
{
	const double epsilon = (double)attr_float_or(n, "epsilon", 1e-5f);
	const struct tensor *t[5] = {NULL};
	double factor = 0, add = 0;

	if (trains(n) || !parameters(b, n, t))
		return OPEN;
	for (size_t i = 0; i < t[1]->count; i++) {
		const double f =
		    fabs(real_at(t[1], i)) / sqrt(real_at(t[4], i) + epsilon);
		const double s =
		    f * fabs(real_at(t[3], i)) + fabs(real_at(t[2], i));

		if (!isfinite(f) || !isfinite(s))
			return OPEN;
		factor = fmax(factor, f);
		add = fmax(add, s);
	}
	return total(of_input(b, n, 0) + power(factor), power(add));
}

/* All weights of a transposed convolution's output, as if each were as large as the
 * largest. */
static double
most_of_transposed(struct value *w)
{
	const int64_t outputs = w->constant->dim[1];

	return outputs > 0
	    ? magnitude_most(w) * (double)(w->constant->count / (size_t)outputs)
	    : OPEN;
}

/* By how much a product's sums are above its input. */
static double
gain(const struct value_bounds *b, const struct node *n)
{
	struct value *w = node_input(n, 1) == VALUE_NONE
	    ? NULL
	    : graph_value(b->graph, node_input(n, 1));
	const bool by_row = n->op == OP_CONV
	    || (n->op == OP_GEMM && attr_int_or(n, "transB", 0));
	double factor = 0;

	if (!w || !w->constant || !is_float(w) || w->constant->rank < 2)
		return OPEN;
	if (n->op == OP_GEMM)
		factor = power((double)attr_float_or(n, "alpha", 1));
	if (n->op == OP_CONVTRANSPOSE)
		return power(most_of_transposed(w));
	return power(by_row ? magnitude_rows(w) : magnitude_columns(w))
	    + factor;
}

/* The input of a product, looked at if need be: as late as can be, for who looks at a value
 * takes no composite that has it inside. */
static double
product_input(const struct value_bounds *b, const struct node *n, double gained)
{
	struct value *v = graph_value(b->graph, n->input[0]);

	if (!b->below && !v->constant && is_float(v)
	    && (v->below == 0
	        || ((double)v->below > LOOKED
	            && (double)v->below + gained > MOST_OF_PRODUCT))) {
		v->below = KNOWN_POWER;
		v->looked_at = true;
	}
	return of_input(b, n, 0);
}

static double
summed_products(const struct value_bounds *b, const struct node *n)
{
	const double gained = gain(b, n);
	double added = 0;

	if (node_input(n, 2) != VALUE_NONE)
		added = of_input(b, n, 2);
	if (n->op == OP_GEMM)
		added += power((double)attr_float_or(n, "beta", 1));
	if (gained == OPEN || added == OPEN)
		return OPEN;
	return total(product_input(b, n, gained) + gained, added);
}

static double
below_of(const struct value_bounds *b, const struct node *n)
{
	switch ((enum growth)growth_of[n->op]) {
	case SAME:
		return of_input(b, n, 0);
	case LARGEST:
		return largest(b, n);
	case TOTAL:
		return sum(b, n);
	case FACTORS:
		return product(b, n);
	case QUOTIENT:
		return quotient(b, n);
	case UNIT:
		return unit(b, n);
	case OVERSHOT:
		return overshot(b, n);
	case POOLED:
		return pooled(b, n);
	case PADDED:
		return padded(b, n);
	case SLOPED:
		return sloped(b, n);
	case CLIPPED:
		return clipped(b, n);
	case NORMED:
		return normed(b, n);
	case PRODUCT:
		return summed_products(b, n);
	case UNKNOWN:
		break;
	}
	return OPEN;
}

/* Zero stands for what nobody knows. */
static float
kept(double below)
{
	return below > MOST ? 0 : fmaxf((float)below, 1);
}

/* From what a node reads to what it makes. False: nobody knows. */
static bool
follow(const struct value_bounds *b, const struct node *n)
{
	const float below = kept(below_of(b, n));

	for (uint32_t k = 0; k < n->noutputs; k++)
		if (n->output[k] != VALUE_NONE
		    && is_float(graph_value(b->graph, n->output[k])))
			*below_at(b, n->output[k]) = below;
	return below > 0;
}

void
known_find(const struct graph *g)
{
	const struct value_bounds b = {.graph = g};

	for (value_id i = 0; i < g->nvalues; i++) {
		struct value *v = graph_value(g, i);

		v->looked_at = v->producer == NODE_NONE && !v->constant
		    && is_float(v) && type_is_static(&v->type);
		v->below = v->looked_at ? KNOWN_POWER : 0;
	}
	for (node_id i = 0; i < g->nnodes; i++)
		follow(&b, graph_node(g, i));
}

static bool
is_known(const struct value *v)
{
	return v->constant || !is_float(v) || v->below > 0;
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
			    && (!is_float(v) || v->below == 0
			        || (v->looked_at && m->node[i] != m->root)))
				return false;
		}
	}
	return true;
}

/* Does all of a match stay below the bound when what it reads is below 2 to the power? */
static bool
stays(const struct value_bounds *b, const struct match *m, int power)
{
	for (uint32_t i = 0; i < m->nnodes; i++) {
		const struct node *n = graph_node(b->graph, m->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++)
			if (n->input[k] != VALUE_NONE)
				*below_at(b, n->input[k]) = (float)power;
	}
	for (uint32_t i = 0; i < m->nnodes; i++)
		if (!follow(b, graph_node(b->graph, m->node[i])))
			return false;
	return true;
}

/* Bounds never fall when those of inputs rise. */
int
known_power(const struct graph *g, const struct match *m)
{
	const struct value_bounds b = {g, calloc(g->nvalues, sizeof *b.below)};
	int power = 0, beyond = MOST + 1;

	while (b.below && power + 1 < beyond) {
		const int between = (power + beyond) / 2;

		if (stays(&b, m, between))
			power = between;
		else
			beyond = between;
	}
	free(b.below);
	return power;
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
