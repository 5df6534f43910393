#include "costmodel/tolerance.h"

#include <assert.h>
#include <math.h>

#include "costmodel/requantised.h"
#include "ir/compare.h"

#define ROUND_F32 0x1p-24
#define ROUND_F16 0x1p-11
#define ROUND_BF16 0x1p-8

/* TUNING: of a float32 kernel. Functions differ by 4e-6 of the range (Softplus),
 * Winograd by 4e-6; a wrong kernel by 1e-1. */
#define LEAST_F32 1e-4
/* TUNING: a rounding that falls otherwise moves an element by a step of some 8
 * bits, and what is behind it. Whole models are off by 0.09 (MobileNetV2) and 0.17
 * (MobileNetV3) in ONNX Runtime where pairs of products saturate; what is wrong
 * by 1. */
#define STEP (1.0 / 127)
#define STEPS_MOST 0.25
/* TUNING: roundings of half precision that one composite does in a row, each to
 * the worse side. */
#define IN_A_ROW 32

static double
greater(double a, double b)
{
	return a > b ? a : b;
}

/* ---- the type ---- */

static double
rounding(enum dtype t)
{
	return t == DT_FLOAT16 ? ROUND_F16
	    : t == DT_BFLOAT16 ? ROUND_BF16
	                       : ROUND_F32;
}

static double
rounding_of_port(
    const struct graph *g, const struct mix *m, const struct port *p)
{
	return greater(rounding(m->formats.format[p->format].dtype),
	    rounding(graph_value(g, p->value)->type.dtype));
}

static double
rounding_of(
    const struct graph *g, const struct mix *m, const struct candidate *c)
{
	double most = ROUND_F32;

	for (uint32_t i = 0; i < c->ninputs; i++)
		most = greater(most, rounding_of_port(g, m, &c->input[i]));
	for (uint32_t i = 0; i < c->noutputs; i++)
		most = greater(most, rounding_of_port(g, m, &c->output[i]));
	return most;
}

/* ---- the sums ---- */

/* Elements of a value; 1 of one whose shape is open or that is none. */
static double
elements(const struct graph *g, value_id v)
{
	const struct type *t;
	double n = 1;

	if (v == VALUE_NONE)
		return 1;
	t = &graph_value(g, v)->type;
	if (t->kind != TYPE_TENSOR || !type_is_static(t))
		return 1;
	for (uint32_t i = 0; i < t->rank; i++)
		n *= (double)t->dim[i];
	return greater(n, 1);
}

/* Terms of the node's longest sum. */
static double
terms(const struct graph *g, const struct node *n)
{
	const double in = elements(g, n->input[0]);
	const double out = elements(g, n->output[0]);
	double second = 1;
	const struct type *t;

	if (n->ninputs > 1)
		second = elements(g, n->input[1]);
	switch (n->op) {
	case OP_CONV:
	case OP_CONVTRANSPOSE: /* at most: strides leave some out */
		t = &graph_value(g, n->input[1])->type;
		return second
		    / greater(
		        1, t->rank ? (double)t->dim[n->op != OP_CONV] : 1);
	case OP_GEMM:
	case OP_MATMUL:
	case OP_MATMULNBITS:
		t = &graph_value(g, n->input[0])->type;
		if (t->rank == 0 || !type_is_static(t))
			return 1;
		return (double)
		    t->dim[attr_int_or(n, "transA", 0) ? 0 : t->rank - 1];
	default: /* reductions, windows that do not overlap */
		return greater(1, in / out);
	}
}

/* ---- steps ---- */

static uint32_t
requantisations(const struct graph *g, const struct candidate *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nnodes; i++)
		n += node_requantises(graph_node(g, c->node[i]));
	return n;
}

/* What its roundings to steps may come to. */
static double
steps_of(const struct graph *g, const struct candidate *c)
{
	const double steps = STEP * requantisations(g, c);

	return steps < STEPS_MOST ? steps : STEPS_MOST;
}

bool
tolerance_is_in_steps(
    const struct graph *g, const struct candidate *c, enum dtype t)
{
	return dtype_is_byte(t) && requantisations(g, c) > 0;
}

double
tolerance_difference(const struct graph *g, const struct candidate *c,
    value_id v, const struct comparison *compared, double allowed)
{
	const enum dtype t = graph_value(g, v)->type.dtype;
	const double relative = comparison_relative(compared);
	const double step =
	    tolerance_is_in_steps(g, c, t) ? 1 : requantised_step(g, v);

	if (relative > allowed && compared->same_shape
	    && requantisations(g, c) > 0 && compared->max_error <= 1.01 * step)
		return allowed;
	return relative;
}

/* ---- all of it ---- */

double
tolerance_of(
    const struct graph *g, const struct mix *m, const struct candidate *c)
{
	const double round = rounding_of(g, m, c);
	double longest = 1, sums;

	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		if (n->ninputs > 0)
			longest = greater(longest, terms(g, n));
	}
	/* roundings of a sum fall to either side */
	sums = round * (IN_A_ROW + sqrt(longest));
	assert(round >= ROUND_F32 && longest >= 1);
	assert(isfinite(sums) && sums >= round);
	sums = round == ROUND_F32 ? greater(LEAST_F32, sums) : sums;
	return greater(sums, steps_of(g, c));
}

bool
tolerance_is_half(
    const struct graph *g, const struct mix *m, const struct candidate *c)
{
	return rounding_of(g, m, c) > ROUND_F32;
}
