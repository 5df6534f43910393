#include "costmodel/requantised.h"

#include <string.h>

#include "ir/tensor.h"

/* By name: operators of other domains have no id. */
bool
node_requantises(const struct node *n)
{
	const char *name =
	    n->op == OP_CUSTOM ? n->op_type : op_get(n->op)->type;

	if (!strchr(name, 'Q')) /* most have none */
		return strstr(name, "MatMulInteger");
	return (strstr(name, "Quantize") && n->op != OP_DEQUANTIZELINEAR)
	    || strstr(name, "QLinear") || strstr(name, "QGemm")
	    || strstr(name, "QAttention") || strstr(name, "MatMulInteger");
}

double
requantised_step(const struct graph *g, value_id v)
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
