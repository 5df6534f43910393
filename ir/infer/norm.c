/* Normalisations: the shape is the input's; the parameters' shapes are
 * checked against it. */
#include "ir/infer/rules.h"

#include <inttypes.h>

/* Inputs first..first+n-1 are one number a channel of input 0. */
static bool
check_channels(struct site *s, uint32_t first, uint32_t n)
{
	const struct type *x = in_type(s, 0);
	int64_t met;

	for (uint32_t i = first; i < first + n; i++) {
		if (!need_rank(s, i, 1, "a per-channel parameter"))
			return false;
		if (in_ranked(s, 0) && x->rank >= 2 && in_ranked(s, i)
		    && !dim_meet(s, "channels and parameter", x->dim[1],
		        in_type(s, i)->dim[0], &met))
			return false;
	}
	return true;
}

/* x, scale, bias, mean, variance; training forms give statistics too. */
bool
rule_batchnorm(struct site *s)
{
	const struct type *x = in_type(s, 0);

	if (attr_int_or(s->n, "spatial", 1) != 0 && !check_channels(s, 1, 4))
		return false;
	out_type(s, 0, x);
	for (uint32_t i = 1; i < s->n->noutputs; i++)
		out_type(s, i, in_type(s, i == 1 || i == 3 ? 3 : 4));
	return true;
}

bool
rule_instancenorm(struct site *s)
{
	enum dtype dtype;

	out_type(s, 0, in_type(s, 0));
	return same_dtypes(s, 0, 3, &dtype) && need_min_rank(s, 0, 3, "input")
	    && check_channels(s, 1, 2);
}

bool
rule_groupnorm(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t groups = attr_int_or(s->n, "num_groups", 0);

	out_type(s, 0, x);
	if (groups < 1)
		return fault(s, "num_groups %" PRId64, groups);
	if (!need_min_rank(s, 0, 2, "x"))
		return false;
	if (!in_ranked(s, 0))
		return true;
	if (x->dim[1] >= 0 && x->dim[1] % groups != 0)
		return fault(s, "%" PRId64 " channels in %" PRId64 " groups",
		    x->dim[1], groups);
	return s->n->opset < 21 || check_channels(s, 1, 2);
}

/* Scale and bias broadcast to the normalised dimensions. */
static bool
check_scale(struct site *s, uint32_t i)
{
	struct type t;

	if (!in_ranked(s, 0) || !in_ranked(s, i))
		return true;
	if (in_type(s, i)->rank > in_type(s, 0)->rank)
		return fault(s, "scale has rank %" PRIu32 ", x only %" PRIu32,
		    in_type(s, i)->rank, in_type(s, 0)->rank);
	return type_broadcast(s, in_type(s, 0), in_type(s, i), &t);
}

/* Statistics have size 1 from `axis` on, in the type computed with. */
static bool
layernorm_stats(struct site *s, uint32_t axis)
{
	const struct type *x = in_type(s, 0);
	int64_t *dim = dims_copy(s, x->dim, x->rank);
	enum dtype dtype;

	if (!attr_dtype(s, "stash_type", DT_FLOAT, &dtype))
		return false;
	for (uint32_t i = axis; i < x->rank; i++)
		dim[i] = 1;
	out_tensor(s, 1, dtype, x->rank, dim);
	out_tensor(s, 2, dtype, x->rank, dim);
	return true;
}

bool
rule_layernorm(struct site *s)
{
	uint32_t axis;

	out_type(s, 0, in_type(s, 0));
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", -1, in_type(s, 0)->rank, &axis)
	    || !check_scale(s, 1) || !check_scale(s, 2))
		return false;
	return layernorm_stats(s, axis);
}

bool
rule_rmsnorm(struct site *s)
{
	uint32_t axis;

	out_type(s, 0, in_type(s, 0));
	return !in_ranked(s, 0)
	    || (attr_axis(s, "axis", -1, in_type(s, 0)->rank, &axis)
	        && check_scale(s, 1));
}

bool
rule_lrn(struct site *s)
{
	int64_t size = attr_int_or(s->n, "size", 0);

	out_type(s, 0, in_type(s, 0));
	if (size < 1)
		return fault(s, "size %" PRId64, size);
	return need_min_rank(s, 0, 2, "x");
}

/* Softmax and its kin: an axis, 1 by default before opset 13, then -1. */
bool
rule_softmax(struct site *s)
{
	int64_t otherwise = s->n->opset < 13 ? 1 : -1;
	int64_t axis = attr_int_or(s->n, "axis", otherwise);
	uint32_t checked;

	out_type(s, 0, in_type(s, 0));
	if (!in_ranked(s, 0))
		return true;
	/* flattening before `axis` allows the axis to be the rank */
	if (s->n->opset < 13 && axis == (int64_t)in_type(s, 0)->rank)
		return true;
	return site_axis(s, "axis", axis, in_type(s, 0)->rank, &checked);
}

/* An operator with an axis that must exist and changes no shape. */
bool
rule_axis_same(struct site *s)
{
	uint32_t axis;

	out_type(s, 0, in_type(s, 0));
	return !in_ranked(s, 0)
	    || attr_axis(s, "axis", -1, in_type(s, 0)->rank, &axis);
}

/* Axes that must exist and change no shape. */
bool
rule_mvn(struct site *s)
{
	const struct type *x = in_type(s, 0);
	uint32_t n, axis;
	const int64_t *axes = attr_ints(s->n, "axes", &n);

	out_type(s, 0, x);
	if (!in_ranked(s, 0))
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (!site_axis(s, "axes", axes[i], x->rank, &axis))
			return false;
	return true;
}
