/* Gathering and scattering by index. */
#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"

/* Index -n..n-1 made 0..n-1. */
static bool
index_of(int64_t i, int64_t n, size_t *out, struct err *err)
{
	int64_t at = i < 0 ? i + n : i;

	if (at < 0 || at >= n)
		return err_set(err, ERR_INPUT, "index %lld outside -%lld..%lld",
		    (long long)i, (long long)n, (long long)n - 1);
	*out = (size_t)at;
	return true;
}

/* --- Gather -------------------------------------------------------------- */

static bool
gather_shape(const struct tensor *x, const struct tensor *index, uint32_t axis,
    struct shape *s, struct err *err)
{
	if (x->rank + index->rank > RANK_MAX + 1)
		return err_set(err, ERR_INPUT, "rank above %u", RANK_MAX);
	s->rank = 0;
	for (uint32_t d = 0; d < axis; d++)
		s->dim[s->rank++] = x->dim[d];
	for (uint32_t d = 0; d < index->rank; d++)
		s->dim[s->rank++] = index->dim[d];
	for (uint32_t d = axis + 1; d < x->rank; d++)
		s->dim[s->rank++] = x->dim[d];
	return true;
}

bool
gather_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *index = c->in[1];
	const unsigned char *from = host_bytes(c, x);
	size_t block, at, n = 0;
	struct shape s;
	struct sink to;
	uint32_t axis;

	if (!axis_of(attr_int_or(c->node, "axis", 0), x->rank, &axis, err)
	    || !gather_shape(x, index, axis, &s, err)
	    || !host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	block = shape_count(x->dim, axis + 1, x->rank) * host_unit(x->dtype);
	for (size_t o = 0; o < shape_count(x->dim, 0, axis); o++) {
		for (size_t i = 0; i < index->count; i++) {
			if (!index_of(
			        load_one_int(index, i), x->dim[axis], &at, err))
				return false;
			at += o * (size_t)x->dim[axis];
			if (block)
				memcpy((unsigned char *)to.data + n++ * block,
				    from + at * block, block);
		}
	}
	return true;
}

/* --- GatherElements, ScatterElements: one index an element --------------- */

/* Walk over the indices: operand 0 is their own place, operand 1 the place in
 * the data with the coordinate along `axis` left out. */
static bool
element_walk(struct walk *w, const struct tensor *data,
    const struct tensor *index, uint32_t axis, ptrdiff_t *axis_stride,
    struct err *err)
{
	ptrdiff_t stride[RANK_MAX];

	if (data->rank != index->rank)
		return err_set(err, ERR_INPUT, "data of rank %u, indices of %u",
		    data->rank, index->rank);
	for (uint32_t d = 0; d < data->rank; d++)
		if (d != axis && index->dim[d] > data->dim[d])
			return err_set(err, ERR_INPUT,
			    "indices are larger than data along axis %u", d);
	walk_init(w, index->rank, index->dim);
	strides_of(index->rank, index->dim, stride);
	walk_operand(w, stride);
	strides_of(data->rank, data->dim, stride);
	*axis_stride = stride[axis];
	stride[axis] = 0;
	walk_operand(w, stride);
	return true;
}

bool
gatherelements_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *index = c->in[1];
	const unsigned char *from = host_bytes(c, x);
	size_t unit = host_unit(x->dtype), at;
	struct shape s = shape_of(index);
	ptrdiff_t along;
	struct sink to;
	struct walk w;
	uint32_t axis;

	if (!axis_of(attr_int_or(c->node, "axis", 0), x->rank, &axis, err)
	    || !element_walk(&w, x, index, axis, &along, err)
	    || !host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	for (walk_start(&w); !w.done; walk_next(&w)) {
		for (size_t i = 0; i < w.n; i++) {
			ptrdiff_t y = w.at[0] + (ptrdiff_t)i * w.step[0];
			ptrdiff_t v = w.at[1] + (ptrdiff_t)i * w.step[1];

			if (!index_of(load_one_int(index, (size_t)y),
			        x->dim[axis], &at, err))
				return false;
			at = (size_t)(v + (ptrdiff_t)at * along);
			memcpy((unsigned char *)to.data + (size_t)y * unit,
			    from + at * unit, unit);
		}
	}
	return true;
}

