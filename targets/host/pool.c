/* Pooling: a reduction of each window of each plane. */
#include <math.h>

#include "targets/bytes.h"
#include "targets/host/kernels.h"
#include "targets/host/slide.h"

struct pool;
/* Reduce the n values (and their offsets in the plane) seen by a window that
 * spans `taps` positions, padding included. */
typedef double reduce_window(const double *x, size_t n, size_t taps, double p);

struct pool {
	struct slide window;
	reduce_window *reduce;
	double p; /* of LpPool */
	bool padding_counts;
	struct sink to;
};

static double
average(const double *x, size_t n, size_t taps, double p)
{
	double sum = 0;

	(void)p;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)taps;
}

static double
lp_norm(const double *x, size_t n, size_t taps, double p)
{
	double sum = 0;

	(void)taps;
	for (size_t i = 0; i < n; i++)
		sum += pow(fabs(x[i]), p);
	return pow(sum, 1 / p);
}

/* Positions of the window that lie in the input or its declared padding. */
static size_t
taps_inside(const struct slide *w, const struct position *o)
{
	size_t n = 1;

	for (uint32_t d = 0; d < w->rank; d++) {
		int64_t from = o->at[d] * w->stride[d] - w->before[d];
		int64_t room = w->in[d] + w->after[d] - from;
		int64_t fit = (room + w->dilation[d] - 1) / w->dilation[d];

		n *= (size_t)(fit < w->kernel[d] ? fit : w->kernel[d]);
	}
	return n;
}

/* What one window sees, in C order. */
static size_t
gather(const struct slide *w, const double *plane, const struct position *o,
    double *x)
{
	struct position k = {{0}};
	size_t n = 0;

	for (size_t i = 0; i < w->nkernel; i++) {
		int64_t at = slide_tap(w, o, &k);

		if (at >= 0)
			x[n++] = plane[at];
		position_next(&k, w->kernel, w->rank);
	}
	return n;
}

static void
pool_plane(const struct pool *v, const double *plane, double *seen, double *y)
{
	const struct slide *w = &v->window;
	struct position o = {{0}};

	for (size_t i = 0; i < w->nout; i++) {
		size_t n = gather(w, plane, &o, seen);
		size_t taps = v->padding_counts ? taps_inside(w, &o) : n;

		y[i] = v->reduce(seen, n, taps, v->p);
		position_next(&o, w->out, w->rank);
	}
}

static bool
read_window(struct slide *w, struct call *c, struct shape *y, struct err *err)
{
	const struct tensor *x = c->in[0];

	if (x->rank < 3)
		return err_set(err, ERR_INPUT, "input of rank %u", x->rank);
	if (!slide_read(w, c->node, x->rank - 2, x->dim + 2, NULL, err))
		return false;
	*y = shape_of(x);
	for (uint32_t d = 0; d < w->rank; d++)
		y->dim[d + 2] = w->out[d];
	return true;
}

static bool
pool_run(struct call *c, struct pool *v, struct err *err)
{
	const struct tensor *x = c->in[0];
	const struct slide *w = &v->window;
	struct shape y;
	double *plane, *seen, *out;

	if (!read_window(&v->window, c, &y, err)
	    || !host_out(c, 0, x->dtype, &y, &v->to, err))
		return false;
	plane = arena_new(c->scratch, double, w->nin);
	seen = arena_new(c->scratch, double, w->nkernel);
	out = arena_new(c->scratch, double, w->nout);
	for (size_t i = 0; i < (size_t)(x->dim[0] * x->dim[1]); i++) {
		load_real(plane, x, i * w->nin, 1, w->nin);
		pool_plane(v, plane, seen, out);
		store_real(&v->to, i * w->nout, 1, w->nout, out);
	}
	return true;
}

bool
averagepool_run(struct call *c, struct err *err)
{
	struct pool v = {.reduce = average,
	    .padding_counts =
	        attr_int_or(c->node, "count_include_pad", 0) != 0};

	return pool_run(c, &v, err);
}

bool
lppool_run(struct call *c, struct err *err)
{
	struct pool v = {
	    .reduce = lp_norm, .p = (double)attr_int_or(c->node, "p", 2)};

	return pool_run(c, &v, err);
}

/* --- MaxPool: also says where the largest was ---------------------------- */

/* Offset of the first largest value of a window; -1 when it sees only
 * padding. */
static int64_t
largest(const struct slide *w, const double *plane, const struct position *o)
{
	struct position k = {{0}};
	int64_t best = -1;

	for (size_t i = 0; i < w->nkernel; i++) {
		int64_t at = slide_tap(w, o, &k);

		if (at >= 0 && (best < 0 || plane[at] > plane[best]))
			best = at;
		position_next(&k, w->kernel, w->rank);
	}
	return best;
}

