/* Quantisation: elements change type; scales are per tensor, per axis or in
 * blocks. */
#include "ir/infer/rules.h"

#include <inttypes.h>

/* Scale and zero point: one element; a vector as long as the axis; or, in
 * blocks (opset 21), the rank of x. */
static bool
check_scale(struct site *s, uint32_t i, const char *what)
{
	const struct type *x = in_type(s, 0), *scale = in_type(s, i);
	uint32_t axis;
	int64_t met;

	if (!in_ranked(s, 0) || !in_ranked(s, i) || scale->rank == 0
	    || (scale->rank == 1 && scale->dim[0] == 1))
		return true;
	if (scale->rank != 1 && scale->rank != x->rank)
		return fault(s, "%s has rank %" PRIu32, what, scale->rank);
	if (!attr_axis(s, "axis", 1, x->rank, &axis))
		return false;
	return scale->rank != 1 || attr_int_or(s->n, "block_size", 0) != 0
	    || dim_meet(s, what, scale->dim[0], x->dim[axis], &met);
}

bool
rule_quantize(struct site *s)
{
	enum dtype dtype = in_dtype(s, 2), stated;

	if (!attr_dtype(s, "output_dtype", DT_UNDEFINED, &stated))
		return false;
	if (!in_type(s, 2))
		dtype = stated != DT_UNDEFINED ? stated : DT_UINT8;
	else if (stated != DT_UNDEFINED && dtype != DT_UNDEFINED
	    && stated != dtype)
		return fault(s, "output_dtype is %s but zero point is %s",
		    dtype_name(stated), dtype_name(dtype));
	out_shaped(s, 0, dtype, in_type(s, 0));
	return check_scale(s, 1, "scale") && check_scale(s, 2, "zero point");
}

bool
rule_dequantize(struct site *s)
{
	enum dtype dtype;

	if (!attr_dtype(s, "output_dtype",
	        in_type(s, 1) ? in_dtype(s, 1) : DT_FLOAT, &dtype))
		return false;
	if (in_type(s, 2) && in_dtype(s, 2) != DT_UNDEFINED
	    && in_dtype(s, 0) != DT_UNDEFINED
	    && in_dtype(s, 2) != in_dtype(s, 0))
		return fault(s, "x is %s but zero point is %s",
		    dtype_name(in_dtype(s, 0)), dtype_name(in_dtype(s, 2)));
	out_shaped(s, 0, dtype, in_type(s, 0));
	return check_scale(s, 1, "scale") && check_scale(s, 2, "zero point");
}

bool
rule_dynamicquantize(struct site *s)
{
	out_shaped(s, 0, DT_UINT8, in_type(s, 0));
	out_tensor(s, 1, DT_FLOAT, 0, NULL);
	out_tensor(s, 2, DT_UINT8, 0, NULL);
	return true;
}
