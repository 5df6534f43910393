/* Operators whose output size depends on content, or that pick by it. */
#include "ir/infer/rules.h"

#include <inttypes.h>
#include <math.h>

/* k is an attribute before opset 10, then an input. */
bool
rule_topk(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct nums k;
	int64_t *dim;
	uint32_t axis;

	if (!list_of(s, "k", 1, &k))
		return false;
	out_unranked(s, 0, in_dtype(s, 0));
	out_unranked(s, 1, DT_INT64);
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", -1, x->rank, &axis))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	dim[axis] = DIM_UNKNOWN;
	if (k.known && k.n == 1) {
		if (k.e[0].known && k.e[0].v < 0)
			return fault(s, "k is %" PRId64, k.e[0].v);
		dim[axis] = num_as_dim(k.e[0]);
	}
	if (dim[axis] >= 0 && x->dim[axis] >= 0 && dim[axis] > x->dim[axis])
		return fault(s, "k is %" PRId64 " but the axis has %" PRId64,
		    dim[axis], x->dim[axis]);
	out_tensor(s, 0, x->dtype, x->rank, dim);
	out_tensor(s, 1, DT_INT64, x->rank, dim);
	return true;
}

bool
rule_nonzero(struct site *s)
{
	int64_t *dim = dims_new(s, 2);

	/* a scalar has one coordinate less than none: opset 13 calls it a
	 * vector of one */
	dim[0] = in_ranked(s, 0) ? (int64_t)in_type(s, 0)->rank : DIM_UNKNOWN;
	dim[1] = DIM_UNKNOWN;
	out_tensor(s, 0, DT_INT64, 2, dim);
	return true;
}

/* depth may be of any numeric type; a float one is truncated. */
static struct num
depth_of(const struct site *s)
{
	const struct tensor *t = in_content(s, 1);
	struct small small = in_small(s, 1);
	double depth;

	if (small.e && small.n == 1)
		return small.e[0];
	if (!t || t->count != 1
	    || (t->kind != TENSOR_VIEW && t->kind != TENSOR_FILL)
	    || (t->dtype != DT_FLOAT && t->dtype != DT_DOUBLE
	        && t->dtype != DT_FLOAT16))
		return NUM_UNKNOWN;
	depth = tensor_real(t, 0);
	return fabs(depth) < 0x1p40 ? num_int((int64_t)depth) : NUM_UNKNOWN;
}

/* indices, depth, [off, on] */
bool
rule_onehot(struct site *s)
{
	const struct type *at = in_type(s, 0);
	struct num depth = depth_of(s);
	uint32_t axis, from = 0;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 2));
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", -1, at->rank + 1, &axis))
		return false;
	if (depth.known && depth.v < 0)
		return fault(s, "depth is %" PRId64, depth.v);
	dim = dims_new(s, at->rank + 1);
	for (uint32_t i = 0; i <= at->rank; i++)
		dim[i] = i == axis ? num_as_dim(depth) : at->dim[from++];
	out_tensor(s, 0, in_dtype(s, 2), at->rank + 1, dim);
	return true;
}