/* The same offset with the last spatial dimension slowest. */
static int64_t
column_major(const struct slide *w, int64_t at)
{
	struct position p =
	    position_of(w->in, w->rank, (size_t)(at < 0 ? 0 : at));
	int64_t out = 0;

	for (uint32_t d = w->rank; d-- > 0;)
		out = out * w->in[d] + p.at[d];
	return out;
}

struct maxpool {
	struct slide window;
	bool by_column;
	const struct sink *values, *indices;
};

static void
max_plane(const struct maxpool *v, const double *plane, size_t i)
{
	const struct slide *w = &v->window;
	struct position o = {{0}};

	for (size_t j = 0; j < w->nout; j++) {
		int64_t at = largest(w, plane, &o);
		double y = at < 0 ? -(double)INFINITY : plane[at];

		store_real(v->values, i * w->nout + j, 1, 1, &y);
		if (v->indices) {
			at = v->by_column ? column_major(w, at) : at;
			at += (int64_t)(i * w->nin);
			store_int(v->indices, i * w->nout + j, 1, 1, &at);
		}
		position_next(&o, w->out, w->rank);
	}
}

/* Planes of bytes, of which only the values are asked for. */
static bool
max_bytes(struct call *c, const struct maxpool *v)
{
	const struct tensor *x = c->in[0];
	const struct slide *w = &v->window;
	struct byte_pool p = {.is_unsigned = x->dtype == DT_UINT8};
	const uint8_t *from = x->data;
	uint8_t *to = v->values->data, *row;

	if (v->indices || w->rank != 2 || x->kind != TENSOR_VIEW
	    || !dtype_is_byte(x->dtype))
		return false;
	for (uint32_t d = 0; d < 2; d++) {
		p.in[d] = (size_t)w->in[d];
		p.out[d] = (size_t)w->out[d];
		p.kernel[d] = w->kernel[d];
		p.stride[d] = w->stride[d];
		p.dilation[d] = w->dilation[d];
		p.before[d] = w->before[d];
	}
	row = arena_new(c->scratch, uint8_t, p.in[1]);
	for (size_t i = 0; i < (size_t)(x->dim[0] * x->dim[1]); i++)
		bytes_max_pool(to + i * w->nout, from + i * w->nin, row, &p);
	return true;
}

bool
maxpool_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct maxpool v = {
	    .by_column = attr_int_or(c->node, "storage_order", 0) == 1};
	struct shape y;
	struct sink values, indices;
	double *plane;

	if (!read_window(&v.window, c, &y, err)
	    || !host_out(c, 0, x->dtype, &y, &values, err)
	    || (call_wants(c, 1)
	        && !host_out(c, 1, DT_INT64, &y, &indices, err)))
		return false;
	v.values = &values;
	v.indices = call_wants(c, 1) ? &indices : NULL;
	if (max_bytes(c, &v))
		return true;
	plane = arena_new(c->scratch, double, v.window.nin);
	for (size_t i = 0; i < (size_t)(x->dim[0] * x->dim[1]); i++) {
		load_real(plane, x, i * v.window.nin, 1, v.window.nin);
		max_plane(&v, plane, i);
	}
	return true;
}

/* --- Global pools: one window, the whole plane --------------------------- */

static double
maximum(const double *x, size_t n, size_t taps, double p)
{
	double best = n ? x[0] : -(double)INFINITY;

	(void)taps, (void)p;
	for (size_t i = 1; i < n; i++)
		if (x[i] > best || isnan(x[i]))
			best = x[i];
	return best;
}

static bool
global_run(struct call *c, reduce_window *reduce, struct err *err)
{
	const struct tensor *x = c->in[0];
	double p = (double)attr_int_or(c->node, "p", 2), y, *plane;
	struct shape s = shape_of(x);
	struct sink to;
	size_t n;

	if (x->rank < 2)
		return err_set(err, ERR_INPUT, "input of rank %u", x->rank);
	n = shape_count(x->dim, 2, x->rank);
	for (uint32_t d = 2; d < s.rank; d++)
		s.dim[d] = 1;
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	plane = arena_new(c->scratch, double, n);
	for (size_t i = 0; i < (size_t)(x->dim[0] * x->dim[1]); i++) {
		load_real(plane, x, i * n, 1, n);
		y = reduce(plane, n, n, p);
		store_real(&to, i, 1, 1, &y);
	}
	return true;
}

bool
globalaveragepool_run(struct call *c, struct err *err)
{
	return global_run(c, average, err);
}

bool
globallppool_run(struct call *c, struct err *err)
{
	return global_run(c, lp_norm, err);
}

bool
globalmaxpool_run(struct call *c, struct err *err)
{
	return global_run(c, maximum, err);
}
