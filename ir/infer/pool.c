/* Pools over [N, C, spatial...]. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/infer/window.h"

static bool
kernel_attr(struct site *s, uint32_t n, const int64_t **kernel)
{
	if (!window_list(s, "kernel_shape", n, 1, kernel))
		return false;
	return *kernel || fault(s, "attribute kernel_shape is missing");
}

static bool
pool_shape(struct site *s)
{
	const struct type *x = in_type(s, 0);
	const int64_t *kernel;
	struct infer_window w;
	int64_t *dim;
	uint32_t n;

	if (!need_min_rank(s, 0, 3, "x"))
		return false;
	if (!in_ranked(s, 0)) {
		out_unranked(s, 0, in_dtype(s, 0));
		return true;
	}
	n = x->rank - 2;
	if (!kernel_attr(s, n, &kernel) || !window_read(s, n, kernel, &w))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	for (uint32_t i = 0; i < n; i++)
		if (!window_out(s, &w, i, x->dim[i + 2], &dim[i + 2]))
			return false;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

bool
rule_pool(struct site *s)
{
	return pool_shape(s);
}

/* Indices of the maxima may be asked for. */
bool
rule_maxpool(struct site *s)
{
	if (!pool_shape(s))
		return false;
	out_shaped(s, 1, DT_INT64, &s->out[0]);
	return true;
}

bool
rule_globalpool(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t *dim;

	if (!need_min_rank(s, 0, 2, "x"))
		return false;
	if (!in_ranked(s, 0)) {
		out_unranked(s, 0, in_dtype(s, 0));
		return true;
	}
	dim = dims_copy(s, x->dim, x->rank);
	for (uint32_t i = 2; i < x->rank; i++)
		dim[i] = 1;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

bool
rule_maxunpool(struct site *s)
{
	const struct type *x = in_type(s, 0);
	const int64_t *kernel;
	struct infer_window w;
	int64_t *dim;

	if (!need_min_rank(s, 0, 3, "x"))
		return false;
	out_unranked(s, 0, in_dtype(s, 0));
	if (in_type(s, 2))
		return out_from_shape(s, 0, in_dtype(s, 0), 2);
	if (!in_ranked(s, 0))
		return true;
	if (!kernel_attr(s, x->rank - 2, &kernel)
	    || !window_read(s, x->rank - 2, kernel, &w))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	for (uint32_t i = 0; i < w.n; i++) /* what such a pool was made from */
		if (!window_in(s, &w, i, x->dim[i + 2], 0, &dim[i + 2]))
			return false;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* x [N, C, H, W] and one region a row: [regions, C, height, width]. */
static bool
regions(struct site *s, int64_t height, int64_t width)
{
	const struct type *x = in_type(s, 0), *rois = in_type(s, 1);
	int64_t *dim = dims_new(s, 4);

	if (!need_rank(s, 0, 4, "x") || !need_rank(s, 1, 2, "rois"))
		return false;
	if (height < 1 || width < 1)
		return fault(
		    s, "output size %" PRId64 "x%" PRId64, height, width);
	dim[0] = in_ranked(s, 1) ? rois->dim[0] : DIM_UNKNOWN;
	dim[1] = in_ranked(s, 0) ? x->dim[1] : DIM_UNKNOWN;
	dim[2] = height;
	dim[3] = width;
	out_tensor(s, 0, in_dtype(s, 0), 4, dim);
	return true;
}

bool
rule_maxroipool(struct site *s)
{
	const int64_t *shape;

	if (!window_list(s, "pooled_shape", 2, 1, &shape))
		return false;
	if (!shape)
		return fault(s, "attribute pooled_shape is missing");
	return regions(s, shape[0], shape[1]);
}

bool
rule_roialign(struct site *s)
{
	return need_rank(s, 2, 1, "batch_indices")
	    && regions(s, attr_int_or(s->n, "output_height", 1),
	        attr_int_or(s->n, "output_width", 1));
}
