/* Gathers and scatters. */
#include "ir/infer/rules.h"

#include <inttypes.h>

/* Known indices must fall into a dimension of known size. */
static bool
check_indices(struct site *s, uint32_t input, int64_t size)
{
	const struct tensor *t = in_content(s, input);
	size_t n;

	if (!t || size < 0 || !dtype_is_integer(t->dtype)
	    || (t->kind != TENSOR_VIEW && t->kind != TENSOR_FILL))
		return true;
	n = t->kind == TENSOR_FILL && t->count ? 1 : t->count;
	if (n > s->pass->o->max_fold)
		return true;
	for (size_t i = 0; i < n; i++) {
		int64_t at = tensor_int(t, i);

		if (at < -size || at >= size)
			return fault(s,
			    "index %" PRId64 " is outside an axis of %" PRId64,
			    at, size);
	}
	return true;
}

static bool
check_index_dtype(struct site *s, uint32_t input)
{
	enum dtype t = in_dtype(s, input);

	if (t == DT_UNDEFINED || t == DT_INT32 || t == DT_INT64)
		return true;
	return fault(
	    s, "indices are %s, int32 or int64 is needed", dtype_name(t));
}

int64_t *
dims_gathered(
    struct site *s, const struct type *x, uint32_t axis, const struct type *at)
{
	int64_t *dim = dims_new(s, x->rank - 1 + at->rank);
	uint32_t n = 0;

	for (uint32_t i = 0; i < axis; i++)
		dim[n++] = x->dim[i];
	for (uint32_t i = 0; i < at->rank; i++)
		dim[n++] = at->dim[i];
	for (uint32_t i = axis + 1; i < x->rank; i++)
		dim[n++] = x->dim[i];
	return dim;
}

bool
rule_gather(struct site *s)
{
	const struct type *x = in_type(s, 0), *at = in_type(s, 1);
	uint32_t axis;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!check_index_dtype(s, 1) || !need_min_rank(s, 0, 1, "data"))
		return false;
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", 0, x->rank, &axis)
	    || !check_indices(s, 1, x->dim[axis]))
		return false;
	if (!in_ranked(s, 1))
		return true;
	out_tensor(s, 0, x->dtype, x->rank - 1 + at->rank,
	    dims_gathered(s, x, axis, at));
	return true;
}

bool
rule_gatherelements(struct site *s)
{
	uint32_t axis;

	out_shaped(s, 0, in_dtype(s, 0), in_type(s, 1));
	if (!check_index_dtype(s, 1) || !need_min_rank(s, 0, 1, "data"))
		return false;
	if (!in_ranked(s, 0))
		return true;
	return need_rank(s, 1, in_type(s, 0)->rank, "indices")
	    && attr_axis(s, "axis", 0, in_type(s, 0)->rank, &axis)
	    && check_indices(s, 1, in_type(s, 0)->dim[axis]);
}

/* indices.shape[:-1] + data.shape[batch_dims + indices.shape[-1]:] */
bool
rule_gathernd(struct site *s)
{
	const struct type *x = in_type(s, 0), *at = in_type(s, 1);
	int64_t batch = attr_int_or(s->n, "batch_dims", 0), depth, *dim;
	uint32_t n = 0;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!need_min_rank(s, 0, 1, "data")
	    || !need_min_rank(s, 1, 1, "indices"))
		return false;
	if (!in_ranked(s, 0) || !in_ranked(s, 1))
		return true;
	if (batch < 0 || batch >= (int64_t)x->rank
	    || batch >= (int64_t)at->rank)
		return fault(s, "batch_dims %" PRId64, batch);
	depth = at->dim[at->rank - 1];
	if (depth < 0)
		return true;
	if (depth < 1 || depth > (int64_t)x->rank - batch)
		return fault(s,
		    "indices have %" PRId64
		    " coordinates for data of rank %" PRIu32,
		    depth, x->rank);
	dim = dims_new(s, x->rank + at->rank);
	for (uint32_t i = 0; i + 1 < at->rank; i++)
		dim[n++] = at->dim[i];
	for (int64_t i = batch + depth; i < (int64_t)x->rank; i++)
		dim[n++] = x->dim[i];
	out_tensor(s, 0, x->dtype, n, dim);
	return true;
}

/* data, indices, updates: the shape of data. */
bool
rule_scatterelements(struct site *s)
{
	uint32_t axis;

	out_type(s, 0, in_type(s, 0));
	if (!check_index_dtype(s, 1) || !need_min_rank(s, 0, 1, "data"))
		return false;
	if (!in_ranked(s, 0))
		return true;
	return need_rank(s, 1, in_type(s, 0)->rank, "indices")
	    && need_rank(s, 2, in_type(s, 0)->rank, "updates")
	    && attr_axis(s, "axis", 0, in_type(s, 0)->rank, &axis)
	    && check_indices(s, 1, in_type(s, 0)->dim[axis]);
}

bool
rule_scatternd(struct site *s)
{
	const struct type *x = in_type(s, 0), *at = in_type(s, 1);
	const struct type *up = in_type(s, 2);
	int64_t depth, met;
	uint32_t lead;

	out_type(s, 0, x);
	if (!need_min_rank(s, 0, 1, "data")
	    || !need_min_rank(s, 1, 1, "indices"))
		return false;
	if (!in_ranked(s, 0) || !in_ranked(s, 1) || !in_ranked(s, 2))
		return true;
	lead = at->rank - 1;
	depth = at->dim[lead];
	if (depth < 0)
		return true;
	if (depth > (int64_t)x->rank)
		return fault(s,
		    "indices have %" PRId64
		    " coordinates for data of rank %" PRIu32,
		    depth, x->rank);
	if (up->rank != lead + x->rank - (uint32_t)depth)
		return fault(s,
		    "updates have rank %" PRIu32 ", %" PRIu32 " is needed",
		    up->rank, lead + x->rank - (uint32_t)depth);
	for (uint32_t i = 0; i < up->rank; i++)
		if (!dim_meet(s, "updates", up->dim[i],
		        i < lead ? at->dim[i]
		                 : x->dim[i - lead + (uint32_t)depth],
		        &met))
			return false;
	return true;
}
