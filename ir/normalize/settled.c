/* Dequantised constants that no product reads (a scale of a normalisation, a number
 * to multiply by) become the numbers that they are: libraries take constants there. */
#include "ir/normalize/tidy.h"

/* TUNING: elements; larger ones are worth their eight bits. */
#define SETTLED_MAX 4096

/* What keeps weights in eight bits, where they are read as such; bodies read what is
 * around them by place. */
static bool
keeps_codes(const struct node *n)
{
	if (n->nimplicit)
		return true;
	switch (n->op) {
	case OP_CONV:
	case OP_CONVTRANSPOSE:
	case OP_GEMM:
	case OP_MATMUL:
	case OP_GATHER:
		return true;
	default:
		return false;
	}
}

static bool
keeps_any(const struct graph *g, const struct uses *uses, value_id v)
{
	for (uint32_t k = uses->start[v]; k < uses->start[v + 1]; k++)
		if (keeps_codes(graph_node(g, uses->user[k])))
			return true;
	return false;
}

static const struct tensor *
few_of(const struct graph *g, const struct node *n, uint32_t i, size_t most)
{
	const struct tensor *t = i < n->ninputs && n->input[i] != VALUE_NONE
	    ? graph_value(g, n->input[i])->constant
	    : NULL;

	return t && t->kind <= TENSOR_FILL && t->count >= 1 && t->count <= most
	        && !t->made_up
	    ? t
	    : NULL;
}

/* Whole numbers of 8 or 32 bits with one scale in float32; where there is a zero it
 * is as short. */
static bool
is_settled(const struct graph *g, const struct node *n,
    const struct tensor *codes, const struct tensor *scale)
{
	const struct value *zero = node_in(g, n, 2);

	return codes && scale && scale->dtype == DT_FLOAT
	    && (codes->dtype == DT_INT32 || dtype_is_byte(codes->dtype))
	    && (!zero || few_of(g, n, 2, 1))
	    && attr_int_or(n, "block_size", 0) == 0
	    && graph_value(g, n->output[0])->type.dtype == DT_FLOAT
	    && !(graph_value(g, n->output[0])->flags & VALUE_OUTPUT);
}

/* SOURCE: ONNX DequantizeLinear, in float32 as the host has it. */
static const struct tensor *
settled(struct graph *g, const struct tensor *codes, const struct tensor *scale,
    const struct tensor *zero)
{
	const float by = (float)tensor_real(scale, 0);
	const double from = zero ? tensor_real(zero, 0) : 0;
	float *to = arena_new(g->arena, float, codes->count);
	struct tensor *t = arena_new(g->arena, struct tensor, 1);

	for (size_t i = 0; i < codes->count; i++)
		to[i] = (float)(tensor_real(codes, i) - from) * by;
	*t = tensor_view(DT_FLOAT, codes->rank, codes->dim, to);
	return t;
}

void
settle_dequantisers(struct graph *g)
{
	struct arena scratch;
	struct uses uses;

	arena_init(&scratch);
	uses = graph_uses(g, &scratch);
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);
		const struct tensor *codes, *scale;

		if (n->op != OP_DEQUANTIZELINEAR || n->noutputs != 1
		    || n->output[0] == VALUE_NONE)
			continue;
		codes = few_of(g, n, 0, SETTLED_MAX);
		scale = few_of(g, n, 1, 1);
		if (is_settled(g, n, codes, scale)
		    && !keeps_any(g, &uses, n->output[0]))
			graph_value(g, n->output[0])->constant =
			    settled(g, codes, scale, few_of(g, n, 2, 1));
	}
	arena_release(&scratch);
}
