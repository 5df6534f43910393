/* Slices and paddings: dimensions cut and widened. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/base/bitset.h"

static int64_t
clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Elements of [start, end) by step over a dimension of known size. */
static int64_t
slice_count(int64_t size, int64_t start, int64_t end, int64_t step)
{
	int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
	uint64_t room, stride;

	if (size == 0)
		return 0;
	start = start < 0 ? start + size : start;
	end = end < 0 ? end + size : end;
	start = clamp(start, 0, high);
	end = clamp(end, low, high);
	if (step > 0 ? end <= start : start <= end)
		return 0;
	room = (uint64_t)(step > 0 ? end - start : start - end);
	stride = step > 0 ? (uint64_t)step : UINT64_MAX - (uint64_t)step + 1;
	return (int64_t)((room - 1) / stride + 1);
}

/* Anything this far past a dimension means "to the end". */
static bool
is_to_end(struct num end)
{
	return end.known && end.v >= INT32_MAX;
}

/* A dimension of unknown size, or bounds that are: the cases that can still
 * be said exactly. */
static bool
slice_symbolic(struct site *s, int64_t size, struct num start, struct num end,
    struct num step, int64_t *out)
{
	struct num n = NUM_UNKNOWN;
	bool whole = num_same(start, num_int(0))
	    && (is_to_end(end) || num_same(end, num_dim(size)));

	*out = DIM_UNKNOWN;
	if (!num_same(step, num_int(1))) {
		bool flip = num_same(step, num_int(-1))
		    && num_same(start, num_int(-1)) && end.known
		    && end.v <= -INT32_MAX;

		*out = flip ? size : DIM_UNKNOWN;
		return true;
	}
	if (whole) {
		*out = size;
	} else if (num_same(start, num_int(0)) && end.known && end.v == 0) {
		*out = 0;
	}
	(void)n;
	(void)s;
	return true;
}

struct slice_inputs {
	struct nums starts, ends, axes, steps;
};

static bool
read_slice(struct site *s, struct slice_inputs *l)
{
	const char *starts = s->n->opset < 10 ? "starts" : NULL;
	const char *ends = s->n->opset < 10 ? "ends" : NULL;
	const char *axes = s->n->opset < 10 ? "axes" : NULL;

	if (!list_of(s, starts, 1, &l->starts) || !list_of(s, ends, 2, &l->ends)
	    || !list_of(s, axes, 3, &l->axes)
	    || !list_of(s, NULL, 4, &l->steps))
		return false;
	if (!l->starts.given || !l->ends.given)
		return fault(s, "starts and ends are needed");
	if (l->starts.known && l->ends.known && l->starts.n != l->ends.n)
		return fault(s, "%" PRIu32 " starts but %" PRIu32 " ends",
		    l->starts.n, l->ends.n);
	if (l->starts.known && l->axes.known && l->starts.n != l->axes.n)
		return fault(s, "%" PRIu32 " starts but %" PRIu32 " axes",
		    l->starts.n, l->axes.n);
	if (l->starts.known && l->steps.known && l->starts.n != l->steps.n)
		return fault(s, "%" PRIu32 " starts but %" PRIu32 " steps",
		    l->starts.n, l->steps.n);
	return true;
}

static struct num
entry(const struct nums *l, uint32_t i, struct num otherwise)
{
	if (!l->given)
		return otherwise;
	return l->known ? l->e[i] : NUM_UNKNOWN;
}

static bool
slice_dim(
    struct site *s, const struct slice_inputs *l, uint32_t i, int64_t *dim)
{
	struct num start = entry(&l->starts, i, NUM_UNKNOWN);
	struct num end = entry(&l->ends, i, NUM_UNKNOWN);
	struct num step = entry(&l->steps, i, num_int(1));

	if (step.known && step.v == 0)
		return fault(s, "steps[%" PRIu32 "] is 0", i);
	if (*dim >= 0 && start.known && end.known && step.known) {
		*dim = slice_count(*dim, start.v, end.v, step.v);
		return true;
	}
	return slice_symbolic(s, *dim, start, end, step, dim);
}

