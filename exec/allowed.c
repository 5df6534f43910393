#include "exec/allowed.h"

#include "costmodel/requantised.h"
#include "ir/tensor.h"

static bool
requantises(const struct graph *g)
{
	const struct graph *body;

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		if (node_requantises(n))
			return true;
		for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
			if (requantises(body))
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

/* SOURCE: ONNX Runtime optimised against itself unoptimised differs by up to
 * 2e-4 of the range in float32; by one step of the last scale (or of 8 bits of
 * the range) where fusion moves a requantisation. It keeps float32 between
 * float16 operators where we round: ten half units. */
double
output_allowed(const struct allowance *a, value_id v, double range)
{
	if (a->requantises) {
		const double step = requantised_step(a->graph, v);

		return 1.01 * (step > 0 ? step : range / 127);
	}
	return 1e-5 + (a->has_half ? 5e-3 : 2e-4) * range;
}

static bool
draws(const struct node *n)
{
	static const enum op random[] = {OP_BERNOULLI, OP_MULTINOMIAL,
	    OP_RANDOMNORMAL, OP_RANDOMNORMALLIKE, OP_RANDOMUNIFORM,
	    OP_RANDOMUNIFORMLIKE};

	for (size_t i = 0; i < sizeof random / sizeof *random; i++)
		if (n->op == random[i])
			return true;
	return false;
}

const bool *
values_drawn(const struct graph *g, struct arena *a)
{
	bool *drawn = arena_new(a, bool, g->nvalues);

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];
		bool any = node_any(n, draws);

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			any = any
			    || (n->input[i] != VALUE_NONE
			        && drawn[n->input[i]]);
		for (uint32_t i = 0; i < n->noutputs; i++)
			if (n->output[i] != VALUE_NONE)
				drawn[n->output[i]] = any;
	}
	return drawn;
}