bool
rule_compress(struct site *s)
{
	const struct type *x = in_type(s, 0);
	enum dtype test = in_dtype(s, 1);
	int64_t *dim;
	uint32_t axis;

	if (test != DT_UNDEFINED && test != DT_BOOL)
		return fault(
		    s, "condition is %s, bool is needed", dtype_name(test));
	if (!need_rank(s, 1, 1, "condition"))
		return false;
	if (!node_attr(s->n, "axis")) {
		out_rank(s, 0, in_dtype(s, 0), 1);
		return true;
	}
	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", 0, x->rank, &axis))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	dim[axis] = DIM_UNKNOWN;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* y, indices, inverse indices, counts */
bool
rule_unique(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t *inverse = dims_new(s, 1);
	struct num n = num_int(1);
	uint32_t axis;

	inverse[0] = DIM_UNKNOWN;
	out_rank(s, 1, DT_INT64, 1);
	out_tensor(s, 2, DT_INT64, 1, inverse);
	out_rank(s, 3, DT_INT64, 1);
	if (!node_attr(s->n, "axis")) {
		out_rank(s, 0, in_dtype(s, 0), 1);
		for (uint32_t i = 0; in_ranked(s, 0) && i < x->rank; i++)
			if (!site_mul(s, n, num_dim(x->dim[i]), &n))
				return false;
		inverse[0] = in_ranked(s, 0) ? num_as_dim(n) : DIM_UNKNOWN;
		return true;
	}
	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", 0, x->rank, &axis))
		return false;
	inverse[0] = x->dim[axis];
	if (has_out(s, 0)) {
		int64_t *dim = dims_copy(s, x->dim, x->rank);

		dim[axis] = DIM_UNKNOWN;
		out_tensor(s, 0, x->dtype, x->rank, dim);
	}
	return true;
}

bool
rule_trilu(struct site *s)
{
	out_type(s, 0, in_type(s, 0));
	return need_min_rank(s, 0, 2, "input");
}

bool
rule_reversesequence(struct site *s)
{
	int64_t time = attr_int_or(s->n, "time_axis", 0);
	int64_t batch = attr_int_or(s->n, "batch_axis", 1);

	out_type(s, 0, in_type(s, 0));
	if (!need_min_rank(s, 0, 2, "input")
	    || !need_rank(s, 1, 1, "sequence_lens"))
		return false;
	if (time == batch || time < 0 || time > 1 || batch < 0 || batch > 1)
		return fault(s, "time_axis %" PRId64 ", batch_axis %" PRId64,
		    time, batch);
	return true;
}

/* boxes [N, boxes, 4], scores [N, classes, boxes]: rows of three indices. */
bool
rule_nonmaxsuppression(struct site *s)
{
	int64_t *dim = dims_new(s, 2), met;

	if (!need_rank(s, 0, 3, "boxes") || !need_rank(s, 1, 3, "scores"))
		return false;
	if (in_ranked(s, 0) && in_ranked(s, 1)
	    && (!dim_meet(s, "batches", in_type(s, 0)->dim[0],
	            in_type(s, 1)->dim[0], &met)
	        || !dim_meet(s, "boxes and scores", in_type(s, 0)->dim[1],
	            in_type(s, 1)->dim[2], &met)))
		return false;
	if (in_ranked(s, 0)
	    && !dim_meet(s, "box coordinates", in_type(s, 0)->dim[2], 4, &met))
		return false;
	dim[0] = DIM_UNKNOWN;
	dim[1] = 3;
	out_tensor(s, 0, DT_INT64, 2, dim);
	return true;
}

/* [batch, classes] of log-probabilities: [batch, sample_size]. */
bool
rule_multinomial(struct site *s)
{
	int64_t samples = attr_int_or(s->n, "sample_size", 1);
	int64_t *dim = dims_new(s, 2);
	enum dtype dtype;

	if (!need_rank(s, 0, 2, "input")
	    || !attr_dtype(s, "dtype", DT_INT32, &dtype))
		return false;
	if (samples < 1)
		return fault(s, "sample_size %" PRId64, samples);
	dim[0] = in_ranked(s, 0) ? in_type(s, 0)->dim[0] : DIM_UNKNOWN;
	dim[1] = samples;
	out_tensor(s, 0, dtype, 2, dim);
	return true;
}

/* The determinants of square matrices. */
bool
rule_det(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t met;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!need_min_rank(s, 0, 2, "x"))
		return false;
	if (!in_ranked(s, 0))
		return true;
	if (!dim_meet(s, "rows and columns", x->dim[x->rank - 2],
	        x->dim[x->rank - 1], &met))
		return false;
	out_tensor(s, 0, x->dtype, x->rank - 2, x->dim);
	return true;
}

/* past, update, write indices: past with a slice replaced. */
bool
rule_tensorscatter(struct site *s)
{
	const struct type *past = in_type(s, 0), *update = in_type(s, 1);
	uint32_t axis;

	out_type(s, 0, past);
	if (!in_ranked(s, 0))
		return true;
	if (!need_rank(s, 1, past->rank, "update")
	    || !attr_axis(s, "axis", -2, past->rank, &axis))
		return false;
	if (in_ranked(s, 1) && update->dim[axis] > past->dim[axis]
	    && past->dim[axis] >= 0)
		return fault(s,
		    "update has %" PRId64 " rows, the cache %" PRId64,
		    update->dim[axis], past->dim[axis]);
	return true;
}