static bool
slice_dims(
    struct site *s, const struct slice_inputs *l, uint32_t rank, int64_t *dim)
{
	struct bitset seen = bitset_new(s->pass->scratch, rank);
	uint32_t n = l->starts.n;

	if (!l->axes.given && n > rank)
		return fault(
		    s, "%" PRIu32 " starts but x has rank %" PRIu32, n, rank);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t axis = i;

		if (l->axes.given
		    && !site_axis(s, "axes", l->axes.e[i].v, rank, &axis))
			return false;
		if (bitset_has(seen, axis))
			return fault(
			    s, "axis %" PRIu32 " is given twice", axis);
		bitset_add(seen, axis);
		if (!slice_dim(s, l, i, &dim[axis]))
			return false;
	}
	return true;
}

bool
rule_slice(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct slice_inputs l;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!read_slice(s, &l))
		return false;
	if (!in_ranked(s, 0))
		return true;
	if (!l.starts.known || !l.ends.known
	    || (l.axes.given && !nums_all_known(&l.axes))
	    || (l.steps.given && !l.steps.known)) {
		out_rank(s, 0, x->dtype, x->rank);
		return true;
	}
	dim = dims_copy(s, x->dim, x->rank);
	if (!slice_dims(s, &l, x->rank, dim))
		return false;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* begins for each axis, then ends; axes (opset 18) choose which. */
static bool
pad_dims(struct site *s, const struct nums *pads, const struct nums *axes,
    uint32_t rank, int64_t *dim)
{
	uint32_t n = axes->given ? axes->n : rank;

	if (pads->n != 2 * n)
		return fault(s,
		    "pads has %" PRIu32 " entries, %" PRIu32 " are needed",
		    pads->n, 2 * n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t axis = i;
		struct num size;

		if (axes->given
		    && !site_axis(s, "axes", axes->e[i].v, rank, &axis))
			return false;
		if (!site_add(s, num_dim(dim[axis]), pads->e[i], &size)
		    || !site_add(s, size, pads->e[i + n], &size))
			return false;
		if (size.known && size.v < 0)
			return fault(s,
			    "dimension %" PRIu32 " becomes %" PRId64, axis,
			    size.v);
		dim[axis] = num_as_dim(size);
	}
	return true;
}

bool
rule_pad(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct nums pads, axes;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!list_of(s, s->n->opset < 2 ? "paddings" : "pads", 1, &pads)
	    || !list_of(s, NULL, 3, &axes))
		return false;
	if (!pads.given)
		return fault(s, "no pads are given");
	if (!in_ranked(s, 0))
		return true;
	if (!pads.known || (axes.given && !nums_all_known(&axes))) {
		out_rank(s, 0, x->dtype, x->rank);
		return true;
	}
	dim = dims_copy(s, x->dim, x->rank);
	if (!pad_dims(s, &pads, &axes, x->rank, dim))
		return false;
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* Crop or pad the axes to the sizes of input 1. */
bool
rule_centercroppad(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct nums shape, axes;
	int64_t *dim;

	out_type(s, 0, x);
	if (!list_of(s, NULL, 1, &shape)
	    || !list_of(s, "axes", UINT32_MAX, &axes))
		return false;
	if (!in_ranked(s, 0))
		return true;
	if (!shape.known) {
		out_rank(s, 0, x->dtype, x->rank);
		return true;
	}
	if (shape.n != (axes.given ? axes.n : x->rank))
		return fault(s, "shape has %" PRIu32 " entries", shape.n);
	dim = dims_copy(s, x->dim, x->rank);
	for (uint32_t i = 0; i < shape.n; i++) {
		uint32_t axis = i;

		if (axes.given
		    && !site_axis(s, "axes", axes.e[i].v, x->rank, &axis))
			return false;
		if (shape.e[i].known && shape.e[i].v < 0)
			return fault(s, "shape[%" PRIu32 "] is %" PRId64, i,
			    shape.e[i].v);
		dim[axis] = num_as_dim(shape.e[i]);
	}
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}
