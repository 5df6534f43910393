/* Resampling: output sizes from scales or sizes. */
#include "ir/infer/rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/base/bitset.h"
#include "ir/base/size.h"

static bool
scaled(struct site *s, int64_t size, double scale, int64_t *out)
{
	double n;

	if (!(scale > 0) || isinf(scale))
		return fault(s, "scale %g", scale);
	*out = DIM_UNKNOWN;
	if (scale == 1)
		*out = size;
	if (size < 0)
		return true;
	n = size_scaled(size, scale);
	if (n > 0x1p62)
		return fault(
		    s, "dimension %" PRId64 " scaled by %g", size, scale);
	*out = (int64_t)n;
	return true;
}

/* The axes the scales or sizes are for: all, or attribute axes (opset 18). */
static bool
resized_axes(struct site *s, uint32_t rank, uint32_t *axis, uint32_t *n)
{
	uint32_t count;
	const int64_t *axes = attr_ints(s->n, "axes", &count);
	struct bitset seen = bitset_new(s->pass->scratch, rank);

	*n = axes ? count : rank;
	if (*n > rank)
		return fault(s, "%" PRIu32 " axes for rank %" PRIu32, *n, rank);
	for (uint32_t i = 0; i < *n; i++) {
		axis[i] = i;
		if (axes && !site_axis(s, "axes", axes[i], rank, &axis[i]))
			return false;
		if (bitset_has(seen, axis[i]))
			return fault(
			    s, "axis %" PRIu32 " is given twice", axis[i]);
		bitset_add(seen, axis[i]);
	}
	return true;
}

static bool
is_real_tensor(const struct tensor *t)
{
	return (t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL)
	    && (t->dtype == DT_FLOAT || t->dtype == DT_DOUBLE
	        || t->dtype == DT_FLOAT16 || t->dtype == DT_BFLOAT16);
}

/* Scales from an input, or attribute `scales` (Upsample before opset 9). */
static bool
by_scales(struct site *s, uint32_t input, const uint32_t *axis, uint32_t n,
    int64_t *dim)
{
	const struct attr *a = node_attr(s->n, "scales");
	const struct tensor *t = in_content(s, input);
	bool given = a && a->kind == ATTR_FLOATS;
	size_t count = given ? a->n : t && is_real_tensor(t) ? t->count : 0;

	if (!given && (!t || !is_real_tensor(t))) {
		for (uint32_t i = 0; i < n; i++)
			dim[axis[i]] = DIM_UNKNOWN;
		return true;
	}
	if (count != n)
		return fault(s, "%zu scales, %" PRIu32 " are needed", count, n);
	for (uint32_t i = 0; i < n; i++) {
		double by = given ? (double)a->floats[i] : tensor_real(t, i);

		if (!scaled(s, dim[axis[i]], by, &dim[axis[i]]))
			return false;
	}
	return true;
}

/* keep_aspect_ratio_policy makes one scale of all sizes. */
static bool
by_policy(struct site *s, const struct nums *sizes, const uint32_t *axis,
    int64_t *dim)
{
	struct string_view v =
	    attr_str_or(s->n, "keep_aspect_ratio_policy", "stretch");
	bool larger = v.n == 10 && memcmp(v.s, "not_larger", v.n) == 0;
	double scale = 0;

	for (uint32_t i = 0; i < sizes->n; i++) {
		double by;

		if (!sizes->e[i].known || dim[axis[i]] <= 0) {
			for (uint32_t k = 0; k < sizes->n; k++)
				dim[axis[k]] = DIM_UNKNOWN;
			return true;
		}
		by = (double)sizes->e[i].v / (double)dim[axis[i]];
		if (i == 0 || (larger ? by < scale : by > scale))
			scale = by;
	}
	for (uint32_t i = 0; i < sizes->n; i++)
		dim[axis[i]] =
		    (int64_t)floor(scale * (double)dim[axis[i]] + 0.5);
	return true;
}

static bool
by_sizes(struct site *s, const uint32_t *axis, uint32_t n, int64_t *dim)
{
	struct string_view v =
	    attr_str_or(s->n, "keep_aspect_ratio_policy", "stretch");
	struct nums sizes;

	if (!list_of(s, NULL, 3, &sizes))
		return false;
	if (sizes.known && sizes.n != n)
		return fault(
		    s, "%" PRIu32 " sizes, %" PRIu32 " are needed", sizes.n, n);
	for (uint32_t i = 0; i < n && sizes.known; i++)
		if (sizes.e[i].known
		    && (sizes.e[i].v < 0 || sizes.e[i].v > INT64_C(1) << 40))
			return fault(s, "sizes[%" PRIu32 "] is %" PRId64, i,
			    sizes.e[i].v);
	if (sizes.known && v.n != 7) /* not "stretch" */
		return by_policy(s, &sizes, axis, dim);
	for (uint32_t i = 0; i < n; i++)
		dim[axis[i]] =
		    sizes.known ? num_as_dim(sizes.e[i]) : DIM_UNKNOWN;
	return true;
}

