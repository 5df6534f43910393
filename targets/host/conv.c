/* Convolutions: a matrix product of the weights with the input's windows. */
#include "targets/host/conv.h"

#include "targets/host/gemm.h"
#include "targets/host/kernels.h"

/* One group of one image. */
struct conv_group {
	const struct conv *conv;
	size_t x_at; /* first element of the input's channels */
	size_t y_at; /* and of the output's */
	size_t first_filter;
};

/* Positions o0..o0+n of output row `row` (all but the last coordinate are in
 * o): what tap k sees there; 0 in the padding. */
static void
row_of_windows(const struct conv_group *g, size_t plane,
    const struct position *o, const struct position *k, size_t n, double *to)
{
	const struct slide *w = &g->conv->window;
	uint32_t last = w->rank - 1;
	struct position one = *o;
	int64_t step = w->stride[last], x, i = 0, end, at;

	x = o->at[last] * step - w->before[last]
	    + k->at[last] * w->dilation[last];
	while (i < (int64_t)n && x + i * step < 0)
		to[i++] = 0;
	end = i;
	if (x + i * step < w->in[last]) {
		int64_t fit = (w->in[last] - 1 - x) / step + 1;

		end = fit < (int64_t)n ? fit : (int64_t)n;
	}
	one.at[last] += i;
	at = end > i ? slide_tap(w, &one, k) : -1;
	if (at < 0)
		end = i;
	else
		load_real(to + i, g->conv->x,
		    g->x_at + plane * w->nin + (size_t)at, step,
		    (size_t)(end - i));
	for (; at >= 0 && i < end; i++)
		to[i] -= g->conv->x_zero;
	for (; end < (int64_t)n; end++)
		to[end] = 0;
}

/* Columns n0.. of the matrix of windows for one tap of one plane. */
static void
tap_row(const struct conv_group *g, size_t plane, const struct position *k,
    size_t n0, size_t nn, double *to)
{
	const struct slide *w = &g->conv->window;
	struct position o = position_of(w->out, w->rank, n0);
	uint32_t last = w->rank - 1;

	while (nn > 0) {
		size_t left = (size_t)(w->out[last] - o.at[last]);
		size_t n = left < nn ? left : nn;

		row_of_windows(g, plane, &o, k, n, to);
		to += n;
		nn -= n;
		o.at[last] = w->out[last] - 1;
		position_next(&o, w->out, w->rank);
	}
}

static void
load_windows(
    const void *ctx, size_t k0, size_t kn, size_t n0, size_t nn, double *to)
{
	const struct conv_group *g = ctx;
	const struct slide *w = &g->conv->window;

	for (size_t s = 0; s < kn; s++) {
		size_t plane = (k0 + s) / w->nkernel;
		struct position k =
		    position_of(w->kernel, w->rank, (k0 + s) % w->nkernel);

		tap_row(g, plane, &k, n0, nn, to + s * GEMM_COLUMNS);
	}
}

static void
take_filters(const void *ctx, size_t n0, size_t nn, double *c, size_t m)
{
	const struct conv_group *g = ctx;

	for (size_t i = 0; i < m; i++)
		g->conv->finish(g->conv, g->first_filter + i,
		    g->y_at + i * g->conv->window.nout + n0, nn,
		    c + i * GEMM_COLUMNS);
}

bool
conv_read(struct conv *v, struct call *c, const struct tensor *x,
    const struct tensor *w, struct err *err)
{
	int64_t groups = attr_int_or(c->node, "group", 1);
	uint32_t have;
	const int64_t *kernel = attr_ints(c->node, "kernel_shape", &have);

	if (x->rank < 3 || w->rank != x->rank)
		return err_set(err, ERR_INPUT,
		    "input of rank %u, weights of %u", x->rank, w->rank);
	if (kernel && have != w->rank - 2)
		return err_set(
		    err, ERR_INPUT, "kernel_shape of %u entries", have);
	for (uint32_t i = 0; kernel && i < have; i++)
		if (kernel[i] != w->dim[i + 2])
			return err_set(err, ERR_INPUT,
			    "kernel_shape differs from the weights' shape");
	if (groups < 1 || w->dim[0] % groups || x->dim[1] / groups != w->dim[1]
	    || x->dim[1] % groups)
		return err_set(err, ERR_INPUT,
		    "%lld channels, %lld groups, weights of %lld x %lld",
		    (long long)x->dim[1], (long long)groups,
		    (long long)w->dim[0], (long long)w->dim[1]);
	v->x = x;
	v->w = w;
	v->groups = (size_t)groups;
	if (!slide_read(
	        &v->window, c->node, x->rank - 2, x->dim + 2, w->dim + 2, err))
		return false;
	v->y = shape_of(x);
	v->y.dim[1] = w->dim[0];
	for (uint32_t i = 0; i < v->window.rank; i++)
		v->y.dim[i + 2] = v->window.out[i];
	return true;
}

void
conv_apply(struct conv *v, struct arena *scratch)
{
	size_t filters = (size_t)v->w->dim[0] / v->groups;
	size_t planes = (size_t)v->w->dim[1];
	size_t depth = planes * v->window.nkernel;

	for (size_t i = 0; i < (size_t)v->x->dim[0] * v->groups; i++) {
		size_t group = i % v->groups;
		struct conv_group g = {
		    .conv = v,
		    .x_at = i * planes * v->window.nin,
		    .y_at = i * filters * v->window.nout,
		    .first_filter = group * filters,
		};
		struct gemm product = {
		    .m = filters,
		    .n = v->window.nout,
		    .k = depth,
		    .a = v->w,
		    .a_at = g.first_filter * depth,
		    .a_row = (ptrdiff_t)depth,
		    .a_col = 1,
		    .a_zero = v->w_zero ? v->w_zero + g.first_filter : NULL,
		    .load_b = load_windows,
		    .take = take_filters,
		    .ctx = &g,
		};

		gemm_run(&product, scratch);
	}
}

/* Add the bias and round once. */
static void
finish_plain(
    const struct conv *v, size_t filter, size_t at, size_t n, double *sum)
{
	double bias = v->bias ? load_one(v->bias, filter) : 0;

	for (size_t i = 0; i < n; i++)
		sum[i] += bias;
	store_real(v->to, at, 1, n, sum);
}

bool
conv_run(struct call *c, struct err *err)
{
	struct conv v = {.finish = finish_plain, .bias = call_in(c, 2)};
	struct sink to;

	if (!conv_read(&v, c, c->in[0], c->in[1], err))
		return false;
	if (v.bias && v.bias->count != (size_t)v.w->dim[0])
		return err_set(err, ERR_INPUT, "%zu biases for %lld filters",
		    v.bias->count, (long long)v.w->dim[0]);
	if (!host_out(c, 0, v.x->dtype, &v.y, &to, err))
		return false;
	v.to = &to;
	conv_apply(&v, c->scratch);
	return true;
}
