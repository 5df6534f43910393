/* Fourier transforms (by definition, not fast) and what goes with them. */
#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/line.h"

#define PI 3.14159265358979323846

/* Sum of x[i] * e^(sign * 2 pi i k / n) over the given n complex numbers. */
static void
fourier(const double *x, size_t n, size_t k, double sign, double *out)
{
	out[0] = out[1] = 0;
	for (size_t i = 0; i < n; i++) {
		/* the angle modulo a turn first: k * i may be large */
		double turn = (double)(k * i % n) / (double)n;
		double c = cos(2 * PI * turn), s = sign * sin(2 * PI * turn);

		out[0] += x[2 * i] * c - x[2 * i + 1] * s;
		out[1] += x[2 * i] * s + x[2 * i + 1] * c;
	}
}

/* --- DFT ----------------------------------------------------------------- */

struct dft {
	struct lines l; /* along the axis; inner counts complex numbers */
	size_t in_parts, out_parts; /* 1: real, 2: complex */
	size_t n, out; /* transform length, results kept */
	bool inverse, onesided;
};

static bool
dft_length(struct dft *v, struct call *c, struct err *err)
{
	const struct tensor *length = call_in(c, 1);
	int64_t n = (int64_t)v->l.n;

	if (v->inverse && v->onesided)
		n = n > 1 ? 2 * (n - 1) : 1;
	if (length && length->count != 1)
		return err_set(err, ERR_INPUT, "dft_length is no number");
	if (length)
		n = load_one_int(length, 0);
	if (n < 1 || n > 1 << 24)
		return err_set(err, ERR_INPUT, "dft_length %lld", (long long)n);
	v->n = (size_t)n;
	v->out = v->onesided && !v->inverse ? v->n / 2 + 1 : v->n;
	v->out_parts = v->onesided && v->inverse ? 1 : 2;
	return true;
}

static bool
dft_read(struct dft *v, struct call *c, uint32_t *axis, struct err *err)
{
	const struct tensor *x = c->in[0], *at = call_in(c, 2);
	int64_t given = attr_int_or(c->node, "axis", 1);
	int64_t parts;

	if (c->node->opset >= 20) {
		if (at && at->count != 1)
			return err_set(err, ERR_INPUT, "axis is no number");
		given = at ? load_one_int(at, 0) : -2;
	}
	if (x->rank < 2)
		return err_set(err, ERR_INPUT, "input of rank %u", x->rank);
	parts = x->dim[x->rank - 1];
	if (parts != 1 && parts != 2)
		return err_set(
		    err, ERR_INPUT, "numbers of %lld parts", (long long)parts);
	if (!axis_of(given, x->rank, axis, err))
		return false;
	if (*axis == x->rank - 1)
		return err_set(err, ERR_INPUT, "the axis of the parts");
	v->in_parts = (size_t)parts;
	v->l = lines_along(x, *axis);
	v->l.inner /= v->in_parts;
	v->inverse = attr_int_or(c->node, "inverse", 0) != 0;
	v->onesided = attr_int_or(c->node, "onesided", 0) != 0;
	return dft_length(v, c, err);
}

/* Line `line` as v->n complex numbers, cut or filled with zeros; the other
 * half of a one-sided spectrum is its mirrored conjugate. */
static void
dft_load(const struct dft *v, const struct tensor *x, size_t line, double *to)
{
	size_t o = line / v->l.inner, k = line % v->l.inner;

	memset(to, 0, 2 * v->n * sizeof *to);
	for (size_t i = 0; i < v->l.n && i < v->n; i++)
		load_real(to + 2 * i, x,
		    ((o * v->l.n + i) * v->l.inner + k) * v->in_parts, 1,
		    v->in_parts);
	for (size_t i = v->n / 2 + 1; v->inverse && v->onesided && i < v->n;
	     i++) {
		to[2 * i] = to[2 * (v->n - i)];
		to[2 * i + 1] = -to[2 * (v->n - i) + 1];
	}
}

bool
dft_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct dft v;
	struct sink to;
	double *line, y[2];
	uint32_t axis;

	if (!dft_read(&v, c, &axis, err))
		return false;
	s.dim[axis] = (int64_t)v.out;
	s.dim[s.rank - 1] = (int64_t)v.out_parts;
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	line = arena_new(c->scratch, double, 2 * v.n);
	for (size_t i = 0; i < v.l.outer * v.l.inner; i++) {
		size_t o = i / v.l.inner, in = i % v.l.inner;

		dft_load(&v, x, i, line);
		for (size_t k = 0; k < v.out; k++) {
			fourier(line, v.n, k, v.inverse ? 1 : -1, y);
			for (int p = 0; v.inverse && p < 2; p++)
				y[p] /= (double)v.n;
			store_real(&to,
			    ((o * v.out + k) * v.l.inner + in) * v.out_parts, 1,
			    v.out_parts, y);
		}
	}
	return true;
}

/* --- STFT ---------------------------------------------------------------- */

