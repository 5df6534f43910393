/* Convolution as a matrix product over gathered windows (im2col), in pieces
 * that stay in the cache. */
#include <string.h>

#include "targets/blas/kernel.h"
#include "targets/lanes.h"

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
	/* Of one group of one image: positions by filters, or the other way
	 * around where channels come first. */
	struct cutting cut;
	size_t room; /* floats of a lane's windows */
	float *gathered; /* [lanes][room] */
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

/* Where windows are gathered from, and which positions. */
struct gathering {
	const float *in;
	size_t from, n;
};

/* Rows of windows, channels last: [n, kh, kw, per]. */
static void
gather_last(const struct blas_conv *c, const struct gathering *q, float *to)
{
	const size_t kh = (size_t)c->window.kernel[0];
	const size_t kw = (size_t)c->window.kernel[1];
	const size_t per = c->channels / c->group;

	for (size_t p = q->from; p < q->from + q->n; p++)
		for (size_t t = 0; t < kh * kw; t++, to += per) {
			size_t at;

			if (tap(c, p, t / kw, t % kw, &at))
				memcpy(to, q->in + at * c->channels,
				    per * sizeof *to);
			else
				memset(to, 0, per * sizeof *to);
		}
}

/* Columns of windows, channels first: [per, kh, kw, n]. */
static void
gather_first(const struct blas_conv *c, const struct gathering *q, float *to)
{
	const size_t taps =
	    (size_t)c->window.kernel[0] * (size_t)c->window.kernel[1];
	const size_t kw = (size_t)c->window.kernel[1];

	for (size_t k = 0; k < c->depth; k++, to += q->n) {
		const float *map = q->in + k / taps * c->height * c->width;
		size_t t = k % taps, at;

		for (size_t p = 0; p < q->n; p++)
			to[p] = tap(c, q->from + p, t / kw, t % kw, &at)
			    ? map[at]
			    : 0;
	}
}

struct conv_run {
	const struct blas_conv *conv;
	const void *const *in;
	float *out;
};

/* Weights on the right, channels last. */
static void
multiply_last(const struct blas_conv *c, struct multiplication *m,
    const struct gathering *q, float *gathered)
{
	m->turn_right = true;
	m->right = m->left;
	m->right_stride = c->depth;
	m->left = gathered;
	m->left_stride = c->depth;
	if (c->direct) {
		m->left = q->in + q->from * c->channels;
		m->left_stride = c->channels;
	} else {
		gather_last(c, q, gathered);
	}
}

/* Weights on the left, channels first. */
static void
multiply_first(const struct blas_conv *c, struct multiplication *m,
    const struct gathering *q, float *gathered)
{
	m->left_stride = c->depth;
	m->right = gathered;
	m->right_stride = q->n;
	if (c->direct) {
		m->right = q->in + q->from;
		m->right_stride = c->rows * c->columns;
	} else {
		gather_first(c, q, gathered);
	}
}

/* A filter's bias in every place of its own. */
static void
put_bias(const struct blas_conv *c, const float *bias, float *to,
    const struct stretches *s)
{
	for (size_t i = 0; i < s->n; i++, to += s->stride) {
		if (c->last)
			memcpy(to, bias, s->floats * sizeof *to);
		else
			for (size_t j = 0; j < s->floats; j++)
				to[j] = bias[i];
	}
}

/* Of one group of one image. */
static void
run_block(const struct conv_run *r, float *gathered, size_t product,
    const struct result_block *b)
{
	const struct blas_conv *c = r->conv;
	const float *bias = c->weights.bias;
	const size_t image = product / c->group, g = product % c->group;
	const size_t positions = c->rows * c->columns;
	const size_t area = c->height * c->width;
	const size_t filter =
	    g * (c->filters / c->group) + (c->last ? b->column : b->row);
	const size_t map = g * (c->channels / c->group) * (c->last ? 1 : area);
	const struct gathering q = {
	    (const float *)r->in[c->in] + image * c->channels * area + map,
	    c->last ? b->row : b->column, c->last ? b->rows : b->columns};
	const size_t at = c->last ? q.from * c->filters + filter
	                          : filter * positions + q.from;
	const struct stretches s = {image * c->filters * positions + at,
	    b->rows, b->columns, c->last ? c->filters : positions};
	struct multiplication m = {.inner = c->depth,
	    .alpha = 1,
	    .beta = bias ? 1 : 0,
	    .left = c->weights.weights + filter * c->depth,
	    .to = r->out + s.from,
	    .to_stride = s.stride};

	if (bias)
		put_bias(c, bias + filter, m.to, &s);
	(c->last ? multiply_last : multiply_first)(c, &m, &q, gathered);
	multiply_block(&m, &(struct result_block){0, b->rows, 0, b->columns});
	finish_run(&c->finish, r->in, r->out, &s);
}

static void
run_item(void *of, uint32_t lane, size_t i)
{
	const struct conv_run *r = of;
	const struct blas_conv *c = r->conv;
	const size_t blocks = c->cut.down * c->cut.across;
	const struct result_block b = cut_block(&c->cut, i % blocks);

	run_block(r, c->gathered ? c->gathered + lane * c->room : NULL,
	    i / blocks, &b);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct blas_conv *c = kernel->state;
	struct conv_run r = {c, in, out[0]};

	lanes_each(c->batch * c->group * c->cut.down * c->cut.across,
	    c->cut.lanes, run_item, &r);
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

/* TUNING: positions; a thread with fewer packs all weights for them. */
#define LEAST_POSITIONS 16

/* Threads share positions where windows are gathered, which each does for its own, if
 * there are enough. */
static void
cut_conv(struct blas_conv *c)
{
	const size_t positions = c->rows * c->columns;
	const size_t filters = c->filters / c->group,
	             times = c->batch * c->group;
	const size_t most = c->depth < PIECE ? PIECE / c->depth : 1;
	struct result_block b;
	size_t *piece = c->last ? &b.rows : &b.columns;
	size_t *other = c->last ? &b.columns : &b.rows, parts;

	c->cut = c->last ? cut_of(positions, c->depth, filters, times)
	                 : cut_of(filters, c->depth, positions, times);
	if (c->direct)
		return;
	parts = c->cut.down * c->cut.across;
	b = c->cut.block;
	if (positions / LEAST_POSITIONS >= parts) {
		*piece = (positions + parts - 1) / parts;
		*other = filters;
	}
	*piece = *piece < most ? *piece : most;
	cut_smaller(&c->cut, b.rows, b.columns);
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
	cut_conv(v);
	v->room =
	    v->depth * (v->last ? v->cut.block.rows : v->cut.block.columns);
	if (!v->direct)
		v->gathered = arena_new(a, float, v->cut.lanes * v->room);
	v->in = candidate_input(c, n->input[0]);
	out->run = run;
	out->state = v;
	return finish_of(&v->finish, f, g, c);
}
