/* Kernels that read an image between its pixels: GridSample, AffineGrid,
 * RoiAlign, DeformConv. */
#include <math.h>
#include <string.h>

#include "ir/base/size.h"
#include "targets/host/kernels.h"
#include "targets/host/slide.h"

#define SAMPLE_RANK 3u /* spatial dims of a sampled tensor */

/* --- GridSample ---------------------------------------------------------- */

enum outside { ZEROS, BORDER, REFLECTION };

struct sampler {
	uint32_t rank; /* spatial dims */
	int64_t dim[SAMPLE_RANK];
	uint32_t taps; /* an axis: nearest 1, linear 2, cubic 4 */
	enum outside outside;
	bool align;
	const double *plane;
};

/* x reflected at low and high until it is between them. */
static double
reflect(double x, double low, double high)
{
	double range = high - low, beyond;

	if (range <= 0)
		return low;
	beyond = x < low ? low - x : x > high ? x - high : -1;
	if (beyond < 0)
		return x;
	if (!isfinite(beyond))
		return low;
	if (fmod(floor(beyond / range), 2) == 0)
		return x < low ? low + fmod(beyond, range)
		               : high - fmod(beyond, range);
	return x < low ? high - fmod(beyond, range) : low + fmod(beyond, range);
}

/* The padded image's coordinate for an unpadded one. */
static double
inside(const struct sampler *s, uint32_t d, double x)
{
	double last = (double)(s->dim[d] - 1), edge = s->align ? 0 : 0.5;

	if (x >= -edge && x <= last + edge)
		return x;
	if (s->outside == BORDER)
		return fmin(fmax(x, 0), last);
	if (s->outside == REFLECTION)
		return reflect(x, -edge, last + edge);
	return x;
}

/* Index of a pixel, or -1 where there is 0. */
static int64_t
pixel(const struct sampler *s, uint32_t d, double x)
{
	double last = (double)(s->dim[d] - 1);

	if (s->outside == REFLECTION)
		x = floor(inside(s, d, x) + 0.5);
	if (s->outside != ZEROS)
		x = fmin(fmax(x, 0), last);
	return x >= 0 && x <= last ? (int64_t)x : -1;
}

