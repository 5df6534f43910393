/* Operators that give the same elements another shape. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/base/bitset.h"

/* Reshape under work: dimensions copied from the input stand on both sides
 * and cancel, so they need not be known. */
struct reshape {
	const struct type *x;
	const struct nums *shape;
	int64_t *dim; /* [shape->n] */
	struct num *top, *bottom; /* what does not cancel */
	uint32_t ntop, nbottom;
	int64_t open; /* index of -1, or of the one unknown entry; else -1 */
	bool minus_one;
};

static bool
copy_dim(struct site *s, struct reshape *r, uint32_t i, struct bitset copied)
{
	if (i >= r->x->rank)
		return fault(s,
		    "shape[%" PRIu32 "] is 0 (copy) but x has rank %" PRIu32, i,
		    r->x->rank);
	r->dim[i] = r->x->dim[i];
	bitset_add(copied, i);
	return true;
}

static bool
open_dim(struct site *s, struct reshape *r, uint32_t i)
{
	if (r->minus_one)
		return fault(s, "shape has more than one -1");
	r->open = i;
	r->minus_one = true;
	return true;
}

static bool
place_dims(struct site *s, struct reshape *r, struct bitset copied)
{
	bool zero_is_zero = attr_int_or(s->n, "allowzero", 0) != 0;

	for (uint32_t i = 0; i < r->shape->n; i++) {
		struct num e = r->shape->e[i];

		r->dim[i] = num_as_dim(e);
		if (e.known && e.v == 0 && !zero_is_zero) {
			if (!copy_dim(s, r, i, copied))
				return false;
		} else if (e.known && e.v == -1) {
			if (!open_dim(s, r, i))
				return false;
		} else if (e.known && e.v < -1) {
			return fault(
			    s, "shape[%" PRIu32 "] is %" PRId64, i, e.v);
		} else {
			r->bottom[r->nbottom++] = e;
		}
	}
	return true;
}

/* Without -1, a single unknown entry is what makes the counts equal. */
static void
open_only_unknown(struct reshape *r)
{
	uint32_t unknown = 0, at = 0;

	if (r->minus_one)
		return;
	for (uint32_t i = 0; i < r->shape->n; i++)
		if (r->dim[i] == DIM_UNKNOWN) {
			unknown++;
			at = i;
		}
	if (unknown != 1 || r->shape->e[at].v != DIM_UNKNOWN)
		return;
	r->open = at;
	for (uint32_t i = 0; i < r->nbottom; i++)
		if (!r->bottom[i].known && r->bottom[i].v == DIM_UNKNOWN) {
			r->bottom[i] = r->bottom[--r->nbottom];
			return;
		}
	r->open = -1; /* the unknown one was copied: it is equal already */
}

static bool
product(struct site *s, const struct num *x, uint32_t n, struct num *out)
{
	*out = num_int(1);
	for (uint32_t i = 0; i < n; i++)
		if (!site_mul(s, *out, x[i], out))
			return false;
	return true;
}

static bool
check_counts(struct site *s, const struct reshape *r, struct num *open)
{
	struct num top, bottom;

	if (!product(s, r->top, r->ntop, &top)
	    || !product(s, r->bottom, r->nbottom, &bottom))
		return false;
	if (!top.known || !bottom.known)
		return true;
	if (r->open < 0)
		return top.v == bottom.v
		    || fault(s,
		        "%" PRId64 " elements cannot take a shape of %" PRId64,
		        top.v, bottom.v);
	if (bottom.v == 0) {
		*open = NUM_UNKNOWN;
		return !r->minus_one
		    || fault(s, "-1 beside a dimension of 0 has no size");
	}
	return top.v % bottom.v == 0
	    || fault(s, "%" PRId64 " elements are not a multiple of %" PRId64,
	        top.v, bottom.v);
}

static bool
solve(struct site *s, struct reshape *r)
{
	struct bitset copied = bitset_new(s->pass->scratch,
	    r->x->rank > r->shape->n ? r->x->rank : r->shape->n);
	struct num open = NUM_UNKNOWN;

	if (!place_dims(s, r, copied))
		return false;
	open_only_unknown(r);
	for (uint32_t i = 0; i < r->x->rank; i++)
		if (!bitset_has(copied, i))
			r->top[r->ntop++] = num_dim(r->x->dim[i]);
	if (!check_counts(s, r, &open))
		return false;
	if (r->open < 0)
		return true;
	if (!num_quotient(&s->pass->symbols, r->top, r->ntop, r->bottom,
	        r->nbottom, &open))
		return fault(s, "element count overflows");
	r->dim[r->open] = num_as_dim(open);
	return true;
}

/* The input's rank is not known: entries that say a size are all there is. */
static bool
reshape_unranked(struct site *s, const struct nums *shape)
{
	int64_t *dim = dims_new(s, shape->n);

	for (uint32_t i = 0; i < shape->n; i++)
		dim[i] = shape->e[i].known && shape->e[i].v <= 0
		    ? DIM_UNKNOWN
		    : num_as_dim(shape->e[i]);
	out_tensor(s, 0, in_dtype(s, 0), shape->n, dim);
	return true;
}

