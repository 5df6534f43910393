#include "exec/allowed.h"

#include <string.h>

#include "ir/tensor.h"

/* By name: operators of other domains have no id. */
static bool
requantises(const struct node *n)
{
	const char *name =
	    n->op == OP_CUSTOM ? n->op_type : op_get(n->op)->type;

	return (strstr(name, "Quantize") && n->op != OP_DEQUANTIZELINEAR)
	    || strstr(name, "QLinear") || strstr(name, "QGemm")
	    || strstr(name, "QAttention") || strstr(name, "MatMulInteger");
}

uint32_t
count_requantising(const struct graph *g)
{
	uint32_t count = 0;

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		count += requantises(n);
		for (uint32_t i = 0; i < n->nattrs; i++)
			if (n->attr[i].kind == ATTR_GRAPH)
				count +=
				    count_requantising(n->attr[i].graphs[0]);
	}
	return count;
}

bool
has_half(const struct graph *g)
{
	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].type.kind == TYPE_TENSOR
		    && (g->value[v].type.dtype == DT_FLOAT16
		        || g->value[v].type.dtype == DT_BFLOAT16))
			return true;
	return false;
}

/* The scale of the last requantisation before an output: its elements are
 * multiples of it. 0 when the output does not come from one. */
static double
step_of(const struct graph *g, value_id v)
{
	while (g->value[v].producer != NODE_NONE) {
		const struct node *n = &g->node[g->value[v].producer];
		const struct value *scale = node_in(g, n, 1);

		switch (n->op) {
		case OP_DEQUANTIZELINEAR:
			if (!scale || !scale->constant
			    || scale->constant->count != 1)
				return 0;
			return tensor_real(scale->constant, 0);
		case OP_RESHAPE:
		case OP_FLATTEN:
		case OP_SQUEEZE:
		case OP_TRANSPOSE:
			v = n->input[0];
			break;
		default:
			return 0;
		}
	}
	return 0;
}

/* TUNING: requantisations in a model from which a rounding that falls the other
 * way early counts. */
#define DEEP 64

/* SOURCE: of MobileNetV3 (117 requantisations) ONNX Runtime optimised and
 * unoptimised differ by 3.9 % of the range. */
static double
allowed_quantised(const struct graph *g, value_id v, double range)
{
	double step = step_of(g, v);

	if (count_requantising(g) > DEEP)
		return range / 25;
	return 1.01 * (step > 0 ? step : range / 127);
}

/* SOURCE: ONNX Runtime optimised against itself unoptimised differs by up to
 * 2e-4 of the range in float32; by one step of the last scale (or of 8 bits of
 * the range) where fusion moves a requantisation. It keeps float32 between
 * float16 operators where we round: ten half units. */
double
output_allowed(const struct graph *g, value_id v, double range)
{
	if (count_requantising(g) > 0)
		return allowed_quantised(g, v, range);
	return 1e-5 + (has_half(g) ? 5e-3 : 2e-4) * range;
}