static double
cubic(double t)
{
	const double a = -0.75;

	t = fabs(t);
	if (t <= 1)
		return ((a + 2) * t - (a + 3)) * t * t + 1;
	return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/* Indices and weights of the taps of one axis around x. */
static void
axis_taps(const struct sampler *s, uint32_t d, double x, int64_t *index,
    double *weight)
{
	double first;

	if (!isfinite(x))
		x = -1e9;
	x = fmin(fmax(x, -1e15), 1e15);
	if (s->taps == 1)
		x = rint(x);
	/* SOURCE: PyTorch and ONNX Runtime 1.32: behind the border it is the
	 * taps of a cubic that lie on it, not the point itself */
	if (s->taps < 4 || s->outside != BORDER)
		x = inside(s, d, x);
	first = s->taps == 1 ? x : floor(x) - (s->taps == 4);
	for (uint32_t k = 0; k < s->taps; k++) {
		double away = fabs(x - (first + k));

		index[k] = pixel(s, d, first + k);
		weight[k] = s->taps == 1 ? 1
		    : s->taps == 2       ? 1 - away
		                         : cubic(away);
	}
}

/* The value at a point: the taps of all axes multiplied out. */
static double
sample(const struct sampler *s, const double *point)
{
	int64_t index[SAMPLE_RANK][4];
	double weight[SAMPLE_RANK][4], sum = 0;
	uint32_t n = 1;

	for (uint32_t d = 0; d < s->rank; d++) {
		axis_taps(s, d, point[d], index[d], weight[d]);
		n *= s->taps;
	}
	for (uint32_t i = 0; i < n; i++) {
		double w = 1;
		int64_t at = 0;
		uint32_t rest = i;

		for (uint32_t d = 0; at >= 0 && d < s->rank; d++) {
			uint32_t k = rest % s->taps;

			rest /= s->taps;
			w *= weight[d][k];
			at =
			    index[d][k] < 0 ? -1 : at * s->dim[d] + index[d][k];
		}
		if (at >= 0)
			sum += w * s->plane[at];
	}
	return sum;
}

static bool
sampler_read(struct sampler *s, const struct call *c, struct err *err)
{
	const struct node *n = c->node;
	const struct tensor *x = c->in[0], *grid = c->in[1];

	s->rank = x->rank - 2;
	if (x->rank < 3 || s->rank > SAMPLE_RANK || grid->rank != x->rank
	    || grid->dim[grid->rank - 1] != s->rank
	    || grid->dim[0] != x->dim[0])
		return err_set(err, ERR_INPUT, "input of rank %u, grid of %u",
		    x->rank, grid->rank);
	for (uint32_t d = 0; d < s->rank; d++)
		s->dim[d] = x->dim[d + 2];
	s->align = attr_int_or(n, "align_corners", 0) != 0;
	s->taps = attr_is(n, "mode", "linear", "nearest") ? 1
	    : attr_is(n, "mode", "linear", "cubic")
	        || attr_is(n, "mode", "linear", "bicubic")
	    ? 4
	    : 2;
	s->outside = attr_is(n, "padding_mode", "zeros", "border") ? BORDER
	    : attr_is(n, "padding_mode", "zeros", "reflection")    ? REFLECTION
	                                                           : ZEROS;
	return true;
}

/* Grid entry i, -1..1 with the last axis first, as coordinates. */
static void
grid_point(
    const struct sampler *s, const struct tensor *grid, size_t i, double *point)
{
	for (uint32_t d = 0; d < s->rank; d++) {
		double n = (double)s->dim[d];
		double g = load_one(grid, i * s->rank + (s->rank - 1 - d));

		point[d] =
		    s->align ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
	}
}

bool
gridsample_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *grid = c->in[1];
	struct shape s = shape_of(grid);
	struct sampler v = {.rank = 0};
	struct sink to;
	size_t nin, nout, planes;
	double *plane, point[SAMPLE_RANK];

	if (!sampler_read(&v, c, err))
		return false;
	memmove(s.dim + 2, s.dim + 1, v.rank * sizeof *s.dim);
	s.dim[1] = x->dim[1];
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	nin = shape_count(x->dim, 2, x->rank);
	nout = shape_count(s.dim, 2, s.rank);
	planes = (size_t)(x->dim[0] * x->dim[1]);
	v.plane = plane = arena_new(c->scratch, double, nin);
	for (size_t i = 0; i < planes; i++) {
		size_t batch = i / (size_t)x->dim[1];

		load_real(plane, x, i * nin, 1, nin);
		for (size_t o = 0; o < nout; o++) {
			double y = 0;

			grid_point(&v, grid, batch * nout + o, point);
			if (nin > 0)
				y = sample(&v, point);
			store_real(&to, i * nout + o, 1, 1, &y);
		}
	}
	return true;
}

/* --- AffineGrid ---------------------------------------------------------- */

static double
grid_coordinate(int64_t i, int64_t n, bool align)
{
	if (align)
		return n > 1 ? -1 + 2.0 * (double)i / (double)(n - 1) : 0;
	return (2 * (double)i + 1) / (double)n - 1;
}

bool
affinegrid_run(struct call *c, struct err *err)
{
	const struct tensor *theta = c->in[0];
	bool align = attr_int_or(c->node, "align_corners", 0) != 0;
	uint32_t n, rank;
	const int64_t *size = input_ints(c, 1, &n);
	struct shape s = {.rank = n};
	struct sink to;
	struct position p = {{0}};

	rank = n - 2;
	if (!size || (n != 4 && n != 5) || theta->rank != 3
	    || theta->dim[0] != size[0] || theta->dim[1] != rank
	    || theta->dim[2] != rank + 1)
		return err_set(err, ERR_INPUT,
		    "size of %u entries, theta of "
		    "rank %u",
		    n, theta->rank);
	s.dim[0] = size[0];
	memcpy(s.dim + 1, size + 2, rank * sizeof *size);
	s.dim[n - 1] = rank;
	if (!host_out(c, 0, theta->dtype, &s, &to, err))
		return false;
	for (size_t i = 0; i < c->out[0].count / rank; i++) {
		size_t batch = (size_t)p.at[0] * rank * (rank + 1);

		for (uint32_t r = 0; r < rank; r++) {
			size_t row = batch + r * (rank + 1);
			double y = load_one(theta, row + rank);

			for (uint32_t d = 0; d < rank; d++)
				y += load_one(theta, row + d)
				    * grid_coordinate(
				        p.at[rank - d], s.dim[rank - d], align);
			store_real(&to, i * rank + r, 1, 1, &y);
		}
		position_next(&p, s.dim, rank + 1);
	}
	return true;
}

