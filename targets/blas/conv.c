/* Convolution as a matrix product over gathered windows (im2col), in pieces
 * that stay in the cache. */
#include <string.h>

#include "targets/blas/kernel.h"
#include "targets/blas/library.h"

/* TUNING: floats gathered at once: 1 MiB, a private second-level cache. */
#define PIECE ((size_t)1 << 18)

struct blas_conv {
	struct window window;
	struct conv_weights weights; /* channels last: [K, kh, kw, C / group] */
	struct finish finish;
	bool last; /* channels-last tensors */
	bool direct; /* 1x1, stride 1, no padding: nothing to gather */
	int32_t in;
	size_t batch, group;
	size_t channels, height, width; /* of the input */
	size_t filters, rows, columns; /* of the output */
	size_t depth; /* channels / group * kh * kw */
	size_t piece; /* output positions gathered at once */
	float *gathered;
};

/* Input position under the window at output position p and tap (i, j); false
 * when it lies in the padding. */
static bool
tap(const struct blas_conv *c, size_t p, size_t i, size_t j, size_t *at)
{
	const struct window *w = &c->window;
	int64_t y = (int64_t)(p / c->columns) * w->stride[0] - w->before[0]
	    + (int64_t)i * w->dilation[0];
	int64_t x = (int64_t)(p % c->columns) * w->stride[1] - w->before[1]
	    + (int64_t)j * w->dilation[1];

	if (y < 0 || x < 0 || y >= (int64_t)c->height || x >= (int64_t)c->width)
		return false;
	*at = (size_t)y * c->width + (size_t)x;
	return true;
}

/* Rows of windows, channels last: [n, kh, kw, per]. */
static void
gather_last(const struct blas_conv *c, const float *in, size_t from, size_t n,
    size_t per)
{
	const size_t kh = (size_t)c->window.kernel[0];
	const size_t kw = (size_t)c->window.kernel[1];
	float *to = c->gathered;

	for (size_t p = from; p < from + n; p++)
		for (size_t t = 0; t < kh * kw; t++, to += per) {
			size_t at;

			if (tap(c, p, t / kw, t % kw, &at))
				memcpy(to, in + at * c->channels,
				    per * sizeof *to);
			else
				memset(to, 0, per * sizeof *to);
		}
}

/* Columns of windows, channels first: [per, kh, kw, n]. */
static void
gather_first(const struct blas_conv *c, const float *in, size_t from, size_t n,
    size_t per)
{
	const size_t kh = (size_t)c->window.kernel[0];
	const size_t kw = (size_t)c->window.kernel[1];
	float *to = c->gathered;

	for (size_t k = 0; k < per * kh * kw; k++, to += n) {
		const float *map = in + k / (kh * kw) * c->height * c->width;
		size_t t = k % (kh * kw), at;

		for (size_t p = 0; p < n; p++)
			to[p] =
			    tap(c, from + p, t / kw, t % kw, &at) ? map[at] : 0;
	}
}

/* One image, one group, channels last. */
static void
multiply_last(const struct blas_conv *c, const float *in, float *out, size_t g)
{
	const size_t positions = c->rows * c->columns;
	const size_t per = c->channels / c->group, k = c->filters / c->group;
	const float *weights = c->weights.weights + g * k * c->depth;

	for (size_t from = 0; from < positions; from += c->piece) {
		size_t n =
		    positions - from < c->piece ? positions - from : c->piece;
		const float *rows = c->gathered;
		size_t stride = c->depth;

		if (c->direct) {
			rows = in + from * c->channels + g * per;
			stride = c->channels;
		} else {
			gather_last(c, in + g * per, from, n, per);
		}
		for (size_t p = 0; c->weights.bias && p < n; p++)
			memcpy(out + (from + p) * c->filters + g * k,
			    c->weights.bias + g * k, k * sizeof *out);
		openblas.sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n,
		    (int)k, (int)c->depth, 1, rows, (int)stride, weights,
		    (int)c->depth, c->weights.bias ? 1 : 0,
		    out + from * c->filters + g * k, (int)c->filters);
	}
}