/* tf_crop_and_resize cuts a region out first; only scales are affected. */
static bool
uses_roi(const struct site *s)
{
	struct string_view v =
	    attr_str_or(s->n, "coordinate_transformation_mode", "half_pixel");

	return v.n == 18 && memcmp(v.s, "tf_crop_and_resize", v.n) == 0;
}

/* An input given as an empty tensor is an input left out (opset 11). */
static bool
is_absent(const struct site *s, uint32_t i)
{
	const struct type *t = in_type(s, i);

	return !t || (in_ranked(s, i) && t->rank == 1 && t->dim[0] == 0);
}

bool
rule_resize(struct site *s)
{
	const struct type *x = in_type(s, 0);
	uint32_t *axis, n;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0))
		return true;
	axis = arena_new(s->pass->scratch, uint32_t, x->rank);
	dim = dims_copy(s, x->dim, x->rank);
	if (!resized_axes(s, x->rank, axis, &n))
		return false;
	if (s->n->opset < 11 || s->n->op == OP_UPSAMPLE) {
		if (!by_scales(s, 1, axis, n, dim))
			return false;
	} else if (!is_absent(s, 3)) {
		if (!by_sizes(s, axis, n, dim))
			return false;
	} else if (is_absent(s, 2)) {
		return fault(s, "neither scales nor sizes are given");
	} else if (uses_roi(s)) {
		out_rank(s, 0, x->dtype, x->rank);
		return true;
	} else if (!by_scales(s, 2, axis, n, dim)) {
		return false;
	}
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* Upsample 1 had height_scale and width_scale. */
bool
rule_upsample(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t *dim;

	if (s->n->opset >= 7)
		return rule_resize(s);
	if (!need_rank(s, 0, 4, "x"))
		return false;
	out_rank(s, 0, in_dtype(s, 0), 4);
	if (!in_ranked(s, 0))
		return true;
	dim = dims_copy(s, x->dim, 4);
	if (!scaled(s, dim[2],
	        (double)attr_float_or(s->n, "height_scale", 1.0f), &dim[2])
	    || !scaled(s, dim[3],
	        (double)attr_float_or(s->n, "width_scale", 1.0f), &dim[3]))
		return false;
	out_tensor(s, 0, x->dtype, 4, dim);
	return true;
}

/* x [N, C, spatial...], grid [N, out..., coordinates]. */
bool
rule_gridsample(struct site *s)
{
	const struct type *x = in_type(s, 0), *grid = in_type(s, 1);
	int64_t *dim, met;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!need_min_rank(s, 0, 3, "x"))
		return false;
	if (!in_ranked(s, 0) || !in_ranked(s, 1))
		return true;
	if (grid->rank != x->rank)
		return fault(s, "grid has rank %" PRIu32 ", x has %" PRIu32,
		    grid->rank, x->rank);
	if (!dim_meet(s, "coordinates", grid->dim[grid->rank - 1],
	        (int64_t)x->rank - 2, &met))
		return false;
	dim = dims_new(s, x->rank);
	if (!dim_meet(s, "batches", x->dim[0], grid->dim[0], &dim[0]))
		return false;
	dim[1] = x->dim[1];
	for (uint32_t i = 2; i < x->rank; i++)
		dim[i] = grid->dim[i - 1];
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* theta [N, 2, 3] or [N, 3, 4], size [N, C, spatial...]. */
bool
rule_affinegrid(struct site *s)
{
	struct nums size;
	int64_t *dim;

	if (!need_rank(s, 0, 3, "theta") || !list_of(s, NULL, 1, &size))
		return false;
	out_unranked(s, 0, in_dtype(s, 0));
	if (!size.known)
		return true;
	if (size.n != 4 && size.n != 5)
		return fault(s,
		    "size has %" PRIu32 " entries, 4 or 5 are"
		    " needed",
		    size.n);
	for (uint32_t i = 0; i < size.n; i++)
		if (size.e[i].known && size.e[i].v < 0)
			return fault(
			    s, "size[%" PRIu32 "] is %" PRId64, i, size.e[i].v);
	dim = dims_new(s, size.n);
	dim[0] = num_as_dim(size.e[0]);
	for (uint32_t i = 2; i < size.n; i++)
		dim[i - 1] = num_as_dim(size.e[i]);
	dim[size.n - 1] = (int64_t)size.n - 2;
	out_tensor(s, 0, in_dtype(s, 0), size.n, dim);
	return true;
}