/* --- RoiAlign ------------------------------------------------------------ */

struct roi {
	double y, x, bin_h, bin_w; /* where it begins; size of an output cell */
	int64_t grid_h, grid_w; /* samples in a cell */
};

/* The four corners around a point of an h x w plane: offsets and weights;
 * false when it is outside. */
static bool
corners(double y, double x, int64_t h, int64_t w, size_t *at, double *weight)
{
	int64_t y0, x0, y1, x1;
	double fy, fx;

	if (!(y >= -1 && y <= (double)h && x >= -1 && x <= (double)w))
		return false;
	y = fmax(y, 0);
	x = fmax(x, 0);
	y0 = (int64_t)y < h - 1 ? (int64_t)y : h - 1;
	x0 = (int64_t)x < w - 1 ? (int64_t)x : w - 1;
	y1 = y0 < h - 1 ? y0 + 1 : y0;
	x1 = x0 < w - 1 ? x0 + 1 : x0;
	fy = y0 < h - 1 ? y - (double)y0 : 0;
	fx = x0 < w - 1 ? x - (double)x0 : 0;
	at[0] = (size_t)(y0 * w + x0);
	at[1] = (size_t)(y0 * w + x1);
	at[2] = (size_t)(y1 * w + x0);
	at[3] = (size_t)(y1 * w + x1);
	weight[0] = (1 - fy) * (1 - fx);
	weight[1] = (1 - fy) * fx;
	weight[2] = fy * (1 - fx);
	weight[3] = fy * fx;
	return true;
}

static double
roi_cell(const struct roi *r, const double *plane, const int64_t *dim,
    const int64_t *cell, bool max)
{
	double total = 0, best = -(double)INFINITY, weight[4];
	size_t at[4];

	for (int64_t i = 0; i < r->grid_h * r->grid_w; i++) {
		double y = r->y
		    + r->bin_h
		        * ((double)cell[0]
		            + ((double)(i / r->grid_w) + 0.5)
		                / (double)r->grid_h);
		double x = r->x
		    + r->bin_w
		        * ((double)cell[1]
		            + ((double)(i % r->grid_w) + 0.5)
		                / (double)r->grid_w);

		if (!corners(y, x, dim[0], dim[1], at, weight)) {
			best = fmax(best, 0);
			continue;
		}
		for (int k = 0; k < 4; k++) {
			double v = weight[k] * plane[at[k]];

			total += v;
			best = fmax(best, v);
		}
	}
	if (r->grid_h * r->grid_w == 0)
		return 0;
	return max ? best : total / (double)(r->grid_h * r->grid_w);
}

static bool
roi_read(struct roi *r, const struct call *c, size_t i, const int64_t *out,
    struct err *err)
{
	const struct node *n = c->node;
	double scale = (double)attr_float_or(n, "spatial_scale", 1);
	bool half = n->opset >= 16
	    && attr_is(n, "coordinate_transformation_mode", "half_pixel",
	        "half_pixel");
	int64_t ratio = attr_int_or(n, "sampling_ratio", 0);
	double box[4], h, w;

