/* Operators that move whole elements about: transposes, joins, splits. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/base/bitset.h"

/* perm, which must be a permutation of 0..rank-1; NULL: reversed. */
static bool
read_perm(struct site *s, uint32_t rank, const int64_t **perm)
{
	struct bitset seen = bitset_new(s->pass->scratch, rank);
	uint32_t n;

	*perm = attr_ints(s->n, "perm", &n);
	if (!*perm)
		return true;
	if (n != rank)
		return fault(s,
		    "perm has %" PRIu32 " entries but x has rank %" PRIu32, n,
		    rank);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t axis;

		if (!site_axis(s, "perm", (*perm)[i], rank, &axis))
			return false;
		if (bitset_has(seen, axis))
			return fault(s, "perm has %" PRIu32 " twice", axis);
		bitset_add(seen, axis);
	}
	return true;
}

bool
rule_transpose(struct site *s)
{
	const struct type *x = in_type(s, 0);
	const int64_t *perm;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0))
		return true;
	if (!read_perm(s, x->rank, &perm))
		return false;
	dim = dims_new(s, x->rank);
	for (uint32_t i = 0; i < x->rank; i++) {
		int64_t from = perm ? perm[i] : (int64_t)(x->rank - 1 - i);

		dim[i] = x->dim[from < 0 ? from + (int64_t)x->rank : from];
	}
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* Meet the dimensions of one more input of a Concat. */
static bool
join(struct site *s, uint32_t i, uint32_t axis, int64_t *dim)
{
	const struct type *x = in_type(s, i), *first = in_type(s, 0);
	struct num sum;

	if (x->rank != first->rank)
		return fault(s,
		    "input %" PRIu32 " has rank %" PRIu32
		    " but input 0 has %" PRIu32,
		    i, x->rank, first->rank);
	for (uint32_t k = 0; k < x->rank; k++)
		if (k != axis
		    && !dim_meet(s, "inputs", dim[k], x->dim[k], &dim[k]))
			return false;
	if (!site_add(s, num_dim(dim[axis]), num_dim(x->dim[axis]), &sum))
		return false;
	dim[axis] = num_as_dim(sum);
	return true;
}

bool
rule_concat(struct site *s)
{
	const struct type *x = in_type(s, 0);
	enum dtype dtype;
	uint32_t axis;
	int64_t *dim;

	if (!same_dtypes(s, 0, s->n->ninputs, &dtype))
		return false;
	out_unranked(s, 0, dtype);
	if (!node_attr(s->n, "axis") && s->n->opset >= 4)
		return fault(s, "attribute axis is missing");
	for (uint32_t i = 0; i < s->n->ninputs; i++)
		if (!in_ranked(s, i))
			return true;
	if (!attr_axis(s, "axis", 1, x->rank, &axis))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	for (uint32_t i = 1; i < s->n->ninputs; i++)
		if (!join(s, i, axis, dim))
			return false;
	out_tensor(s, 0, dtype, x->rank, dim);
	return true;
}

/* Equal parts; from opset 18 the last may be smaller. */
static bool
split_evenly(struct site *s, int64_t size, uint32_t i, int64_t *out)
{
	int64_t parts = attr_int_or(s->n, "num_outputs", s->n->noutputs);
	int64_t each, rest;

	if (parts != (int64_t)s->n->noutputs)
		return fault(s,
		    "num_outputs %" PRId64 " but the node has %" PRIu32, parts,
		    s->n->noutputs);
	*out = DIM_UNKNOWN;
	if (size < 0)
		return true;
	if (s->n->opset < 18 && size % parts != 0)
		return fault(s,
		    "%" PRId64 " does not split into %" PRId64 " equal parts",
		    size, parts);
	each = size / parts + (size % parts != 0);
	rest = size - each * (int64_t)i;
	*out = rest < 0 ? 0 : rest < each ? rest : each;
	return true;
}

static bool
check_sizes(struct site *s, const struct nums *sizes, int64_t whole)
{
	struct num sum = num_int(0);

	if (sizes->n != s->n->noutputs)
		return fault(s,
		    "split has %" PRIu32 " sizes but the node has %" PRIu32
		    " outputs",
		    sizes->n, s->n->noutputs);
	for (uint32_t i = 0; i < sizes->n; i++) {
		if (sizes->e[i].known && sizes->e[i].v < 0)
			return fault(s, "split[%" PRIu32 "] is %" PRId64, i,
			    sizes->e[i].v);
		if (!site_add(s, sum, sizes->e[i], &sum))
			return false;
	}
	if (sum.known && whole >= 0 && sum.v != whole)
		return fault(s,
		    "split sizes sum to %" PRId64 " but the axis has %" PRId64,
		    sum.v, whole);
	return true;
}

bool
rule_split(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct nums sizes;
	uint32_t axis;

	if (!list_of(s, "split", 1, &sizes))
		return false;
	for (uint32_t i = 0; i < s->n->noutputs; i++)
		out_unranked(s, i, in_dtype(s, 0));
	if (!in_ranked(s, 0))
		return true;
	if (!attr_axis(s, "axis", 0, x->rank, &axis))
		return false;
	if (sizes.known && !check_sizes(s, &sizes, x->dim[axis]))
		return false;
	for (uint32_t i = 0; i < s->n->noutputs; i++) {
		int64_t *dim = dims_copy(s, x->dim, x->rank);

		dim[axis] = DIM_UNKNOWN;
		if (sizes.known)
			dim[axis] = num_as_dim(sizes.e[i]);
		else if (!sizes.given
		    && !split_evenly(s, x->dim[axis], i, &dim[axis]))
			return false;
		out_tensor(s, i, x->dtype, x->rank, dim);
	}
	return true;
}

