/* Products and convolutions of 8-bit integers through sgemm, exactly: a float
 * holds every integer below 2^24, so a sum whose parts stay below it is the
 * same in any order. How far a sum can go the weights say; where that is too
 * far, it is taken in parts. */
#include "targets/blas/integer.h"

#include <math.h>
#include <string.h>

#include "targets/blas/kernel.h"
#include "targets/blas/library.h"
#include "targets/bytes.h"

/* TUNING: floats gathered at once: 1 MiB, a private second-level cache. */
#define PIECE ((size_t)1 << 18)
#define EXACT ((int64_t)1 << 24) /* floats are exact up to here */
#define BYTE_STEPS 255 /* of an 8-bit value from its zero */

/* ---- weights ---- */

/* Weights less their zeros as floats, and where sums have to be cut. */
struct sums {
	size_t outputs; /* filters or columns */
	size_t depth;
	const float
	    *weight; /* [outputs][depth], or by_depth [depth][outputs] */
	bool by_depth;
	uint32_t nparts;
	uint32_t *end; /* [nparts] of each part, along the depth */
};

static size_t
weight_index(const struct sums *s, size_t output, size_t k)
{
	return s->by_depth ? k * s->outputs + output : output * s->depth + k;
}

/* Cut where some output's sum could leave what is exact. */
static void
cut(struct sums *s, struct arena *a)
{
	int64_t *far = arena_new(a, int64_t, s->outputs);

	s->end = arena_new(a, uint32_t, s->depth);
	for (size_t k = 0; k < s->depth; k++) {
		bool over = false;

		for (size_t o = 0; o < s->outputs; o++) {
			far[o] += BYTE_STEPS
			    * (int64_t)fabsf(s->weight[weight_index(s, o, k)]);
			over = over || far[o] > EXACT;
		}
		if (!over)
			continue;
		s->end[s->nparts++] = (uint32_t)k;
		for (size_t o = 0; o < s->outputs; o++)
			far[o] = BYTE_STEPS
			    * (int64_t)fabsf(s->weight[weight_index(s, o, k)]);
	}
	s->end[s->nparts++] = (uint32_t)s->depth;
}

static void
sums_of(struct sums *s, const struct tensor *w, const struct tensor *zero,
    struct arena *a)
{
	float *to = arena_new(a, float, w->count);

	for (size_t i = 0; i < w->count; i++)
		to[i] = (float)tensor_real(w, i)
		    - integer_entry(
		        zero, s->by_depth ? i % s->outputs : i / s->depth);
	s->weight = to;
	cut(s, a);
}

/* ---- requantising ---- */

/* n sums of one output. */
static void
requantise_map(uint8_t *restrict to, const int32_t *restrict sum, size_t n,
    const struct requantising *q, size_t output)
{
	const float m = q->multiplier[output], zero = q->zero;
	const int32_t bias = q->bias ? q->bias[output] : 0;
	const struct byte_limits l = byte_limits(q->is_unsigned);

	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)(int32_t)byte_near(
		    (float)(sum[i] + bias) * m, zero, l);
}

/* A sum of each of n outputs. */
static void
requantise_row(uint8_t *restrict to, const int32_t *restrict sum, size_t n,
    const struct requantising *q)
{
	const float *restrict m = q->multiplier;
	const struct byte_limits l = byte_limits(q->is_unsigned);
	const float zero = q->zero;

	for (size_t i = 0; i < n; i++)
		to[i] =
		    (uint8_t)(int32_t)byte_near((float)sum[i] * m[i], zero, l);
}

/* ---- sums ---- */

static void
add_whole(int32_t *to, const float *from, size_t n, bool first)
{
	if (first)
		for (size_t i = 0; i < n; i++)
			to[i] = (int32_t)from[i];
	else
		for (size_t i = 0; i < n; i++)
			to[i] += (int32_t)from[i];
}

/* The zero of the left operand: the model's, or what comes with each run. */
struct zero {
	int32_t port; /* < 0: a constant */
	float constant;
	bool is_unsigned;
};

