#include "targets/quantiser.h"

#include <math.h>

#include "targets/integer.h"

static const struct tensor *
constant_of(const struct graph *g, value_id v)
{
	const struct tensor *t =
	    v == VALUE_NONE ? NULL : graph_value(g, v)->constant;

	return t && t->kind <= TENSOR_FILL && dtype_bits(t->dtype) >= 8 ? t
	                                                                : NULL;
}

bool
quantiser_read(struct quantiser *q, const struct graph *g, const struct node *n)
{
	const value_id codes =
	    n->op == OP_QUANTIZELINEAR ? n->output[0] : n->input[0];

	*q = (struct quantiser){n->input[1],
	    n->ninputs > 2 ? n->input[2] : VALUE_NONE, .dtype = DT_UNDEFINED};
	q->scales = constant_of(g, q->scale);
	q->zeros = constant_of(g, q->zero);
	q->dtype = graph_value(g, codes)->type.dtype;
	return q->scales && q->scales->dtype == DT_FLOAT
	    && (q->zero == VALUE_NONE || q->zeros)
	    && attr_int_or(n, "block_size", 0) == 0;
}

bool
quantiser_is_plain(const struct quantiser *q)
{
	return dtype_is_byte(q->dtype) && q->scales->count == 1
	    && tensor_real(q->scales, 0) > 0
	    && isfinite(tensor_real(q->scales, 0))
	    && (!q->zeros || q->zeros->count == 1);
}

bool
quantiser_is_of_axis(const struct quantiser *q, const struct node *n,
    const struct type *t, uint32_t axis)
{
	const int64_t along = attr_int_or(n, "axis", 1);

	return dtype_is_byte(q->dtype)
	    && (!q->zeros || q->zeros->count == 1
	        || q->zeros->count == q->scales->count)
	    && (q->scales->count == 1
	        || ((along < 0 ? along + t->rank : along) == axis
	            && q->scales->count == (size_t)t->dim[axis]));
}

/* TUNING: what a product of two scales was rounded by. */
#define SCALE_ERROR 1e-5

bool
quantiser_is_of_sums(const struct graph *g, const struct node *n,
    const struct quantiser *x, const struct quantiser *weights)
{
	const struct tensor *bias = constant_of(g, n->input[0]);
	struct quantiser b;

	if (!bias || bias->dtype != DT_INT32 || !quantiser_read(&b, g, n)
	    || (b.scales->count != 1 && b.scales->count != bias->count))
		return false;
	if (b.zeros && !integers_are(b.zeros, 0))
		return false;
	if (integers_are(bias, 0))
		return true; /* zeros are so on any scale */
	for (size_t i = 0; i < bias->count; i++) {
		const double want = tensor_real(x->scales, 0)
		    * (double)integer_entry(weights->scales, i);

		if (!(fabs((double)integer_entry(b.scales, i) - want)
		        <= SCALE_ERROR * fabs(want)))
			return false;
	}
	return true;
}

bool
quantiser_bounds_below(const struct quantiser *q)
{
	return integer_entry(q->zeros, 0) == (q->dtype == DT_UINT8 ? 0 : -128);
}
