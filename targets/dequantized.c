#include "targets/dequantized.h"

#include "ir/halves.h"

static const struct tensor *
constant_in(const struct graph *g, const struct node *n, uint32_t i)
{
	const struct value *v = i < n->ninputs ? node_in(g, n, i) : NULL;

	return v ? v->constant : NULL;
}

/* The dimension with a scale of its own for each index; the rank for none. */
static uint32_t
scaled_axis(const struct node *n, uint32_t rank)
{
	int64_t axis = attr_int_or(n, "axis", 1);

	axis += axis < 0 ? rank : 0;
	return axis >= 0 && axis < rank ? (uint32_t)axis : rank;
}

bool
is_dequantizing(const struct graph *g, const struct node *n)
{
	const struct tensor *x, *scale, *zero;
	uint32_t axis;

	if (n->op != OP_DEQUANTIZELINEAR || n->ninputs < 2)
		return false;
	x = constant_in(g, n, 0);
	scale = constant_in(g, n, 1);
	zero = constant_in(g, n, 2);
	if (x == NULL || scale == NULL || scale->dtype != DT_FLOAT
	    || (n->ninputs > 2 && n->input[2] != VALUE_NONE
	        && (zero == NULL || zero->count != scale->count)))
		return false;
	axis = scaled_axis(n, x->rank);
	return scale->count == 1
	    || (axis < x->rank && scale->rank == 1
	        && scale->count == (size_t)x->dim[axis]);
}

bool
is_packable(const struct graph *g, value_id v)
{
	const struct value *value = graph_value(g, v);

	return value->constant != NULL
	    || (value->producer != NODE_NONE
	        && is_dequantizing(g, graph_node(g, value->producer)));
}

const float *
constant_as_floats(const struct tensor *t, struct arena *a)
{
	float *to;

	if (t->dtype != DT_FLOAT16)
		return tensor_data(t, a);
	to = arena_new(a, float, t->count + 16);
	halves_widen(t->dtype, tensor_data(t, a), t->count, to);
	return to;
}

const float *
packable_floats(const struct graph *g, value_id v, struct arena *a)
{
	const struct value *value = graph_value(g, v);
	const struct tensor *x, *scale, *zero;
	const struct node *n;
	size_t inner = 1;
	uint32_t axis;
	float *to;

	if (value->constant)
		return constant_as_floats(value->constant, a);
	n = graph_node(g, value->producer);
	x = constant_in(g, n, 0);
	scale = constant_in(g, n, 1);
	zero = constant_in(g, n, 2);
	axis = scaled_axis(n, x->rank);
	for (uint32_t i = axis + 1; i < x->rank; i++)
		inner *= (size_t)x->dim[i];
	to = arena_new(a, float, x->count + 16);
	for (size_t i = 0; i < x->count; i++) {
		size_t k = scale->count == 1 ? 0 : i / inner % scale->count;

		to[i] = (float)((tensor_real(x, i)
		                    - (zero ? tensor_real(zero, k) : 0))
		    * tensor_real(scale, k));
	}
	return to;
}
