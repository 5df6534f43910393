/* Random numbers. ONNX leaves open which: here they are a function of the node's
 * seed (without one: of its output's name) and of the element's place, so that
 * every run of a model, and every plan of it, draws the same. */
#include <math.h>
#include <string.h>

#include "ir/base/hash.h"
#include "targets/host/kernels.h"

#define PI 3.14159265358979323846

static uint64_t
stream_of(const struct call *c)
{
	const struct attr *seed = node_attr(c->node, "seed");
	const char *name = node_out(c->graph, c->node, 0)->name;

	if (seed && seed->kind == ATTR_FLOAT)
		return hash64(seed->floats, sizeof *seed->floats, 1);
	return hash64(name, strlen(name), 2);
}

/* The i-th number of a stream, in 0..1 without 1.
 * SOURCE: Steele, Lea, Flood: "Fast splittable pseudorandom number generators". */
static double
uniform(uint64_t stream, size_t i)
{
	uint64_t x = stream + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* By Box and Muller. */
static double
normal(uint64_t stream, size_t i)
{
	double length = sqrt(-2 * log(1 - uniform(stream, 2 * i)));

	return length * cos(2 * PI * uniform(stream, 2 * i + 1));
}

/* Of RandomNormal and RandomUniform an attribute, else the input's. */
static struct shape
shape_wanted(const struct call *c)
{
	const struct attr *a = node_attr(c->node, "shape");
	struct shape s = {.rank = 0};

	if (c->node->ninputs > 0)
		return shape_of(c->in[0]);
	for (s.rank = 0; a && s.rank < a->n && s.rank < RANK_MAX; s.rank++)
		s.dim[s.rank] = a->ints[s.rank];
	return s;
}

/* What the attribute says, else the input's, else float. */
static enum dtype
dtype_wanted(const struct call *c)
{
	enum dtype mine = c->node->ninputs > 0 ? c->in[0]->dtype : DT_FLOAT;

	return (enum dtype)attr_int_or(c->node, "dtype", mine);
}

static bool
out_random(struct call *c, const struct shape *s, enum dtype dtype,
    struct sink *to, struct err *err)
{
	if (dtype_bits(dtype) < 8 || dtype_bits(dtype) > 64
	    || dtype == DT_COMPLEX64)
		return refuse(err, "dtype %s", dtype_name(dtype));
	return host_out(c, 0, dtype, s, to, err);
}

/* at + by * what is drawn. */
static bool
draw_all(struct call *c, double at, double by,
    double (*draw)(uint64_t stream, size_t i), struct err *err)
{
	const uint64_t stream = stream_of(c);
	struct shape s = shape_wanted(c);
	struct sink to;

	if (!out_random(c, &s, dtype_wanted(c), &to, err))
		return false;
	for (size_t i = 0; i < c->out[0].count; i++) {
		double y = at + by * draw(stream, i);

		store_real(&to, i, 1, 1, &y);
	}
	return true;
}

bool
randomuniform_run(struct call *c, struct err *err)
{
	const double low = (double)attr_float_or(c->node, "low", 0);
	const double high = (double)attr_float_or(c->node, "high", 1);

	return draw_all(c, low, high - low, uniform, err);
}

bool
randomnormal_run(struct call *c, struct err *err)
{
	return draw_all(c, (double)attr_float_or(c->node, "mean", 0),
	    (double)attr_float_or(c->node, "scale", 1), normal, err);
}

bool
bernoulli_run(struct call *c, struct err *err)
{
	const uint64_t stream = stream_of(c);
	struct shape s = shape_wanted(c);
	struct sink to;

	if (!out_random(c, &s, dtype_wanted(c), &to, err))
		return false;
	for (size_t i = 0; i < c->out[0].count; i++) {
		double y = uniform(stream, i) < load_one(c->in[0], i);

		store_real(&to, i, 1, 1, &y);
	}
	return true;
}

/* The class whose part of all the exponentials `draw` falls into. */
static int64_t
class_drawn(const double *logs, size_t n, double draw)
{
	double most = -(double)INFINITY, sum = 0, so_far = 0;

	for (size_t k = 0; k < n; k++)
		most = fmax(most, logs[k]);
	for (size_t k = 0; k < n; k++)
		sum += exp(logs[k] - most);
	for (size_t k = 0; k + 1 < n; k++) {
		so_far += exp(logs[k] - most);
		if (draw * sum < so_far)
			return (int64_t)k;
	}
	return (int64_t)n - 1;
}

bool
multinomial_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	const int64_t samples = attr_int_or(c->node, "sample_size", 1);
	const enum dtype dtype =
	    (enum dtype)attr_int_or(c->node, "dtype", DT_INT32);
	const uint64_t stream = stream_of(c);
	struct shape s = {.rank = 2};
	struct sink to;
	double *logs;

	if (x->rank != 2 || x->dim[1] < 1 || samples < 1)
		return err_set(err, ERR_INPUT, "no classes to draw from");
	s.dim[0] = x->dim[0];
	s.dim[1] = samples;
	if (!out_random(c, &s, dtype, &to, err))
		return false;
	logs = arena_new(c->scratch, double, (size_t)x->dim[1]);
	for (size_t i = 0; i < c->out[0].count; i++) {
		size_t row = i / (size_t)samples, n = (size_t)x->dim[1];
		int64_t y;

		load_real(logs, x, row * n, 1, n);
		y = class_drawn(logs, n, uniform(stream, i));
		store_int(&to, i, 1, 1, &y);
	}
	return true;
}
