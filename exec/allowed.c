#include "exec/allowed.h"

#include <string.h>

#include "ir/tensor.h"

/* By name: operators of other domains have no id. */
bool
node_requantises(const struct node *n)
{
	const char *name =
	    n->op == OP_CUSTOM ? n->op_type : op_get(n->op)->type;

	return (strstr(name, "Quantize") && n->op != OP_DEQUANTIZELINEAR)
	    || strstr(name, "QLinear") || strstr(name, "QGemm")
	    || strstr(name, "QAttention") || strstr(name, "MatMulInteger");
}

static bool
requantises(const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		if (node_requantises(n))
			return true;
		for (uint32_t i = 0; i < n->nattrs; i++)
			if (n->attr[i].kind == ATTR_GRAPH
			    && requantises(n->attr[i].graphs[0]))
				return true;
	}
	return false;
}

struct allowance
allowance_of(const struct graph *g)
{
	struct allowance a = {.graph = g, .requantises = requantises(g)};

	for (value_id v = 0; v < g->nvalues && !a.has_half; v++)
		a.has_half = g->value[v].type.kind == TYPE_TENSOR
		    && dtype_is_half(g->value[v].type.dtype);
	return a;
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

/* SOURCE: ONNX Runtime optimised against itself unoptimised differs by up to
 * 2e-4 of the range in float32; by one step of the last scale (or of 8 bits of
 * the range) where fusion moves a requantisation. It keeps float32 between
 * float16 operators where we round: ten half units. */
double
output_allowed(const struct allowance *a, value_id v, double range)
{
	if (a->requantises) {
		const double step = step_of(a->graph, v);

		return 1.01 * (step > 0 ? step : range / 127);
	}
	return 1e-5 + (a->has_half ? 5e-3 : 2e-4) * range;
}