	load_real(box, c->in[1], 4 * i, 1, 4);
	for (int k = 0; k < 4; k++) {
		box[k] = box[k] * scale - (half ? 0.5 : 0);
		if (!(fabs(box[k]) < 1e6))
			return err_set(err, ERR_INPUT, "a roi at %g", box[k]);
	}
	w = box[2] - box[0];
	h = box[3] - box[1];
	if (!half) {
		w = fmax(w, 1);
		h = fmax(h, 1);
	}
	if (ratio < 0 || ratio > 1000)
		return err_set(
		    err, ERR_INPUT, "sampling_ratio %lld", (long long)ratio);
	*r = (struct roi){box[1], box[0], h / (double)out[0],
	    w / (double)out[1], ratio, ratio};
	if (ratio == 0) {
		r->grid_h = (int64_t)fmax(0, ceil(r->bin_h));
		r->grid_w = (int64_t)fmax(0, ceil(r->bin_w));
	}
	return true;
}

bool
roialign_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *rois = c->in[1];
	const struct tensor *batch = c->in[2];
	bool max = attr_is(c->node, "mode", "avg", "max");
	int64_t out[2] = {attr_int_or(c->node, "output_height", 1),
	    attr_int_or(c->node, "output_width", 1)};
	struct shape s = {.rank = 4};
	struct sink to;
	double *plane;
	size_t n;

	if (x->rank != 4 || rois->rank != 2 || rois->dim[1] != 4
	    || batch->count != (size_t)rois->dim[0] || out[0] < 1 || out[1] < 1)
		return err_set(err, ERR_INPUT, "input of rank %u, rois of %u",
		    x->rank, rois->rank);
	memcpy(s.dim, (int64_t[]){rois->dim[0], x->dim[1], out[0], out[1]},
	    4 * sizeof *s.dim);
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	n = (size_t)(x->dim[2] * x->dim[3]);
	plane = arena_new(c->scratch, double, n);
	for (size_t i = 0; n > 0 && i < (size_t)(s.dim[0] * s.dim[1]); i++) {
		size_t k = i / (size_t)s.dim[1];
		int64_t b = load_one_int(batch, k);
		struct roi r;

		if (b < 0 || b >= x->dim[0])
			return err_set(
			    err, ERR_INPUT, "batch index %lld", (long long)b);
		if (!roi_read(&r, c, k, out, err))
			return false;
		load_real(plane, x,
		    ((size_t)b * (size_t)s.dim[1] + i % (size_t)s.dim[1]) * n,
		    1, n);
		for (int64_t o = 0; o < out[0] * out[1]; o++) {
			int64_t cell[2] = {o / out[1], o % out[1]};
			double y = roi_cell(&r, plane, x->dim + 2, cell, max);

			store_real(&to,
			    i * (size_t)(out[0] * out[1]) + (size_t)o, 1, 1,
			    &y);
		}
	}
	return true;
}

/* --- DeformConv: a convolution whose taps are moved ---------------------- */

struct deform {
	struct slide w;
	const struct tensor *x, *f, *offset, *bias, *mask;
	size_t groups, offset_groups;
};

/* The image between pixels; 0 outside. */
static double
bilinear(const double *plane, const int64_t *dim, double y, double x)
{
	double sum = 0, y0 = floor(y), x0 = floor(x);

	if (!(y > -1 && y < (double)dim[0] && x > -1 && x < (double)dim[1]))
		return 0;
	for (int k = 0; k < 4; k++) {
		double py = y0 + k / 2, px = x0 + k % 2;

		if (py >= 0 && py < (double)dim[0] && px >= 0
		    && px < (double)dim[1])
			sum += (1 - fabs(y - py)) * (1 - fabs(x - px))
			    * plane[(size_t)py * (size_t)dim[1] + (size_t)px];
	}
	return sum;
}

/* What tap `tap` of channel ch sees for output position i of a batch entry. */
static double
moved_tap(const struct deform *v, const double *plane, size_t b, size_t ch,
    size_t tap, size_t i)
{
	const struct slide *w = &v->w;
	size_t og = ch / ((size_t)v->x->dim[1] / v->offset_groups);
	size_t at = ((b * v->offset_groups + og) * w->nkernel + tap);
	double y = (double)((int64_t)(i / (size_t)w->out[1]) * w->stride[0]
	    - w->before[0]
	    + (int64_t)(tap / (size_t)w->kernel[1]) * w->dilation[0]);
	double x = (double)((int64_t)(i % (size_t)w->out[1]) * w->stride[1]
	    - w->before[1]
	    + (int64_t)(tap % (size_t)w->kernel[1]) * w->dilation[1]);
	double seen;

	y += load_one(v->offset, 2 * at * w->nout + i);
	x += load_one(v->offset, (2 * at + 1) * w->nout + i);
	seen = bilinear(plane, w->in, y, x);
	return v->mask ? seen * load_one(v->mask, at * w->nout + i) : seen;
}