static struct zero
zero_of(const struct graph *g, const struct candidate *c, const struct node *n,
    uint32_t input)
{
	const struct value *v = node_in(g, n, input);
	struct zero z = {.port = -1};

	if (!v)
		return z;
	z.constant = integer_entry(v->constant, 0);
	if (v->constant)
		return z;
	z.port = candidate_input(c, n->input[input]);
	z.is_unsigned = v->type.dtype == DT_UINT8;
	return z;
}

static float
zero_now(const struct zero *z, const void *const *in)
{
	const struct byte_code code = {.is_unsigned = z->is_unsigned};
	float zero = z->constant;

	if (z->port >= 0)
		bytes_widen(&zero, in[z->port], 1, 1, &code);
	return zero;
}

/* ---- products ---- */

struct sums_product {
	struct sums sums;
	struct requantising q; /* multiplier NULL: sums as they are */
	size_t rows, piece; /* rows at once */
	int32_t left;
	struct zero zero;
	bool left_unsigned;
	float *row, *part; /* [piece][depth], [piece][outputs] */
	int32_t *sum; /* [piece][outputs], of what is requantised */
};

static void
multiply_rows(const struct sums_product *p, size_t n, int32_t *sum)
{
	const struct sums *s = &p->sums;
	size_t from = 0;

	for (uint32_t i = 0; i < s->nparts; i++) {
		openblas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans,
		    (int)n, (int)s->outputs, (int)(s->end[i] - from), 1,
		    p->row + from, (int)s->depth, s->weight + from * s->outputs,
		    (int)s->outputs, 0, p->part, (int)s->outputs);
		add_whole(sum, p->part, n * s->outputs, i == 0);
		from = s->end[i];
	}
}

static void
run_product(struct kernel *k, const void *const *in, void *const *out)
{
	const struct sums_product *p = k->state;
	const struct sums *s = &p->sums;
	const uint8_t *from = in[p->left];
	const struct byte_code code = {
	    1, zero_now(&p->zero, in), p->left_unsigned};

	for (size_t at = 0, n; at < p->rows; at += n) {
		int32_t *sum = p->q.multiplier
		    ? p->sum
		    : (int32_t *)out[0] + at * s->outputs;

		n = p->rows - at < p->piece ? p->rows - at : p->piece;
		bytes_widen(
		    p->row, from + at * s->depth, n * s->depth, 1, &code);
		multiply_rows(p, n, sum);
		for (size_t r = 0; p->q.multiplier && r < n; r++)
			requantise_row(
			    (uint8_t *)out[0] + (at + r) * s->outputs,
			    sum + r * s->outputs, s->outputs, &p->q);
	}
}

static bool
compile_rows(const struct integer_places *at, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out)
{
	const struct node *n = graph_node(g, c->node[0]);
	const struct type *x = &node_in(g, n, 0)->type;
	const struct tensor *w = integer_constant(g, n, at->w);
	struct sums_product *p = arena_new(a, struct sums_product, 1);
	size_t widest;

	p->sums = (struct sums){.outputs = (size_t)w->dim[1],
	    .depth = (size_t)w->dim[0],
	    .by_depth = true};
	sums_of(&p->sums, w, integer_constant(g, n, at->w_zero), a);
	p->rows = 1;
	for (uint32_t i = 0; i + 1 < x->rank; i++)
		p->rows *= (size_t)x->dim[i];
	widest =
	    p->sums.depth > p->sums.outputs ? p->sums.depth : p->sums.outputs;
	p->piece = widest < PIECE ? PIECE / widest : 1;
	p->piece = p->piece < p->rows ? p->piece : p->rows;
	p->left = candidate_input(c, n->input[0]);
	p->left_unsigned = x->dtype == DT_UINT8;
	p->zero = zero_of(g, c, n, at->x_zero);
	p->row = arena_new(a, float, p->piece * p->sums.depth);
	p->part = arena_new(a, float, p->piece * p->sums.outputs);
	if (at->requantises) {
		if (!requantising_of(&p->q, g, n, p->sums.outputs, a))
			return false;
		p->sum = arena_new(a, int32_t, p->piece * p->sums.outputs);
	}
	out->run = run_product;
	out->state = p;
	return true;
}

