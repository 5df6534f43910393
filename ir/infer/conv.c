/* Convolutions. X is [N, C, spatial...], W is [M, C / group, kernel...]. */
#include "ir/infer/rules.h"

#include <inttypes.h>

#include "ir/infer/window.h"

/* Kernel sizes: the attribute must agree with what W has. */
static bool
kernel_of(struct site *s, const struct type *w, uint32_t n, const int64_t **out)
{
	int64_t *kernel = dims_new(s, n);
	const int64_t *given;

	if (!window_list(s, "kernel_shape", n, 1, &given))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		kernel[i] = w ? w->dim[i + 2] : DIM_UNKNOWN;
		if (given
		    && !dim_meet(s, "kernel_shape and weights", given[i],
		        kernel[i], &kernel[i]))
			return false;
	}
	*out = kernel;
	return true;
}

/* Weights of the same rank as x, at least one spatial dimension. */
static bool
check_ranks(struct site *s, uint32_t x, uint32_t w)
{
	if (!need_min_rank(s, x, 3, "x") || !need_min_rank(s, w, 3, "w"))
		return false;
	if (in_ranked(s, x) && in_ranked(s, w)
	    && in_type(s, x)->rank != in_type(s, w)->rank)
		return fault(s, "w has rank %" PRIu32 " but x has %" PRIu32,
		    in_type(s, w)->rank, in_type(s, x)->rank);
	return true;
}

static bool
group_of(struct site *s, int64_t *group)
{
	*group = attr_int_or(s->n, "group", 1);
	return *group >= 1 || fault(s, "group %" PRId64, *group);
}

/* C == group * W[1] and M a multiple of group. */
static bool
check_channels(struct site *s, const struct type *x, const struct type *w)
{
	int64_t group, per;

	if (!group_of(s, &group))
		return false;
	if (w->dim[0] >= 0 && w->dim[0] % group != 0)
		return fault(s,
		    "%" PRId64 " output channels in %" PRId64 " groups",
		    w->dim[0], group);
	if (x->dim[1] < 0 || w->dim[1] < 0)
		return true;
	per = x->dim[1] / group;
	if (x->dim[1] % group != 0 || per != w->dim[1])
		return fault(s,
		    "x has %" PRId64 " channels but w takes %" PRId64
		    " in each of %" PRId64 " groups",
		    x->dim[1], w->dim[1], group);
	return true;
}

/* A bias is one number an output channel. */
static bool
check_bias(struct site *s, uint32_t i, int64_t channels)
{
	int64_t met;

	if (!need_rank(s, i, 1, "bias"))
		return false;
	return !in_ranked(s, i)
	    || dim_meet(s, "bias and output channels", in_type(s, i)->dim[0],
	        channels, &met);
}

static bool
conv_shape(struct site *s, uint32_t xi, uint32_t wi, enum dtype dtype)
{
	const struct type *x = in_type(s, xi), *w = in_type(s, wi);
	const int64_t *kernel;
	struct infer_window win;
	int64_t *dim;
	uint32_t n;

	if (!check_ranks(s, xi, wi))
		return false;
	if (!in_ranked(s, xi)) {
		out_unranked(s, 0, dtype);
		return true;
	}
	n = x->rank - 2;
	w = in_ranked(s, wi) ? w : NULL;
	if (!kernel_of(s, w, n, &kernel) || !window_read(s, n, kernel, &win)
	    || (w && !check_channels(s, x, w)))
		return false;
	dim = dims_new(s, x->rank);
	dim[0] = x->dim[0];
	dim[1] = w ? w->dim[0] : DIM_UNKNOWN;
	for (uint32_t i = 0; i < n; i++)
		if (!window_out(s, &win, i, x->dim[i + 2], &dim[i + 2]))
			return false;
	out_tensor(s, 0, dtype, x->rank, dim);
	return true;
}

static int64_t
out_channels(const struct site *s)
{
	const struct type *t = &s->out[0];

	return t->rank == RANK_UNKNOWN ? DIM_UNKNOWN : t->dim[1];
}

bool
rule_conv(struct site *s)
{
	enum dtype dtype;

	return same_dtypes(s, 0, s->n->ninputs, &dtype)
	    && conv_shape(s, 0, 1, dtype) && check_bias(s, 2, out_channels(s));
}

bool
rule_convinteger(struct site *s)
{
	return conv_shape(s, 0, 1, DT_INT32);
}

/* x, x scale, x zero, w, w scale, w zero, y scale, y zero, bias */
bool
rule_qlinearconv(struct site *s)
{
	return conv_shape(s, 0, 3, in_dtype(s, 7))
	    && check_bias(s, 8, out_channels(s));
}

