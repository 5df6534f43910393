/* Kernels that move elements around without looking at them. */
#include <string.h>

#include "targets/host/kernels.h"

bool
transpose_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = {.rank = x->rank};
	ptrdiff_t own[RANK_MAX], stride[RANK_MAX];
	bool seen[RANK_MAX] = {false};
	struct sink to;
	struct walk w;
	uint32_t n, a;
	const int64_t *perm = attr_ints(c->node, "perm", &n);

	if (perm && n != x->rank)
		return err_set(
		    err, ERR_INPUT, "perm has %u entries, rank %u", n, x->rank);
	strides_of(x->rank, x->dim, own);
	for (uint32_t d = 0; d < x->rank; d++) {
		if (!axis_of(perm ? perm[d] : (int64_t)(x->rank - 1 - d),
		        x->rank, &a, err))
			return false;
		if (seen[a])
			return err_set(err, ERR_INPUT, "perm has %u twice", a);
		seen[a] = true;
		s.dim[d] = x->dim[a];
		stride[d] = own[a];
	}
	if (x->kind == TENSOR_FILL)
		return host_out_as(c, 0, x, &s, err);
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	walk_init(&w, s.rank, s.dim);
	strides_of(s.rank, s.dim, own);
	walk_operand(&w, own);
	walk_operand(&w, stride);
	copy_strided(&w, to.data, host_bytes(c, x), host_unit(x->dtype));
	return true;
}

/* All inputs agree with the first but along axis, where they add up. */
static bool
concat_shape(
    const struct call *c, uint32_t axis, struct shape *s, struct err *err)
{
	const struct tensor *first = c->in[0];

	*s = shape_of(first);
	for (uint32_t i = 1; i < c->node->ninputs; i++) {
		const struct tensor *x = c->in[i];

		if (x->rank != first->rank || x->dtype != first->dtype)
			return err_set(err, ERR_INPUT,
			    "input %u is a %s of rank %u, input 0 a %s of "
			    "rank %u",
			    i, dtype_name(x->dtype), x->rank,
			    dtype_name(first->dtype), first->rank);
		for (uint32_t d = 0; d < x->rank; d++)
			if (d != axis && x->dim[d] != first->dim[d])
				return err_set(err, ERR_INPUT,
				    "input %u has %lld in dimension %u, not "
				    "%lld",
				    i, (long long)x->dim[d], d,
				    (long long)first->dim[d]);
		s->dim[axis] += x->dim[axis];
	}
	return true;
}

bool
concat_run(struct call *c, struct err *err)
{
	const struct tensor *first = c->in[0];
	int64_t given =
	    attr_int_or(c->node, "axis", c->node->opset < 4 ? 1 : 0);
	size_t size = host_unit(first->dtype), row, at = 0;
	struct shape s;
	struct sink to;
	uint32_t axis;
	unsigned char *y;

	if (!axis_of(given, first->rank, &axis, err)
	    || !concat_shape(c, axis, &s, err)
	    || !host_out(c, 0, first->dtype, &s, &to, err))
		return false;
	y = to.data;
	row = shape_count(s.dim, axis, s.rank) * size;
	for (uint32_t i = 0; i < c->node->ninputs; i++) {
		const unsigned char *x = host_bytes(c, c->in[i]);
		size_t n = shape_count(c->in[i]->dim, axis, s.rank) * size;

		for (size_t o = 0; n && o < shape_count(s.dim, 0, axis); o++)
			memcpy(y + o * row + at, x + o * n, n);
		at += n;
	}
	return true;
}
