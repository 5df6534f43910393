/* Matrix products. */
#include "ir/infer/rules.h"

#include <inttypes.h>

/* numpy.matmul: vectors gain and lose a dimension, leading ones broadcast. */
static bool
matmul_dims(struct site *s, const struct type *a, const struct type *b,
    struct type *out)
{
	uint32_t ra = a->rank < 2 ? 2 : a->rank, rb = b->rank < 2 ? 2 : b->rank;
	struct type lead_a = {.kind = TYPE_TENSOR, .rank = ra - 2};
	struct type lead_b = {.kind = TYPE_TENSOR, .rank = rb - 2};
	int64_t inner, *dim;
	uint32_t n;

	lead_a.dim = a->dim;
	lead_b.dim = b->dim;
	if (!dim_meet(s, "inner dimensions", a->dim[a->rank - 1],
	        b->dim[b->rank == 1 ? 0 : b->rank - 2], &inner)
	    || !type_broadcast(s, &lead_a, &lead_b, out))
		return false;
	dim = dims_new(s, out->rank + 2);
	for (n = 0; n < out->rank; n++)
		dim[n] = out->dim[n];
	if (a->rank > 1)
		dim[n++] = a->dim[a->rank - 2];
	if (b->rank > 1)
		dim[n++] = b->dim[b->rank - 1];
	out->rank = n;
	out->dim = dim;
	return true;
}

static bool
matmul_of(struct site *s, uint32_t ia, uint32_t ib, enum dtype dtype)
{
	struct type out = {.kind = TYPE_TENSOR};

	if (!need_min_rank(s, ia, 1, "a") || !need_min_rank(s, ib, 1, "b"))
		return false;
	if (!in_ranked(s, ia) || !in_ranked(s, ib)) {
		out_unranked(s, 0, dtype);
		return true;
	}
	if (!matmul_dims(s, in_type(s, ia), in_type(s, ib), &out))
		return false;
	out_tensor(s, 0, dtype, out.rank, out.dim);
	return true;
}

bool
rule_matmul(struct site *s)
{
	enum dtype dtype;

	return same_dtypes(s, 0, 2, &dtype) && matmul_of(s, 0, 1, dtype);
}

bool
rule_matmulinteger(struct site *s)
{
	return matmul_of(s, 0, 1, DT_INT32);
}

/* a, a scale, a zero, b, b scale, b zero, y scale, y zero */
bool
rule_qlinearmatmul(struct site *s)
{
	return matmul_of(s, 0, 3, in_dtype(s, 7));
}

/* C must broadcast to [m, n] and not beyond. */
static bool
check_addend(struct site *s, const int64_t *dim)
{
	const struct type *c = in_type(s, 2);
	struct type y = {.kind = TYPE_TENSOR, .rank = 2}, met = y;

	y.dim = dim;
	if (!in_ranked(s, 2) || s->n->opset < 7)
		return true;
	if (c->rank > 2)
		return fault(
		    s, "c has rank %" PRIu32 ", 2 at most is needed", c->rank);
	if (!type_broadcast(s, &y, c, &met))
		return false;
	for (uint32_t i = 0; i < 2; i++)
		if (dim[i] >= 0 && met.dim[i] >= 0 && dim[i] != met.dim[i])
			return fault(s,
			    "c does not broadcast to %" PRId64 "x%" PRId64,
			    dim[0], dim[1]);
	return true;
}

bool
rule_gemm(struct site *s)
{
	const struct type *a = in_type(s, 0), *b = in_type(s, 1);
	uint32_t ta = attr_int_or(s->n, "transA", 0) != 0;
	uint32_t tb = attr_int_or(s->n, "transB", 0) != 0;
	int64_t *dim = dims_new(s, 2), inner;
	bool has_a = in_ranked(s, 0), has_b = in_ranked(s, 1);
	enum dtype dtype;

	if (!same_dtypes(s, 0, s->n->ninputs, &dtype)
	    || !need_rank(s, 0, 2, "a") || !need_rank(s, 1, 2, "b"))
		return false;
	dim[0] = has_a ? a->dim[ta] : DIM_UNKNOWN;
	dim[1] = has_b ? b->dim[!tb] : DIM_UNKNOWN;
	if (has_a && has_b
	    && !dim_meet(
	        s, "inner dimensions", a->dim[!ta], b->dim[tb], &inner))
		return false;
	out_tensor(s, 0, dtype, 2, dim);
	return check_addend(s, dim);
}