static bool
deform_read(struct deform *v, struct call *c, struct err *err)
{
	int64_t groups = attr_int_or(c->node, "group", 1);
	int64_t og = attr_int_or(c->node, "offset_group", 1);
	size_t taps;

	v->x = c->in[0];
	v->f = c->in[1];
	v->offset = c->in[2];
	v->bias = call_in(c, 3);
	v->mask = call_in(c, 4);
	if (v->x->rank != 4 || v->f->rank != 4)
		return refuse(err, "another rank than 4");
	if (groups < 1 || og < 1 || v->x->dim[1] % groups
	    || v->x->dim[1] / groups != v->f->dim[1] || v->x->dim[1] % og
	    || v->f->dim[0] % groups)
		return err_set(err, ERR_INPUT, "%lld groups, %lld of offsets",
		    (long long)groups, (long long)og);
	if (!slide_read(&v->w, c->node, 2, v->x->dim + 2, v->f->dim + 2, err))
		return false;
	v->groups = (size_t)groups;
	v->offset_groups = (size_t)og;
	taps =
	    (size_t)v->x->dim[0] * v->offset_groups * v->w.nkernel * v->w.nout;
	if (v->offset->count != 2 * taps || (v->mask && v->mask->count != taps)
	    || (v->bias && v->bias->count != (size_t)v->f->dim[0]))
		return err_set(
		    err, ERR_INPUT, "offset, mask or bias does not fit");
	return true;
}

/* Add what channel ch of a batch entry gives to all filters of its group:
 * y[filters of the group][nout]. */
static void
deform_channel(
    const struct deform *v, const double *plane, size_t b, size_t ch, double *y)
{
	size_t per = (size_t)v->f->dim[1], nk = v->w.nkernel;
	size_t filters = (size_t)v->f->dim[0] / v->groups;
	size_t first = ch / per * filters;

	for (size_t tap = 0; tap < nk; tap++) {
		for (size_t i = 0; i < v->w.nout; i++) {
			double seen = moved_tap(v, plane, b, ch, tap, i);

			for (size_t f = 0; f < filters; f++)
				y[f * v->w.nout + i] += seen
				    * load_one(v->f,
				        ((first + f) * per + ch % per) * nk
				            + tap);
		}
	}
}

bool
deformconv_run(struct call *c, struct err *err)
{
	struct deform v;
	struct shape s;
	struct sink to;
	size_t filters, per;
	double *plane, *y;

	if (!deform_read(&v, c, err))
		return false;
	s = shape_of(v.x);
	s.dim[1] = v.f->dim[0];
	s.dim[2] = v.w.out[0];
	s.dim[3] = v.w.out[1];
	if (!host_out(c, 0, v.x->dtype, &s, &to, err))
		return false;
	if (c->out[0].count == 0)
		return true;
	filters = (size_t)v.f->dim[0] / v.groups;
	per = (size_t)v.f->dim[1];
	plane = arena_new(c->scratch, double, v.w.nin);
	y = arena_array(c->scratch, filters, v.w.nout * sizeof *y);
	for (size_t g = 0; g < (size_t)v.x->dim[0] * v.groups; g++) {
		size_t b = g / v.groups, first = g % v.groups * filters;

		for (size_t i = 0; i < filters * v.w.nout; i++)
			y[i] =
			    v.bias ? load_one(v.bias, first + i / v.w.nout) : 0;
		for (size_t k = 0; k < per; k++) {
			load_real(
			    plane, v.x, (g * per + k) * v.w.nin, 1, v.w.nin);
			deform_channel(&v, plane, b, g % v.groups * per + k, y);
		}
		store_real(
		    &to, g * filters * v.w.nout, 1, filters * v.w.nout, y);
	}
	return true;
}