/* ---- convolutions ---- */

struct byte_conv {
	struct window window;
	struct sums sums; /* outputs: all filters */
	struct requantising q;
	size_t batch, group, per, height, width; /* per: channels of a group */
	size_t filters, rows, columns; /* filters: of a group */
	size_t piece; /* rows of the output at once */
	int32_t in;
	struct zero zero;
	struct byte_code code; /* with the zero of this run */
	float *gathered, *part; /* [depth][n], [filters][n] */
	int32_t *sum; /* [filters][n] */
};

/* Which columns of the output have the tap within the input. */
static void
reach(const struct byte_conv *c, size_t tap, size_t *low, size_t *high)
{
	const struct window *w = &c->window;
	const int64_t at = (int64_t)tap * w->dilation[1] - w->before[1];
	const int64_t step = w->stride[1], columns = (int64_t)c->columns;
	const int64_t last = (int64_t)c->width - 1 - at;
	int64_t from = at < 0 ? (-at + step - 1) / step : 0;
	int64_t to = last < 0 ? 0 : last / step + 1;

	from = from < columns ? from : columns;
	to = to < columns ? to : columns;
	*low = (size_t)from;
	*high = (size_t)(to > from ? to : from);
}

/* One row of the output under one tap, as floats from zero. */
static void
gather_row(const struct byte_conv *c, const uint8_t *map, size_t row,
    size_t tap, float *to)
{
	const struct window *w = &c->window;
	const size_t kw = (size_t)w->kernel[1], step = (size_t)w->stride[1];
	const int64_t y = (int64_t)row * w->stride[0] - w->before[0]
	    + (int64_t)(tap / kw) * w->dilation[0];
	const int64_t x = (int64_t)(tap % kw) * w->dilation[1] - w->before[1];
	const uint8_t *from;
	size_t low, high;

	reach(c, tap % kw, &low, &high);
	if (y < 0 || y >= (int64_t)c->height)
		low = high = c->columns;
	memset(to, 0, low * sizeof *to);
	memset(to + high, 0, (c->columns - high) * sizeof *to);
	if (low >= high)
		return;
	from = map + (size_t)y * c->width + (size_t)((int64_t)(low * step) + x);
	bytes_widen(to + low, from, high - low, step, &c->code);
}

static void
gather(const struct byte_conv *c, const uint8_t *maps, size_t from, size_t n)
{
	const size_t taps =
	    (size_t)c->window.kernel[0] * (size_t)c->window.kernel[1];
	float *to = c->gathered;

	for (size_t k = 0; k < c->sums.depth; k++)
		for (size_t r = from; r < from + n; r++, to += c->columns)
			gather_row(c, maps + k / taps * c->height * c->width, r,
			    k % taps, to);
}

/* Sums of one filter of a single channel: a product of one row is slow. */
static void
sum_taps(const struct byte_conv *c, const float *weight, size_t n)
{
	memset(c->part, 0, n * sizeof *c->part);
	for (size_t k = 0; k < c->sums.depth; k++) {
		const float *row = c->gathered + k * n;
		const float w = weight[k];

		for (size_t i = 0; i < n; i++)
			c->part[i] += w * row[i];
	}
	add_whole(c->sum, c->part, n, true);
}

static void
multiply_maps(const struct byte_conv *c, const float *weight, size_t n)
{
	const struct sums *s = &c->sums;
	size_t from = 0;

	for (uint32_t i = 0; i < s->nparts; i++) {
		openblas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans,
		    (int)c->filters, (int)n, (int)(s->end[i] - from), 1,
		    weight + from, (int)s->depth, c->gathered + from * n,
		    (int)n, 0, c->part, (int)n);
		add_whole(c->sum, c->part, c->filters * n, i == 0);
		from = s->end[i];
	}
}