/* A shape given as input i: the shape of output `out`. */
bool
out_from_shape(struct site *s, uint32_t out, enum dtype dtype, uint32_t i)
{
	struct nums shape;
	int64_t *dim;

	if (!list_of(s, NULL, i, &shape))
		return false;
	out_unranked(s, out, dtype);
	if (!shape.known)
		return true;
	dim = dims_new(s, shape.n);
	for (uint32_t k = 0; k < shape.n; k++) {
		if (shape.e[k].known && shape.e[k].v < 0)
			return fault(s, "shape[%" PRIu32 "] is %" PRId64, k,
			    shape.e[k].v);
		dim[k] = num_as_dim(shape.e[k]);
	}
	out_tensor(s, out, dtype, shape.n, dim);
	return true;
}

bool
rule_expand(struct site *s)
{
	enum dtype dtype = in_dtype(s, 0);
	struct type t;

	if (!out_from_shape(s, 0, dtype, 1))
		return false;
	if (!in_ranked(s, 0) || s->out[0].rank == RANK_UNKNOWN) {
		out_unranked(s, 0, dtype);
		return true;
	}
	if (!type_broadcast(s, in_type(s, 0), &s->out[0], &t))
		return false;
	out_tensor(s, 0, dtype, t.rank, t.dim);
	return true;
}

/* Opset 1 has one count and one axis instead of a list. */
static bool
tile_legacy(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct small tiles = in_small(s, 1), at = in_small(s, 2);
	int64_t *dim;
	uint32_t axis;
	struct num n;

	if (!tiles.e || tiles.n != 1 || !at.e || at.n != 1 || !at.e[0].known) {
		out_rank(s, 0, x->dtype, x->rank);
		return true;
	}
	if (!site_axis(s, "axis", at.e[0].v, x->rank, &axis))
		return false;
	dim = dims_copy(s, x->dim, x->rank);
	if (!site_mul(s, num_dim(dim[axis]), tiles.e[0], &n))
		return false;
	dim[axis] = num_as_dim(n);
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

bool
rule_tile(struct site *s)
{
	const struct type *x = in_type(s, 0);
	struct nums repeats;
	int64_t *dim;

	out_unranked(s, 0, in_dtype(s, 0));
	if (!in_ranked(s, 0))
		return true;
	if (s->n->opset < 6)
		return tile_legacy(s);
	if (!list_of(s, NULL, 1, &repeats))
		return false;
	if (repeats.known && repeats.n != x->rank)
		return fault(s, "%" PRIu32 " repeats but x has rank %" PRIu32,
		    repeats.n, x->rank);
	dim = dims_new(s, x->rank);
	for (uint32_t i = 0; i < x->rank; i++) {
		struct num n = repeats.known ? repeats.e[i] : NUM_UNKNOWN;

		if (n.known && n.v < 0)
			return fault(
			    s, "repeats[%" PRIu32 "] is %" PRId64, i, n.v);
		if (!site_mul(s, num_dim(x->dim[i]), n, &n))
			return false;
		dim[i] = num_as_dim(n);
	}
	out_tensor(s, 0, x->dtype, x->rank, dim);
	return true;
}

/* Exact division of a dimension by `by`. */
static bool
divide(struct site *s, const char *what, int64_t dim, int64_t by, int64_t *out)
{
	struct num n;

	if (dim >= 0 && dim % by != 0)
		return fault(s, "%s %" PRId64 " is not a multiple of %" PRId64,
		    what, dim, by);
	num_div_floor(&s->pass->symbols, num_dim(dim), num_int(by), &n);
	*out = num_as_dim(n);
	return true;
}

static bool
multiply(struct site *s, int64_t dim, int64_t by, int64_t *out)
{
	struct num n;

	if (!site_mul(s, num_dim(dim), num_int(by), &n))
		return false;
	*out = num_as_dim(n);
	return true;
}

/* [N, C, H, W] with blocks of b x b pixels moved into channels, or back. */
static bool
reblock(struct site *s, bool to_depth)
{
	const struct type *x = in_type(s, 0);
	int64_t b = attr_int_or(s->n, "blocksize", 0);
	int64_t *dim = dims_new(s, 4), square;

	if (b < 1 || b > INT32_MAX)
		return fault(s, "blocksize %" PRId64, b);
	if (!need_rank(s, 0, 4, "input"))
		return false;
	out_rank(s, 0, in_dtype(s, 0), 4);
	if (!in_ranked(s, 0))
		return true;
	square = b * b;
	dim[0] = x->dim[0];
	if (to_depth ? !multiply(s, x->dim[1], square, &dim[1])
	            || !divide(s, "height", x->dim[2], b, &dim[2])
	            || !divide(s, "width", x->dim[3], b, &dim[3])
	             : !divide(s, "channels", x->dim[1], square, &dim[1])
	            || !multiply(s, x->dim[2], b, &dim[2])
	            || !multiply(s, x->dim[3], b, &dim[3]))
		return false;
	out_tensor(s, 0, x->dtype, 4, dim);
	return true;
}

bool
rule_depthtospace(struct site *s)
{
	return reblock(s, false);
}

bool
rule_spacetodepth(struct site *s)
{
	return reblock(s, true);
}