/* stride * (in - 1) + output_padding + extent - pads, unless stated. */
static bool
transpose_dim(struct site *s, const struct infer_window *w, uint32_t i,
    int64_t in, int64_t extra, int64_t *out)
{
	int64_t stride = w->stride ? w->stride[i] : 1;
	struct num n = num_dim(in);

	if (w->mode == PAD_SAME_UPPER || w->mode == PAD_SAME_LOWER) {
		if (!site_mul(s, n, num_int(stride), &n))
			return false;
		*out = num_as_dim(n);
		return true;
	}
	return window_in(s, w, i, in, extra, out);
}

/* output_shape may carry N and C too. */
static bool
stated_shape(struct site *s, uint32_t n, const int64_t **out)
{
	uint32_t count;

	*out = attr_ints(s->n, "output_shape", &count);
	if (!*out)
		return true;
	if (count != n && count != n + 2)
		return fault(s,
		    "output_shape has %" PRIu32 " entries, %" PRIu32
		    " are needed",
		    count, n);
	*out += count - n;
	for (uint32_t i = 0; i < n; i++)
		if ((*out)[i] < 1)
			return fault(s, "output_shape has %" PRId64, (*out)[i]);
	return true;
}

static bool
transpose_spatial(struct site *s, const struct type *x,
    const struct infer_window *w, int64_t *dim)
{
	const int64_t *stated, *extra;

	if (!stated_shape(s, w->n, &stated)
	    || !window_list(s, "output_padding", w->n, 0, &extra))
		return false;
	for (uint32_t i = 0; i < w->n; i++) {
		if (stated)
			dim[i] = stated[i];
		else if (!transpose_dim(s, w, i, x->dim[i + 2],
		             extra ? extra[i] : 0, &dim[i]))
			return false;
	}
	return true;
}

/* W is [C, M / group, kernel...] here. */
static bool
transpose_channels(
    struct site *s, const struct type *x, const struct type *w, int64_t *out)
{
	int64_t group, met;
	struct num m;

	if (!group_of(s, &group)
	    || !dim_meet(s, "channels of x and w", x->dim[1], w->dim[0], &met))
		return false;
	if (met >= 0 && met % group != 0)
		return fault(s,
		    "%" PRId64 " input channels in %" PRId64 " groups", met,
		    group);
	if (!site_mul(s, num_dim(w->dim[1]), num_int(group), &m))
		return false;
	*out = num_as_dim(m);
	return true;
}

bool
rule_convtranspose(struct site *s)
{
	const struct type *x = in_type(s, 0), *w = in_type(s, 1);
	const int64_t *kernel;
	struct infer_window win;
	enum dtype dtype;
	int64_t *dim;

	if (!same_dtypes(s, 0, s->n->ninputs, &dtype) || !check_ranks(s, 0, 1))
		return false;
	if (!in_ranked(s, 0)) {
		out_unranked(s, 0, dtype);
		return true;
	}
	w = in_ranked(s, 1) ? w : NULL;
	if (!kernel_of(s, w, x->rank - 2, &kernel)
	    || !window_read(s, x->rank - 2, kernel, &win))
		return false;
	dim = dims_new(s, x->rank);
	dim[0] = x->dim[0];
	dim[1] = DIM_UNKNOWN;
	if ((w && !transpose_channels(s, x, w, &dim[1]))
	    || !transpose_spatial(s, x, &win, dim + 2))
		return false;
	out_tensor(s, 0, dtype, x->rank, dim);
	return check_bias(s, 2, dim[1]);
}

/* x, w, offset, bias, mask */
bool
rule_deformconv(struct site *s)
{
	return conv_shape(s, 0, 1, in_dtype(s, 0));
}

/* input [N, C, L], weight [C, 1, k], bias, past state [N, C, k - 1]. */
bool
rule_causalconv(struct site *s)
{
	const struct type *x = in_type(s, 0), *w = in_type(s, 1);
	int64_t *state;
	struct num keep;

	out_type(s, 0, x);
	out_type(s, 1, in_type(s, 3));
	if (!in_ranked(s, 0) || !in_ranked(s, 1) || x->rank != 3 || w->rank < 2)
		return true;
	if (!site_add(s, num_dim(w->dim[w->rank - 1]), num_int(-1), &keep))
		return false;
	state = dims_copy(s, x->dim, 3);
	state[2] = num_as_dim(keep);
	out_tensor(s, 1, x->dtype, 3, state);
	return true;
}