struct stft {
	size_t batch, length, parts, step, frame, frames, out;
	const struct tensor *window;
};

static bool
stft_read(struct stft *v, struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0], *step = c->in[1];
	const struct tensor *frame = call_in(c, 3);
	int64_t n, by;

	v->window = call_in(c, 2);
	if (x->rank != 3 || x->dim[2] < 1 || x->dim[2] > 2 || step->count != 1
	    || (frame && frame->count != 1) || (!frame && !v->window))
		return err_set(err, ERR_INPUT, "signal of rank %u", x->rank);
	by = load_one_int(step, 0);
	n = frame ? load_one_int(frame, 0) : (int64_t)v->window->count;
	if (by < 1 || n < 1 || n > x->dim[1]
	    || (v->window && v->window->count != (size_t)n))
		return err_set(err, ERR_INPUT, "frames of %lld, steps of %lld",
		    (long long)n, (long long)by);
	v->batch = (size_t)x->dim[0];
	v->length = (size_t)x->dim[1];
	v->parts = (size_t)x->dim[2];
	v->step = (size_t)by;
	v->frame = (size_t)n;
	v->frames = (v->length - v->frame) / v->step + 1;
	v->out =
	    attr_int_or(c->node, "onesided", 1) ? v->frame / 2 + 1 : v->frame;
	return true;
}

bool
stft_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = {.rank = 4};
	struct stft v;
	struct sink to;
	double *part, y[2];
	size_t at = 0;

	if (!stft_read(&v, c, err))
		return false;
	s.dim[0] = (int64_t)v.batch;
	s.dim[1] = (int64_t)v.frames;
	s.dim[2] = (int64_t)v.out;
	s.dim[3] = 2;
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	part = arena_new(c->scratch, double, 2 * v.frame);
	for (size_t f = 0; f < v.batch * v.frames; f++) {
		size_t first = f / v.frames * v.length + f % v.frames * v.step;

		for (size_t i = 0; i < v.frame; i++) {
			double w = v.window ? load_one(v.window, i) : 1;

			part[2 * i + 1] = 0;
			load_real(
			    part + 2 * i, x, (first + i) * v.parts, 1, v.parts);
			part[2 * i] *= w;
			part[2 * i + 1] *= w;
		}
		for (size_t k = 0; k < v.out; k++, at += 2) {
			fourier(part, v.frame, k, -1, y);
			store_real(&to, at, 1, 2, y);
		}
	}
	return true;
}

/* --- MelWeightMatrix ----------------------------------------------------- */

static double
to_mel(double hertz)
{
	return 2595 * log10(1 + hertz / 700);
}

static double
from_mel(double mel)
{
	return 700 * (pow(10, mel / 2595) - 1);
}

/* Height of triangle left, middle, right over a bin. SOURCE: the operator's
 * reference: edges fall on whole bins, and so may coincide. */
static double
triangle(double bin, double left, double middle, double right)
{
	if (bin == middle)
		return 1;
	if (bin < left || bin >= right)
		return 0;
	return bin < middle ? (bin - left) / (middle - left)
	                    : (right - bin) / (right - middle);
}

bool
melweightmatrix_run(struct call *c, struct err *err)
{
	enum dtype dtype =
	    (enum dtype)attr_int_or(c->node, "output_datatype", DT_FLOAT);
	double in[5], low, step, *edge;
	struct shape s = {.rank = 2};
	struct sink to;
	size_t bands, bins;

	for (uint32_t i = 0; i < 5; i++) {
		if (c->in[i]->count != 1)
			return err_set(
			    err, ERR_INPUT, "input %u is no number", i);
		in[i] = load_one(c->in[i], 0);
	}
	if (!(in[0] >= 1 && in[0] <= 1 << 20 && in[1] >= 1 && in[1] <= 1 << 24
	        && in[2] > 0))
		return err_set(err, ERR_INPUT, "%g bands of %g, rate %g", in[0],
		    in[1], in[2]);
	if (lane_of(dtype) != LANE_REAL)
		return refuse(err, "output_datatype %s", dtype_name(dtype));
	bands = (size_t)in[0];
	bins = (size_t)in[1] / 2 + 1;
	s.dim[0] = (int64_t)bins;
	s.dim[1] = (int64_t)bands;
	if (!host_out(c, 0, dtype, &s, &to, err))
		return false;
	low = to_mel(in[3]);
	step = (to_mel(in[4]) - low) / (double)(bands + 2);
	edge = arena_new(c->scratch, double, bands + 2);
	for (size_t i = 0; i < bands + 2; i++)
		edge[i] = floor((floor(in[1]) + 1)
		    * from_mel(low + step * (double)i) / in[2]);
	for (size_t i = 0; i < bins * bands; i++) {
		size_t b = i % bands;
		double y = triangle(
		    (double)(i / bands), edge[b], edge[b + 1], edge[b + 2]);

		store_real(&to, i, 1, 1, &y);
	}
	return true;
}