/* One image, one group, channels first. */
static void
multiply_first(const struct blas_conv *c, const float *in, float *out, size_t g)
{
	const size_t positions = c->rows * c->columns;
	const size_t per = c->channels / c->group, k = c->filters / c->group;
	const float *weights = c->weights.weights + g * k * c->depth;
	const float *maps = in + g * per * c->height * c->width;

	out += g * k * positions;
	for (size_t i = 0; c->weights.bias && i < k; i++)
		for (size_t p = 0; p < positions; p++)
			out[i * positions + p] = c->weights.bias[g * k + i];
	for (size_t from = 0; from < positions; from += c->piece) {
		size_t n =
		    positions - from < c->piece ? positions - from : c->piece;
		const float *columns = c->gathered;
		size_t stride = n;

		if (c->direct) {
			columns = maps + from;
			stride = positions;
		} else {
			gather_first(c, maps, from, n, per);
		}
		openblas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans,
		    (int)k, (int)n, (int)c->depth, 1, weights, (int)c->depth,
		    columns, (int)stride, c->weights.bias ? 1 : 0, out + from,
		    (int)positions);
	}
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct blas_conv *c = kernel->state;
	const float *from = in[c->in];
	float *to = out[0];
	const size_t one_in = c->channels * c->height * c->width;
	const size_t one_out = c->filters * c->rows * c->columns;

	for (size_t n = 0; n < c->batch; n++) {
		for (size_t g = 0; g < c->group; g++)
			(c->last ? multiply_last : multiply_first)(
			    c, from + n * one_in, to + n * one_out, g);
		finish_run(&c->finish, in, to, n * one_out, one_out);
	}
}

static bool
is_direct(const struct blas_conv *c)
{
	const struct window *w = &c->window;

	for (uint32_t i = 0; i < 2; i++)
		if (w->kernel[i] != 1 || w->stride[i] != 1 || w->before[i] != 0
		    || w->after[i] != 0)
			return false;
	return true;
}

bool
compile_conv(const struct target *t, const struct graph *g,
    const struct candidate *c, struct fused *f, struct arena *a,
    struct kernel *out)
{
	const struct node *n = f->anchor;
	const struct type *in = &node_in(g, n, 0)->type;
	const struct type *weight = &node_in(g, n, 1)->type;
	const struct type *to = &node_out(g, n, 0)->type;
	struct blas_conv *v = arena_new(a, struct blas_conv, 1);
	const char *fault;

	if (!window_resolve(&v->window, g, n, &fault))
		return false;
	fused_conv_weights(&v->weights, f, g, a);
	v->last = t->formats->format[c->output[0].format].layout == LAYOUT_NHWC;
	if (v->last)
		v->weights.weights =
		    weights_channels_last(v->weights.weights, weight, a);
	v->batch = (size_t)in->dim[0];
	v->channels = (size_t)in->dim[1];
	v->height = (size_t)in->dim[2];
	v->width = (size_t)in->dim[3];
	v->filters = (size_t)to->dim[1];
	v->rows = (size_t)to->dim[2];
	v->columns = (size_t)to->dim[3];
	v->group = (size_t)attr_int_or(n, "group", 1);
	v->depth = (size_t)weight->dim[1] * (size_t)weight->dim[2]
	    * (size_t)weight->dim[3];
	v->direct = is_direct(v);
	v->piece = v->depth < PIECE ? PIECE / v->depth : 1;
	if (v->direct || v->piece > v->rows * v->columns)
		v->piece = v->rows * v->columns;
	if (!v->direct)
		v->gathered = arena_new(a, float, v->piece * v->depth);
	v->in = candidate_input(c, n->input[0]);
	out->run = run;
	out->state = v;
	return finish_of(&v->finish, f, g, c);
}
