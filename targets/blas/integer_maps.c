/* Convolutions of 8-bit integers over gathered windows. */
#include <string.h>

#include "targets/blas/sums.h"
#include "targets/bytes.h"
#include "targets/lanes.h"
#include "targets/window.h"

struct byte_conv {
	struct window window;
	struct sums sums; /* outputs: all filters */
	struct requantising q;
	size_t batch, group, per, height, width; /* per: channels of a group */
	size_t filters, rows, columns; /* filters: of a group */
	size_t piece; /* rows of the output at once */
	uint32_t lanes; /* that share the pieces; 1: each product is shared */
	int32_t in;
	struct zero zero;
	struct byte_code code; /* with the zero of this run */
	/* of each lane: [depth][n], [filters][n] */
	float *gathered, *part;
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
		const struct multiplication m = {.rows = c->filters,
		    .inner = s->end[i] - from,
		    .columns = n,
		    .alpha = 1,
		    .left = weight + from,
		    .left_stride = s->depth,
		    .right = c->gathered + from * n,
		    .right_stride = n,
		    .to = c->part,
		    .to_stride = n};

		multiply_by(&m, c->lanes);
		add_whole(c->sum, c->part, c->filters * n, i == 0);
		from = s->end[i];
	}
}

struct maps_run {
	const struct byte_conv *conv;
	const uint8_t *in;
	void *out;
	size_t pieces; /* of a group */
};

/* A group of an image. */
struct maps {
	const uint8_t *in;
	size_t group, at; /* of the group; where its results begin */
};

/* Some rows of its output, in the buffers of `c`. */
static void
run_piece(const struct maps_run *r, const struct byte_conv *c,
    const struct maps *maps, size_t row)
{
	const size_t positions = c->rows * c->columns;
	const size_t left = c->rows - row;
	const size_t rows = left < c->piece ? left : c->piece;
	const size_t n = rows * c->columns, group = maps->group;
	const float *weight =
	    c->sums.weight + group * c->filters * c->sums.depth;
	size_t to = maps->at + row * c->columns;

	gather(c, maps->in, row, rows);
	if (c->filters == 1 && c->sums.nparts == 1)
		sum_taps(c, weight, n);
	else
		multiply_maps(c, weight, n);
	for (size_t f = 0; f < c->filters; f++, to += positions)
		if (c->q.multiplier)
			requantise_map((uint8_t *)r->out + to, c->sum + f * n,
			    n, &c->q, group * c->filters + f);
		else
			memcpy((int32_t *)r->out + to, c->sum + f * n,
			    n * sizeof(int32_t));
}

static void
run_lane_maps(void *of, uint32_t lane, size_t i)
{
	const struct maps_run *r = of;
	struct byte_conv mine = *r->conv;
	const size_t area = mine.piece * mine.columns, group = i / r->pieces;
	const struct maps maps = {
	    r->in + group * mine.per * mine.height * mine.width,
	    group % mine.group,
	    group * mine.filters * mine.rows * mine.columns};

	mine.gathered += lane * area * mine.sums.depth;
	mine.part += lane * area * mine.filters;
	mine.sum += lane * area * mine.filters;
	run_piece(r, &mine, &maps, i % r->pieces * mine.piece);
}

static void
run_conv(struct kernel *k, const void *const *in, void *const *out)
{
	struct byte_conv *c = k->state;
	struct maps_run r;

	c->code.zero = zero_now(&c->zero, in);
	r.conv = c;
	r.in = in[c->in];
	r.out = out[0];
	r.pieces = (c->rows + c->piece - 1) / c->piece;
	lanes_each(c->batch * c->group * r.pieces, c->lanes, run_lane_maps, &r);
}

/* Rows for each thread, unless there are fewer than threads. */
static void
cut_maps(struct byte_conv *c)
{
	const size_t times = c->batch * c->group;
	const uint32_t lanes =
	    cut_of(c->filters, c->sums.depth, c->rows * c->columns, times)
	        .lanes;
	const size_t row = c->columns
	    * (c->sums.depth > c->filters ? c->sums.depth : c->filters);
	size_t each = c->rows;

	c->lanes = 1;
	if (c->rows * times >= lanes) {
		c->lanes = lanes;
		each = times % lanes == 0 ? each : (each + lanes - 1) / lanes;
	}
	c->piece = row < SUMS_PIECE ? SUMS_PIECE / row : 1;
	c->piece = c->piece < each ? c->piece : each;
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

bool
compile_maps(const struct integer_places *at, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out)
{
	const struct node *n = graph_node(g, c->node[0]);
	const struct tensor *w = integer_constant(g, n, at->w);
	struct byte_conv *v = arena_new(a, struct byte_conv, 1);
	const char *fault;
	size_t area;

	if (!window_resolve(&v->window, g, n, &fault))
		return false;
	conv_sizes(v, &node_in(g, n, 0)->type, &node_out(g, n, 0)->type, w);
	sums_of(&v->sums, w, integer_constant(g, n, at->w_zero), a);
	v->zero = zero_of(g, c, n, at->x_zero);
	v->in = candidate_input(c, n->input[0]);
	if (at->requantises
	    && !requantising_of(&v->q, g, n, v->sums.outputs, a))
		return false;
	cut_maps(v);
	area = v->lanes * v->piece * v->columns;
	v->gathered = arena_new(a, float, area * v->sums.depth);
	v->part = arena_new(a, float, area * v->filters);
	v->sum = arena_new(a, int32_t, area * v->filters);
	out->run = run_conv;
	out->state = v;
	return true;
}
