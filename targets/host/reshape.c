/* Kernels that only give the same elements another shape. */
#include <string.h>

#include "targets/host/kernels.h"
#include "ir/base/size.h"

bool
identity_run(struct call *c, struct err *err)
{
	struct shape s;

	if (c->in[0]->kind > TENSOR_STRINGS) {
		c->out[0] = *c->in[0];
		return true;
	}
	s = shape_of(c->in[0]);
	return host_out_as(c, 0, c->in[0], &s, err);
}

/* The 0s and -1 of a wanted shape filled in. */
static bool
resolve(
    const struct tensor *x, struct shape *s, bool allow_zero, struct err *err)
{
	size_t known = 1;
	uint32_t open = s->rank;

	for (uint32_t d = 0; d < s->rank; d++) {
		if (s->dim[d] == 0 && !allow_zero) {
			if (d >= x->rank)
				return err_set(err, ERR_INPUT,
				    "dimension %u is 0 but the input has "
				    "rank %u",
				    d, x->rank);
			s->dim[d] = x->dim[d];
		}
		if (s->dim[d] == -1 && open == s->rank)
			open = d;
		else if (s->dim[d] < 0
		    || !size_mul(known, (size_t)s->dim[d], &known))
			return err_set(err, ERR_INPUT, "dimension %u is %lld",
			    d, (long long)s->dim[d]);
	}
	if (open < s->rank) {
		if (known == 0 || x->count % known)
			return err_set(err, ERR_INPUT,
			    "%zu elements do not divide by %zu", x->count,
			    known);
		s->dim[open] = (int64_t)(x->count / known);
		known *= x->count / known;
	}
	if (known != x->count)
		return err_set(err, ERR_INPUT, "%zu elements reshaped to %zu",
		    x->count, known);
	return true;
}

static bool
shape_from(struct shape *s, const int64_t *dim, uint32_t n, struct err *err)
{
	if (!dim || n > RANK_MAX)
		return err_set(err, ERR_INPUT, "a shape of %u entries", n);
	s->rank = n;
	memcpy(s->dim, dim, n * sizeof *dim);
	return true;
}

bool
reshape_run(struct call *c, struct err *err)
{
	bool allow_zero = attr_int_or(c->node, "allowzero", 0) != 0;
	struct shape s;
	uint32_t n;
	const int64_t *dim = ints_of(c, "shape", 1, &n);

	return shape_from(&s, dim, n, err)
	    && resolve(c->in[0], &s, allow_zero, err)
	    && host_out_as(c, 0, c->in[0], &s, err);
}

bool
flatten_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	int64_t axis = attr_int_or(c->node, "axis", 1);
	struct shape s = {.rank = 2};

	if (axis < 0)
		axis += x->rank;
	if (axis < 0 || axis > x->rank)
		return err_set(err, ERR_INPUT, "axis %lld of a rank %u tensor",
		    (long long)axis, x->rank);
	s.dim[0] = (int64_t)shape_count(x->dim, 0, (uint32_t)axis);
	s.dim[1] = (int64_t)shape_count(x->dim, (uint32_t)axis, x->rank);
	return host_out_as(c, 0, x, &s, err);
}

/* Mark axes in a set of `rank`; each once. */
static bool
axis_set(
    const int64_t *axis, uint32_t n, uint32_t rank, bool *in, struct err *err)
{
	memset(in, 0, RANK_MAX * sizeof *in);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t a;

		if (!axis_of(axis[i], rank, &a, err))
			return false;
		if (in[a])
			return err_set(err, ERR_INPUT, "axis %u twice", a);
		in[a] = true;
	}
	return true;
}

bool
squeeze_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = {.rank = 0};
	bool drop[RANK_MAX];
	uint32_t n;
	const int64_t *axis = ints_of(c, "axes", 1, &n);

	if (!axis_set(axis, n, x->rank, drop, err))
		return false;
	for (uint32_t d = 0; d < x->rank; d++) {
		if (drop[d] && x->dim[d] != 1)
			return err_set(err, ERR_INPUT,
			    "axis %u has size %lld, not 1", d,
			    (long long)x->dim[d]);
		if (!(axis ? drop[d] : x->dim[d] == 1))
			s.dim[s.rank++] = x->dim[d];
	}
	return host_out_as(c, 0, x, &s, err);
}

bool
unsqueeze_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s;
	bool add[RANK_MAX];
	uint32_t n, from = 0;
	const int64_t *axis = ints_of(c, "axes", 1, &n);

	if (n > RANK_MAX - x->rank)
		return err_set(
		    err, ERR_INPUT, "%u axes added to rank %u", n, x->rank);
	s.rank = x->rank + n;
	if (!axis_set(axis, n, s.rank, add, err))
		return false;
	for (uint32_t d = 0; d < s.rank; d++)
		s.dim[d] = add[d] ? 1 : x->dim[from++];
	return host_out_as(c, 0, x, &s, err);
}

/* Output 1 of Dropout: nothing was dropped. */
static bool
all_kept(struct call *c, struct err *err)
{
	struct shape s = shape_of(c->in[0]);
	enum dtype dtype = c->node->opset < 10 ? c->in[0]->dtype : DT_BOOL;
	struct sink to;
	double one = 1;

	if (!call_wants(c, 1))
		return true;
	if (!host_out(c, 1, dtype, &s, &to, err))
		return false;
	for (size_t i = 0; i < c->in[0]->count; i++)
		store_real(&to, i, 1, 1, &one);
	return true;
}

bool
dropout_run(struct call *c, struct err *err)
{
	const struct tensor *ratio = call_in(c, 1), *training = call_in(c, 2);

	if (training && training->count == 1 && load_one_int(training, 0) != 0
	    && (!ratio || ratio->count != 1 || load_one(ratio, 0) != 0))
		return refuse(err, "training mode drops at random");
	return identity_run(c, err) && all_kept(c, err);
}