/* Put an update where `at` is: the reduction attribute. */
typedef void combine(const struct sink *to, size_t at,
    const struct tensor *from, size_t from_at);

/* Ways to combine what is there (y) with an update (x). */
enum how { HOW_ADD, HOW_MUL, HOW_MAX, HOW_MIN };

static double
combined_real(double y, double x, enum how how)
{
	switch (how) {
	case HOW_ADD:
		return y + x;
	case HOW_MUL:
		return y * x;
	case HOW_MAX:
		return y > x || isnan(y) ? y : x;
	default:
		return y < x || isnan(y) ? y : x;
	}
}

static int64_t
combined_int(int64_t y, int64_t x, enum how how, bool unsign)
{
	bool greater = unsign ? (uint64_t)y > (uint64_t)x : y > x;

	switch (how) {
	case HOW_ADD:
		return (int64_t)((uint64_t)y + (uint64_t)x);
	case HOW_MUL:
		return (int64_t)((uint64_t)y * (uint64_t)x);
	case HOW_MAX:
		return greater ? y : x;
	default:
		return greater ? x : y;
	}
}

static void
combine_one(const struct sink *to, size_t at, const struct tensor *from,
    size_t from_at, enum how how)
{
	struct tensor there = {
	    .kind = TENSOR_VIEW, .dtype = to->dtype, .data = to->data};

	if (lane_of(to->dtype) == LANE_REAL) {
		double y = combined_real(
		    load_one(&there, at), load_one(from, from_at), how);

		store_real(to, at, 1, 1, &y);
	} else {
		int64_t y = combined_int(load_one_int(&there, at),
		    load_one_int(from, from_at), how, to->dtype == DT_UINT64);

		store_int(to, at, 1, 1, &y);
	}
}

static void
combine_add(
    const struct sink *to, size_t at, const struct tensor *from, size_t from_at)
{
	combine_one(to, at, from, from_at, HOW_ADD);
}

static void
combine_mul(
    const struct sink *to, size_t at, const struct tensor *from, size_t from_at)
{
	combine_one(to, at, from, from_at, HOW_MUL);
}

static void
combine_max(
    const struct sink *to, size_t at, const struct tensor *from, size_t from_at)
{
	combine_one(to, at, from, from_at, HOW_MAX);
}

static void
combine_min(
    const struct sink *to, size_t at, const struct tensor *from, size_t from_at)
{
	combine_one(to, at, from, from_at, HOW_MIN);
}

static void
combine_replace(
    const struct sink *to, size_t at, const struct tensor *from, size_t from_at)
{
	size_t unit = host_unit(to->dtype);
	const unsigned char *p = from->kind == TENSOR_FILL
	    ? from->fill
	    : (const unsigned char *)from->data + from_at * unit;

	memcpy((unsigned char *)to->data + at * unit, p, unit);
}

static combine *
combine_of(const struct node *n)
{
	if (attr_is(n, "reduction", "none", "add"))
		return combine_add;
	if (attr_is(n, "reduction", "none", "mul"))
		return combine_mul;
	if (attr_is(n, "reduction", "none", "max"))
		return combine_max;
	if (attr_is(n, "reduction", "none", "min"))
		return combine_min;
	return combine_replace;
}

/* Output 0 begins as a copy of the data. */
static bool
copy_data(struct call *c, struct sink *to, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);

	if (!host_out(c, 0, x->dtype, &s, to, err))
		return false;
	if (x->bytes)
		memcpy(to->data, host_bytes(c, x), x->bytes);
	return true;
}

bool
scatterelements_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *index = c->in[1], *new = c->in[2];
	combine *put = combine_of(c->node);
	ptrdiff_t along;
	struct sink to;
	struct walk w;
	uint32_t axis;
	size_t at;

	if (!axis_of(attr_int_or(c->node, "axis", 0), x->rank, &axis, err)
	    || !element_walk(&w, x, index, axis, &along, err))
		return false;
	if (new->count != index->count || new->dtype != x->dtype)
		return err_set(err, ERR_INPUT, "%zu updates for %zu indices",
		    new->count, index->count);
	if (!copy_data(c, &to, err))
		return false;
	for (walk_start(&w); !w.done; walk_next(&w)) {
		for (size_t i = 0; i < w.n; i++) {
			ptrdiff_t y = w.at[0] + (ptrdiff_t)i * w.step[0];
			ptrdiff_t v = w.at[1] + (ptrdiff_t)i * w.step[1];

			if (!index_of(load_one_int(index, (size_t)y),
			        x->dim[axis], &at, err))
				return false;
			put(&to, (size_t)(v + (ptrdiff_t)at * along), new,
			    (size_t)y);
		}
	}
	return true;
}

