/* Resize and Upsample: every mode is a weighted sum of a few source indices,
 * found apart for each axis and applied axis after axis. */
#include <math.h>
#include <string.h>

#include "ir/base/size.h"
#include "targets/host/kernels.h"
#include "targets/host/line.h"

enum mode { NEAREST, LINEAR, CUBIC };

struct resize {
	enum mode mode;
	const char *coordinates; /* coordinate_transformation_mode */
	const char *nearest;
	double a; /* of the cubic kernel */
	bool antialias, exclude_outside, crop;
	double extrapolation;
	double scale[RANK_MAX], from[RANK_MAX], to[RANK_MAX]; /* roi */
	struct shape out;
};

/* What output index i of an axis is made of. */
struct taps {
	int64_t first;
	uint32_t n;
	double *weight; /* [n] of source indices first.. */
	bool outside; /* shows the extrapolation value instead */
};

static const char *const coordinate_modes[] = {"half_pixel",
    "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
    "tf_crop_and_resize", "tf_half_pixel_for_nn"};
static const char *const nearest_modes[] = {
    "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

/* The word of an attribute out of a list; NULL (and err) when it is none. */
static const char *
word_of(const struct node *n, const char *name, const char *otherwise,
    const char *const *words, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (attr_is(n, name, otherwise, words[i]))
			return words[i];
	refuse(err, "an unknown %s", name);
	return NULL;
}

/* Where output position i lies in the source. SOURCE: the ONNX text of
 * coordinate_transformation_mode. */
static double
source_of(const struct resize *r, uint32_t d, int64_t in, int64_t i)
{
	/* the length the scale asks for, before it is cut to a whole number */
	double n = (double)in, scale = r->scale[d], out = n * scale;
	double x = (double)i;
	const char *mode = r->coordinates;

	if (strcmp(mode, "asymmetric") == 0)
		return x / scale;
	if (strcmp(mode, "align_corners") == 0)
		return out > 1 ? x * (n - 1) / (out - 1) : 0;
	if (strcmp(mode, "tf_half_pixel_for_nn") == 0)
		return (x + 0.5) / scale;
	if (strcmp(mode, "tf_crop_and_resize") == 0)
		return out > 1 ? r->from[d] * (n - 1)
		        + x * (r->to[d] - r->from[d]) * (n - 1) / (out - 1)
		               : 0.5 * (r->from[d] + r->to[d]) * (n - 1);
	if (strcmp(mode, "pytorch_half_pixel") == 0 && out <= 1)
		return 0;
	if (strcmp(mode, "half_pixel_symmetric") == 0)
		return n / 2 * (1 - (double)r->out.dim[d] / out)
		    + (x + 0.5) / scale - 0.5;
	return (x + 0.5) / scale - 0.5;
}

static double
nearest_of(const char *mode, double x)
{
	if (strcmp(mode, "floor") == 0)
		return floor(x);
	if (strcmp(mode, "ceil") == 0)
		return ceil(x);
	if (strcmp(mode, "round_prefer_ceil") == 0)
		return floor(x + 0.5);
	return ceil(x - 0.5);
}

static double
kernel(const struct resize *r, double d)
{
	double a = r->a;

	d = fabs(d);
	if (r->mode == LINEAR)
		return d < 1 ? 1 - d : 0;
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Weights of source indices around x; the kernel is stretched when shrinking
 * with antialias. */
static void
weigh(const struct resize *r, struct taps *t, double x, double scale,
    int64_t in, struct arena *a)
{
	double stretch = r->antialias && scale < 1 ? scale : 1, sum = 0;
	double reach = (r->mode == LINEAR ? 1 : 2) / stretch;

	t->first = (int64_t)floor(x) + (int64_t)floor(-reach) + 1;
	t->n = (uint32_t)(2 * (int64_t)ceil(reach));
	t->weight = arena_new(a, double, t->n);
	for (uint32_t k = 0; k < t->n; k++) {
		int64_t at = t->first + k;
		bool outside = at < 0 || at >= in;

		t->weight[k] = kernel(r, ((double)at - x) * stretch);
		if (outside && r->exclude_outside)
			t->weight[k] = 0;
		sum += t->weight[k];
	}
	for (uint32_t k = 0; sum != 0 && k < t->n; k++)
		t->weight[k] /= sum;
}

static struct taps
taps_of(
    const struct resize *r, uint32_t d, int64_t in, int64_t i, struct arena *a)
{
	double x = source_of(r, d, in, i), last = (double)(in - 1);
	struct taps t = {.n = 1};

	if (r->crop && (x < 0 || x > last)) {
		t.outside = true;
		return t;
	}
	/* far outside (a hostile roi) is as good as just outside */
	x = isnan(x) ? 0 : fmin(fmax(x, -last - 16), 2 * last + 16);
	if (r->mode != NEAREST) {
		weigh(r, &t, x, r->scale[d], in, a);
		return t;
	}
	t.first = (int64_t)nearest_of(r->nearest, x);
	t.weight = arena_new(a, double, 1);
	t.weight[0] = 1;
	return t;
}

static double
tapped(const struct taps *t, const double *x, int64_t in, size_t step)
{
	double sum = 0;

	for (uint32_t k = 0; k < t->n; k++) {
		int64_t at = t->first + k;

		at = at < 0 ? 0 : at >= in ? in - 1 : at;
		if (t->weight[k] != 0)
			sum += t->weight[k] * x[(size_t)at * step];
	}
	return sum;
}

/* y = x with axis d resized; s is x's shape and becomes y's. */
static double *
resize_axis(struct call *c, const struct resize *r, uint32_t d, struct shape *s,
    const double *x)
{
	size_t outer = shape_count(s->dim, 0, d);
	size_t inner = shape_count(s->dim, d + 1, s->rank);
	int64_t in = s->dim[d], out = r->out.dim[d];
	struct taps *t = arena_new(c->scratch, struct taps, (size_t)out);
	double *y =
	    arena_array(c->scratch, outer * inner, (size_t)out * sizeof *y);

	for (int64_t i = 0; i < out; i++)
		t[i] = taps_of(r, d, in, i, c->scratch);
	for (size_t o = 0; o < outer; o++)
		for (size_t i = 0; i < (size_t)out; i++)
			for (size_t k = 0; k < inner; k++)
				y[(o * (size_t)out + i) * inner + k] =
				    t[i].outside
				    ? r->extrapolation
				    : tapped(&t[i],
				        x + o * (size_t)in * inner + k, in,
				        inner);
	s->dim[d] = out;
	return y;
}

static bool
resize_apply(struct call *c, const struct resize *r, struct err *err)
{
	const struct tensor *t = c->in[0];
	struct shape s = shape_of(t);
	struct sink to;
	double *x;

	if (!host_out(c, 0, t->dtype, &r->out, &to, err))
		return false;
	if (t->count == 0 && c->out[0].count > 0)
		return err_set(err, ERR_INPUT, "nothing to resize");
	x = arena_new(c->scratch, double, t->count);
	load_real(x, t, 0, 1, t->count);
	for (uint32_t d = 0; t->count && d < s.rank; d++)
		if (r->scale[d] != 1 || r->out.dim[d] != s.dim[d] || r->crop)
			x = resize_axis(c, r, d, &s, x);
	store_real(&to, 0, 1, c->out[0].count, x);
	return true;
}

/* --- Reading the node ---------------------------------------------------- */

static bool
set_scale(
    struct resize *r, uint32_t d, int64_t in, double scale, struct err *err)
{
	double out = size_scaled(in, scale);

	if (!(scale > 0) || !(out <= INT32_MAX))
		return err_set(err, ERR_INPUT, "scale %g", scale);
	r->scale[d] = scale;
	r->out.dim[d] = (int64_t)out;
	return true;
}

/* Sizes wanted under keep_aspect_ratio_policy: one scale for all axes. */
static double
common_scale(
    const struct call *c, const int64_t *size, const uint32_t *axis, uint32_t n)
{
	bool smaller = attr_is(
	    c->node, "keep_aspect_ratio_policy", "stretch", "not_larger");
	double best = 0;

	for (uint32_t i = 0; i < n; i++) {
		double s = (double)size[i] / (double)c->in[0]->dim[axis[i]];

		if (i == 0 || (smaller ? s < best : s > best))
			best = s;
	}
	return best;
}

static bool
set_sizes(struct resize *r, struct call *c, const int64_t *size,
    const uint32_t *axis, uint32_t n, struct err *err)
{
	bool stretch =
	    attr_is(c->node, "keep_aspect_ratio_policy", "stretch", "stretch");
	double common = stretch ? 0 : common_scale(c, size, axis, n);

	for (uint32_t i = 0; i < n; i++) {
		double in = (double)c->in[0]->dim[axis[i]];
		double out =
		    stretch ? (double)size[i] : floor(common * in + 0.5);

		if (!(out >= 0) || out > INT32_MAX || in == 0)
			return err_set(err, ERR_INPUT, "size %lld of %g",
			    (long long)size[i], in);
		r->out.dim[axis[i]] = (int64_t)out;
		r->scale[axis[i]] = stretch ? out / in : common;
	}
	return true;
}

static bool
set_roi(struct resize *r, const struct call *c, const uint32_t *axis,
    uint32_t n, struct err *err)
{
	const struct tensor *roi = call_in(c, 1);

	if (!roi || roi->count != 2 * (size_t)n)
		return err_set(err, ERR_INPUT, "a roi of %zu entries",
		    roi ? roi->count : 0);
	for (uint32_t i = 0; i < n; i++) {
		r->from[axis[i]] = load_one(roi, i);
		r->to[axis[i]] = load_one(roi, n + i);
	}
	return true;
}

/* The axes meant, all of them by default. */
static bool
read_axes(const struct call *c, uint32_t *axis, uint32_t *n, struct err *err)
{
	const int64_t *given = attr_ints(c->node, "axes", n);

	if (!given)
		*n = c->in[0]->rank;
	if (*n > c->in[0]->rank)
		return err_set(err, ERR_INPUT, "%u axes", *n);
	for (uint32_t i = 0; i < *n; i++)
		if (!axis_of(
		        given ? given[i] : i, c->in[0]->rank, &axis[i], err))
			return false;
	return true;
}

static bool
set_scales(struct resize *r, const struct call *c, const struct tensor *scale,
    const uint32_t *axis, uint32_t n, struct err *err)
{
	if (scale->count != n)
		return err_set(
		    err, ERR_INPUT, "%zu scales for %u axes", scale->count, n);
	for (uint32_t i = 0; i < n; i++)
		if (!set_scale(r, axis[i], c->in[0]->dim[axis[i]],
		        load_one(scale, i), err))
			return false;
	return true;
}

static bool
read_mode(struct resize *r, const struct node *n, struct err *err)
{
	static const char *const modes[] = {
	    "nearest", "linear", "cubic", "bilinear"};
	const char *mode = word_of(n, "mode", "nearest", modes, 4, err);

	if (!mode)
		return false;
	r->mode = mode == modes[0] ? NEAREST
	    : mode == modes[2]     ? CUBIC
	                           : LINEAR;
	return true;
}

/* SOURCE: the ONNX schema of Resize; ONNX Runtime takes it for older forms, which
 * have no attribute for it, as well. */
#define CUBIC_DEFAULT -0.75

static void
begin(struct resize *r, const struct tensor *x)
{
	memset(r, 0, sizeof *r);
	r->out = shape_of(x);
	r->a = CUBIC_DEFAULT;
	for (uint32_t d = 0; d < x->rank; d++) {
		r->scale[d] = 1;
		r->to[d] = 1;
	}
}

/* Opset 7 to 9, and Resize of opset 10: positions are i / scale, floored. */
static bool
old_form(struct call *c, struct err *err)
{
	const struct attr *scales = node_attr(c->node, "scales");
	uint32_t axis[RANK_MAX], n = c->in[0]->rank;
	struct tensor given;
	struct resize r;
	int64_t count;

	begin(&r, c->in[0]);
	r.coordinates = "asymmetric";
	r.nearest = "floor";
	if (scales && scales->kind == ATTR_FLOATS) {
		count = scales->n;
		given = tensor_view(DT_FLOAT, 1, &count, scales->floats);
	} else if (call_in(c, 1)) {
		given = *c->in[1];
	} else {
		return refuse(err, "scales in another form");
	}
	for (uint32_t i = 0; i < n; i++)
		axis[i] = i;
	return read_mode(&r, c->node, err)
	    && set_scales(&r, c, &given, axis, n, err)
	    && resize_apply(c, &r, err);
}

bool
upsample_run(struct call *c, struct err *err)
{
	return old_form(c, err);
}

bool
resize_run(struct call *c, struct err *err)
{
	const struct tensor *scales = call_in(c, 2);
	uint32_t axis[RANK_MAX], n, nsizes;
	const int64_t *sizes = input_ints(c, 3, &nsizes);
	struct resize r;

	if (c->node->opset < 11)
		return old_form(c, err);
	begin(&r, c->in[0]);
	r.a = (double)attr_float_or(
	    c->node, "cubic_coeff_a", (float)CUBIC_DEFAULT);
	r.antialias = attr_int_or(c->node, "antialias", 0) != 0;
	r.exclude_outside = attr_int_or(c->node, "exclude_outside", 0) != 0;
	r.extrapolation =
	    (double)attr_float_or(c->node, "extrapolation_value", 0);
	r.coordinates = word_of(c->node, "coordinate_transformation_mode",
	    "half_pixel", coordinate_modes, 7, err);
	r.nearest = r.coordinates ? word_of(c->node, "nearest_mode",
	                "round_prefer_floor", nearest_modes, 4, err)
	                          : NULL;
	if (!r.nearest || !read_mode(&r, c->node, err)
	    || !read_axes(c, axis, &n, err))
		return false;
	r.crop = strcmp(r.coordinates, "tf_crop_and_resize") == 0;
	if (r.crop && !set_roi(&r, c, axis, n, err))
		return false;
	if (scales && scales->count > 0) {
		if (!set_scales(&r, c, scales, axis, n, err))
			return false;
	} else if (!sizes || nsizes != n) {
		return err_set(
		    err, ERR_INPUT, "%u sizes for %u axes", nsizes, n);
	} else if (!set_sizes(&r, c, sizes, axis, n, err)) {
		return false;
	}
	return resize_apply(c, &r, err);
}