bool
rule_reshape(struct site *s)
{
	struct nums shape;
	struct reshape r = {.x = in_type(s, 0), .shape = &shape, .open = -1};

	if (!list_of(s, "shape", 1, &shape))
		return false;
	if (!shape.given)
		return fault(s, "no shape is given");
	out_unranked(s, 0, in_dtype(s, 0));
	if (!shape.known)
		return true;
	if (!in_ranked(s, 0))
		return reshape_unranked(s, &shape);
	r.dim = dims_new(s, shape.n);
	r.top = small_new(s, r.x->rank);
	r.bottom = small_new(s, shape.n);
	if (!solve(s, &r))
		return false;
	out_tensor(s, 0, r.x->dtype, shape.n, r.dim);
	return true;
}

bool
rule_flatten(struct site *s)
{
	const struct type *x = in_type(s, 0);
	int64_t axis = attr_int_or(s->n, "axis", 1);
	struct num side[2] = {num_int(1), num_int(1)};
	int64_t *dim = dims_new(s, 2);

	if (!in_ranked(s, 0)) {
		out_rank(s, 0, in_dtype(s, 0), 2);
		return true;
	}
	if (axis < -(int64_t)x->rank || axis > (int64_t)x->rank)
		return fault(s, "axis %" PRId64 " is outside rank %" PRIu32,
		    axis, x->rank);
	if (axis < 0)
		axis += (int64_t)x->rank;
	for (uint32_t i = 0; i < x->rank; i++)
		if (!site_mul(s, side[i >= axis], num_dim(x->dim[i]),
		        &side[i >= axis]))
			return false;
	dim[0] = num_as_dim(side[0]);
	dim[1] = num_as_dim(side[1]);
	out_tensor(s, 0, x->dtype, 2, dim);
	return true;
}

/* Mark each axis; a repeated one is a fault. */
static bool
mark_axes(
    struct site *s, const struct nums *axes, uint32_t rank, struct bitset *set)
{
	*set = bitset_new(s->pass->scratch, rank);
	for (uint32_t i = 0; i < axes->n; i++) {
		uint32_t axis;

		if (!site_axis(s, "axes", axes->e[i].v, rank, &axis))
			return false;
		if (bitset_has(*set, axis))
			return fault(
			    s, "axis %" PRIu32 " is given twice", axis);
		bitset_add(*set, axis);
	}
	return true;
}

/* All dimensions of 1 go; unknown ones leave the rank open. */
static bool
squeeze_all(struct site *s, const struct type *x)
{
	int64_t *dim = dims_new(s, x->rank);
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->rank; i++) {
		if (x->dim[i] < 0) {
			out_unranked(s, 0, x->dtype);
			return true;
		}
		if (x->dim[i] != 1)
			dim[n++] = x->dim[i];
	}
	out_tensor(s, 0, x->dtype, n, dim);
	return true;
}

bool
rule_squeeze(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct bitset set;
	struct nums axes;
	int64_t *dim;
	uint32_t n = 0;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!list_of(s, "axes", 1, &axes))
		return false;
	if (!in_ranked(s, 0) || (axes.given && !nums_all_known(&axes)))
		return true;
	if (!axes.given)
		return squeeze_all(s, x);
	if (!mark_axes(s, &axes, x->rank, &set))
		return false;
	dim = dims_new(s, x->rank);
	for (uint32_t i = 0; i < x->rank; i++) {
		if (!bitset_has(set, i))
			dim[n++] = x->dim[i];
		else if (x->dim[i] >= 0 && x->dim[i] != 1)
			return fault(s,
			    "axis %" PRIu32 " has size %" PRId64
			    ", 1 is needed",
			    i, x->dim[i]);
	}
	out_tensor(s, 0, x->dtype, n, dim);
	return true;
}

bool
rule_unsqueeze(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct bitset set;
	struct nums axes;
	uint32_t rank, from = 0;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!list_of(s, "axes", 1, &axes))
		return false;
	if (!axes.given)
		return fault(s, "no axes are given");
	if (!in_ranked(s, 0) || !axes.known)
		return true;
	rank = x->rank + axes.n;
	if (rank > RANK_MAX)
		return fault(s,
		    "output has rank %" PRIu32 ", above the limit of %u", rank,
		    RANK_MAX);
	if (!nums_all_known(&axes)) {
		out_rank(s, 0, x->dtype, rank);
		return true;
	}
	if (!mark_axes(s, &axes, rank, &set))
		return false;
	dim = dims_new(s, rank);
	for (uint32_t i = 0; i < rank; i++)
		dim[i] = bitset_has(set, i) ? 1 : x->dim[from++];
	out_tensor(s, 0, x->dtype, rank, dim);
	return true;
}
