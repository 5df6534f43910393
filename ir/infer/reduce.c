/* Reductions and running sums. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/base/bitset.h"

/* The shape of input 0 with `reduced` dimensions gone, or 1 with keepdims. */
static void
reduced_shape(struct site *s, enum dtype dtype, struct bitset reduced)
{
	const struct type *x = in_type(s, 0);
	bool keep = attr_int_or(s->n, "keepdims", 1) != 0;
	int64_t *dim = dims_new(s, x->rank);
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->rank; i++) {
		if (!bitset_has(reduced, i))
			dim[n++] = x->dim[i];
		else if (keep)
			dim[n++] = 1;
	}
	out_tensor(s, 0, dtype, n, dim);
}

static bool
collect_axes(
    struct site *s, const struct nums *axes, uint32_t rank, struct bitset *set)
{
	for (uint32_t i = 0; i < axes->n; i++) {
		uint32_t axis;

		if (!site_axis(s, "axes", axes->e[i].v, rank, &axis))
			return false;
		bitset_add(*set, axis);
	}
	return true;
}

/* The axes are not known: the rank is, when dimensions are kept or the number
 * of axes is known. */
static bool
unknown_axes(struct site *s, const struct nums *axes)
{
	const struct type *x = in_type(s, 0);

	if (attr_int_or(s->n, "keepdims", 1) != 0)
		out_rank(s, 0, x->dtype, x->rank);
	else if (axes->known && axes->n > 0 && axes->n <= x->rank)
		out_rank(s, 0, x->dtype, x->rank - axes->n);
	else
		out_unranked(s, 0, x->dtype);
	return true;
}

bool
rule_reduce(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct bitset set;
	struct nums axes;

	if (!list_of(s, "axes", 1, &axes))
		return false;
	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0))
		return true;
	if (axes.given && !nums_all_known(&axes))
		return unknown_axes(s, &axes);
	set = bitset_new(s->pass->scratch, x->rank);
	if (!collect_axes(s, &axes, x->rank, &set))
		return false;
	if (axes.n == 0 && attr_int_or(s->n, "noop_with_empty_axes", 0) == 0)
		for (uint32_t i = 0; i < x->rank; i++)
			bitset_add(set, i);
	reduced_shape(s, x->dtype, set);
	return true;
}

bool
rule_argreduce(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct bitset set;
	uint32_t axis;

	out_unranked(s, 0, DT_INT64);
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", 0, x->rank, &axis))
		return false;
	if (x->dim[axis] == 0)
		return fault(s, "axis %" PRIu32 " has no element", axis);
	set = bitset_new(s->pass->scratch, x->rank);
	bitset_add(set, axis);
	reduced_shape(s, DT_INT64, set);
	return true;
}

/* CumSum, CumProd: the axis is an input. */
bool
rule_cumulate(struct site *s)
{
	struct small axis = in_small(s, 1);
	uint32_t checked;

	out_type(s, 0, in_type(s, 0));
	if (!in_ranked(s, 0) || !axis.e || axis.n != 1 || !axis.e[0].known)
		return true;
	return site_axis(s, "axis", axis.e[0].v, in_type(s, 0)->rank, &checked);
}