/* --- GatherND, ScatterND: an index a slice ------------------------------- */

/* Indices [..., k] address slices of `block` elements of dims after
 * `skip` (batch) + k. */
struct slice_copy {
	size_t k, n, block;
	uint32_t skip;
};

static bool
slices_of(struct slice_copy *s, const struct tensor *data,
    const struct tensor *index, int64_t skip, struct err *err)
{
	int64_t k = index->rank ? index->dim[index->rank - 1] : 0;

	if (index->rank == 0 || skip < 0 || skip >= index->rank
	    || k > (int64_t)data->rank - skip || k < 0)
		return err_set(err, ERR_INPUT,
		    "indices of rank %u into data of rank %u", index->rank,
		    data->rank);
	s->k = (size_t)k;
	s->skip = (uint32_t)skip;
	s->n = shape_count(index->dim, 0, index->rank - 1);
	s->block = shape_count(data->dim, s->skip + (uint32_t)k, data->rank);
	return true;
}

/* Number of the slice that index tuple i addresses, batch dims not counted. */
static bool
slice_at(const struct slice_copy *s, const struct tensor *data,
    const struct tensor *index, size_t i, size_t *at, struct err *err)
{
	*at = 0;
	for (size_t j = 0; j < s->k; j++) {
		int64_t dim = data->dim[s->skip + j];
		size_t one;

		if (!index_of(
		        load_one_int(index, i * s->k + j), dim, &one, err))
			return false;
		*at = *at * (size_t)dim + one;
	}
	return true;
}

bool
gathernd_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *index = c->in[1];
	int64_t skip = attr_int_or(c->node, "batch_dims", 0);
	struct slice_copy v;
	struct shape s = {.rank = 0};
	struct sink to;
	size_t batches, per, bytes, at;
	uint32_t first;

	if (!slices_of(&v, x, index, skip, err))
		return false;
	first = v.skip + (uint32_t)v.k;
	if (index->rank - 1 + x->rank - first > RANK_MAX)
		return err_set(err, ERR_INPUT, "rank above %u", RANK_MAX);
	for (uint32_t d = 0; d + 1 < index->rank; d++)
		s.dim[s.rank++] = index->dim[d];
	for (uint32_t d = first; d < x->rank; d++)
		s.dim[s.rank++] = x->dim[d];
	batches = shape_count(x->dim, 0, v.skip);
	if (batches != shape_count(index->dim, 0, v.skip))
		return err_set(err, ERR_INPUT, "batches differ");
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	per = batches ? v.n / batches : 0;
	bytes = v.block * host_unit(x->dtype);
	for (size_t i = 0; i < v.n; i++) {
		if (!slice_at(&v, x, index, i, &at, err))
			return false;
		at += i / per * shape_count(x->dim, v.skip, first);
		if (bytes)
			memcpy((unsigned char *)to.data + i * bytes,
			    host_bytes(c, x) + at * bytes, bytes);
	}
	return true;
}

bool
scatternd_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *index = c->in[1], *new = c->in[2];
	combine *put = combine_of(c->node);
	struct slice_copy v;
	struct sink to;
	size_t at;

	if (!slices_of(&v, x, index, 0, err))
		return false;
	if (new->dtype != x->dtype || new->count != v.n * v.block)
		return err_set(err, ERR_INPUT, "%zu updates for %zu places",
		    new->count, v.n * v.block);
	if (!copy_data(c, &to, err))
		return false;
	for (size_t i = 0; i < v.n; i++) {
		if (!slice_at(&v, x, index, i, &at, err))
			return false;
		for (size_t j = 0; j < v.block; j++)
			put(&to, at * v.block + j, new, i * v.block + j);
	}
	return true;
}
