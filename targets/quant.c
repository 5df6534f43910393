#include "targets/quant.h"

struct quant
quant_of_range(double low, double high)
{
	struct quant q = {.scale = 1};
	double zero;

	low = low < 0 ? low : 0;
	high = high > 0 ? high : 0;
	q.scale = (float)((high - low) / 255);
	if (!(q.scale > 0) || !isfinite(q.scale))
		q.scale = 1; /* of zeros only */
	zero = rint(-128 - low / (double)q.scale);
	q.zero = (int32_t)(zero < -128 ? -128 : zero > 127 ? 127 : zero);
	return q;
}

bool
quant_is_move(const struct node *n)
{
	switch (n->op) {
	case OP_MAXPOOL:
	case OP_GLOBALMAXPOOL:
	case OP_RESHAPE:
	case OP_FLATTEN:
	case OP_SQUEEZE:
	case OP_UNSQUEEZE:
	case OP_TRANSPOSE:
		return true;
	default:
		return false;
	}
}

/* ---- the model's own ---- */

static const struct tensor *
constant_in(const struct graph *g, const struct node *n, uint32_t i)
{
	const struct value *v = i < n->ninputs ? node_in(g, n, i) : NULL;

	return v ? v->constant : NULL;
}

static bool
is_given(const struct node *n, uint32_t i)
{
	return i < n->ninputs && n->input[i] != VALUE_NONE;
}

/* One scale and one zero point, inputs i and i + 1 of a node; `otherwise`: the
 * type where there is no zero point. */
static bool
read_quant(struct quant *q, const struct graph *g, const struct node *n,
    uint32_t i, enum dtype otherwise)
{
	const struct tensor *scale = constant_in(g, n, i);
	const struct tensor *zero = constant_in(g, n, i + 1);
	enum dtype t = zero ? zero->dtype : otherwise;

	if (!scale || scale->count != 1 || scale->dtype != DT_FLOAT
	    || (is_given(n, i + 1) && (!zero || zero->count != 1))
	    || (t != DT_INT8 && t != DT_UINT8))
		return false;
	*q = (struct quant){.scale = (float)tensor_real(scale, 0),
	    .zero = zero ? (int32_t)tensor_real(zero, 0) : 0,
	    .is_unsigned = t == DT_UINT8,
	    .is_own = true};
	return q->scale > 0 && isfinite(q->scale);
}

struct own_quants {
	struct quant *quant;
	const struct graph *graph;
	uint32_t n;
};

/* The first to say so is right. */
static void
set(struct own_quants *o, value_id v, const struct quant *q)
{
	if (v == VALUE_NONE || graph_value(o->graph, v)->constant
	    || o->quant[v].scale > 0)
		return;
	o->quant[v] = *q;
	o->n++;
}

static void
set_both(struct own_quants *o, const struct node *n, const struct quant *q)
{
	set(o, n->input[0], q);
	set(o, n->output[0], q);
}

static void
look_at(struct own_quants *o, const struct node *n)
{
	const struct graph *g = o->graph;
	struct quant q;
	enum dtype t;

	switch (n->op) {
	case OP_QUANTIZELINEAR:
		t = graph_value(g, n->output[0])->type.dtype;
		if (read_quant(&q, g, n, 1, t))
			set_both(o, n, &q);
		break;
	case OP_DEQUANTIZELINEAR:
		t = graph_value(g, n->input[0])->type.dtype;
		if (read_quant(&q, g, n, 1, t))
			set_both(o, n, &q);
		break;
	case OP_QLINEARCONV:
		if (read_quant(&q, g, n, 1, DT_UNDEFINED))
			set(o, n->input[0], &q);
		if (read_quant(&q, g, n, 6, DT_UNDEFINED))
			set(o, n->output[0], &q);
		break;
	default:
		break;
	}
}

uint32_t
quant_own(struct quant *quant, const struct graph *g)
{
	struct own_quants o = {.quant = quant, .graph = g};

	for (node_id id = 0; id < g->nnodes; id++)
		look_at(&o, graph_node(g, id));
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);

		if (quant_is_move(n) && quant[n->input[0]].scale > 0)
			set(&o, n->output[0], &quant[n->input[0]]);
	}
	return o.n;
}