/* One group of one image: rows of the output at a time. */
static void
run_group(const struct byte_conv *c, const uint8_t *maps, void *out, size_t at,
    size_t g)
{
	const size_t positions = c->rows * c->columns;
	const float *weight = c->sums.weight + g * c->filters * c->sums.depth;

	for (size_t r = 0, rows; r < c->rows; r += rows) {
		size_t n, to = at + r * c->columns;

		rows = c->rows - r < c->piece ? c->rows - r : c->piece;
		n = rows * c->columns;
		gather(c, maps, r, rows);
		if (c->filters == 1 && c->sums.nparts == 1)
			sum_taps(c, weight, n);
		else
			multiply_maps(c, weight, n);
		for (size_t f = 0; f < c->filters; f++, to += positions)
			if (c->q.multiplier)
				requantise_map((uint8_t *)out + to,
				    c->sum + f * n, n, &c->q,
				    g * c->filters + f);
			else
				memcpy((int32_t *)out + to, c->sum + f * n,
				    n * sizeof(int32_t));
	}
}

static void
run_conv(struct kernel *k, const void *const *in, void *const *out)
{
	struct byte_conv *c = k->state;
	const size_t group_in = c->per * c->height * c->width;
	const size_t group_out = c->filters * c->rows * c->columns;
	const uint8_t *from = in[c->in];

	c->code.zero = zero_now(&c->zero, in);
	for (size_t i = 0; i < c->batch * c->group; i++)
		run_group(c, from + i * group_in, out[0], i * group_out,
		    i % c->group);
}

static void
conv_sizes(struct byte_conv *c, const struct type *x, const struct type *y,
    const struct tensor *w)
{
	c->batch = (size_t)x->dim[0];
	c->height = (size_t)x->dim[2];
	c->width = (size_t)x->dim[3];
	c->per = (size_t)w->dim[1];
	c->group = (size_t)x->dim[1] / c->per;
	c->filters = (size_t)w->dim[0] / c->group;
	c->rows = (size_t)y->dim[2];
	c->columns = (size_t)y->dim[3];
	c->sums.outputs = (size_t)w->dim[0];
	c->sums.depth = w->count / c->sums.outputs;
	c->code.is_unsigned = x->dtype == DT_UINT8;
}

static bool
compile_maps(const struct integer_places *at, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out)
{
	const struct node *n = graph_node(g, c->node[0]);
	const struct tensor *w = integer_constant(g, n, at->w);
	struct byte_conv *v = arena_new(a, struct byte_conv, 1);
	const char *fault;
	size_t row;

	if (!window_resolve(&v->window, g, n, &fault))
		return false;
	conv_sizes(v, &node_in(g, n, 0)->type, &node_out(g, n, 0)->type, w);
	sums_of(&v->sums, w, integer_constant(g, n, at->w_zero), a);
	v->zero = zero_of(g, c, n, at->x_zero);
	v->in = candidate_input(c, n->input[0]);
	if (at->requantises
	    && !requantising_of(&v->q, g, n, v->sums.outputs, a))
		return false;
	row = v->columns
	    * (v->sums.depth > v->filters ? v->sums.depth : v->filters);
	v->piece = row < PIECE ? PIECE / row : 1;
	v->piece = v->piece < v->rows ? v->piece : v->rows;
	v->gathered =
	    arena_new(a, float, v->piece * v->columns * v->sums.depth);
	v->part = arena_new(a, float, v->piece * v->columns * v->filters);
	v->sum = arena_new(a, int32_t, v->piece * v->columns * v->filters);
	out->run = run_conv;
	out->state = v;
	return true;
}

bool
compile_integer(const struct graph *g, const struct candidate *c,
    struct arena *a, struct kernel *out)
{
	const struct integer_places *at =
	    integer_places(graph_node(g, c->node[0]));

	return at->is_conv ? compile_maps(at, g, c, a, out)
	                   : compile_rows(at, g, c, a, out);
}
