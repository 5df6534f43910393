/* Normalisations over groups of elements: subtract the mean, divide by the
 * deviation, scale and shift. */
#include <math.h>

#include "targets/host/kernels.h"
#include "targets/host/reduce.h"

/* x = (x - mean) / sqrt(var + epsilon); gives both back. */
static void
normalise(double *x, size_t n, double epsilon, double *mean, double *inverse)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	*mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		x[i] -= *mean;
		square += x[i] * x[i];
	}
	*inverse = 1 / sqrt(square / (double)n + epsilon);
	for (size_t i = 0; i < n; i++)
		x[i] *= *inverse;
}

static void
root_mean_square(
    double *x, size_t n, double epsilon, double *mean, double *inverse)
{
	double square = 0;

	*mean = 0;
	for (size_t i = 0; i < n; i++)
		square += x[i] * x[i];
	*inverse = 1 / sqrt(square / (double)n + epsilon);
	for (size_t i = 0; i < n; i++)
		x[i] *= *inverse;
}

static double
epsilon_of(const struct node *n)
{
	return (double)attr_float_or(n, "epsilon", 1e-5f);
}

/* A scale or bias broadcast over x, all of it as doubles; NULL when absent. */
static const double *
spread(struct call *c, uint32_t i, struct err *err)
{
	const struct tensor *x = c->in[0], *t = call_in(c, i);
	struct shape s = shape_of(x);
	ptrdiff_t stride[RANK_MAX];
	double *all, *to;
	struct walk w;

	if (!t)
		return NULL;
	if (!shape_broadcast(&s, t->rank, t->dim) || s.rank != x->rank
	    || shape_count(s.dim, 0, s.rank) != x->count) {
		err_set(err, ERR_INPUT, "input %u does not broadcast", i);
		return NULL;
	}
	all = to = arena_new(c->scratch, double, x->count);
	broadcast_strides(t->rank, t->dim, s.rank, s.dim, stride);
	walk_init(&w, s.rank, s.dim);
	walk_operand(&w, stride);
	for (walk_start(&w); !w.done; walk_next(&w), to += w.n)
		load_real(to, t, (size_t)w.at[0], w.step[0], w.n);
	return all;
}

/* Outputs 1 and 2 of LayerNormalization. */
static bool
statistic(
    struct call *c, uint32_t i, uint32_t axis, struct sink *to, struct err *err)
{
	struct shape s = shape_of(c->in[0]);
	enum dtype dtype =
	    (enum dtype)attr_int_or(c->node, "stash_type", DT_FLOAT);

	for (uint32_t d = axis; d < s.rank; d++)
		s.dim[d] = 1;
	if (dtype != DT_FLOAT && dtype != DT_DOUBLE && dtype != DT_BFLOAT16
	    && dtype != DT_FLOAT16)
		return refuse(err, "stash_type %s", dtype_name(dtype));
	return !call_wants(c, i) || host_out(c, i, dtype, &s, to, err);
}

static bool
rows_run(struct call *c,
    void (*f)(double *, size_t, double, double *, double *), struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	const double *scale, *bias;
	struct sink y, mean, inverse;
	uint32_t axis;
	size_t n;
	double *row;

	if (!axis_of(attr_int_or(c->node, "axis", -1), x->rank, &axis, err)
	    || !host_out(c, 0, x->dtype, &s, &y, err)
	    || !statistic(c, 1, axis, &mean, err)
	    || !statistic(c, 2, axis, &inverse, err))
		return false;
	scale = spread(c, 1, err);
	bias = err->kind == ERR_NONE ? spread(c, 2, err) : NULL;
	if (err->kind != ERR_NONE)
		return false;
	n = shape_count(x->dim, axis, x->rank);
	row = arena_new(c->scratch, double, n);
	for (size_t r = 0; r < shape_count(x->dim, 0, axis); r++) {
		double m, v;

		load_real(row, x, r * n, 1, n);
		f(row, n, epsilon_of(c->node), &m, &v);
		for (size_t i = 0; i < n; i++)
			row[i] = row[i] * (scale ? scale[r * n + i] : 1)
			    + (bias ? bias[r * n + i] : 0);
		store_real(&y, r * n, 1, n, row);
		if (call_wants(c, 1))
			store_real(&mean, r, 1, 1, &m);
		if (call_wants(c, 2))
			store_real(&inverse, r, 1, 1, &v);
	}
	return true;
}

bool
layernormalization_run(struct call *c, struct err *err)
{
	return rows_run(c, normalise, err);
}

bool
rmsnormalization_run(struct call *c, struct err *err)
{
	return rows_run(c, root_mean_square, err);
}

/* InstanceNormalization and GroupNormalization: rows of whole channels. */
static bool
channels_run(struct call *c, int64_t groups, bool by_group, struct err *err)
{
	const struct tensor *x = c->in[0], *scale = c->in[1], *bias = c->in[2];
	struct shape s = shape_of(x);
	size_t plane, channels, per, want;
	struct sink to;
	double *row;

	if (x->rank < 2 || groups < 1 || x->dim[1] % groups)
		return err_set(err, ERR_INPUT, "%lld groups of rank %u input",
		    (long long)groups, x->rank);
	channels = (size_t)x->dim[1];
	per = channels / (size_t)groups;
	want = by_group ? (size_t)groups : channels;
	if (scale->count != want || bias->count != want)
		return err_set(err, ERR_INPUT,
		    "%zu scales and %zu biases where %zu are needed",
		    scale->count, bias->count, want);
	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	plane = shape_count(x->dim, 2, x->rank);
	row = arena_new(c->scratch, double, per *plane);
	for (size_t g = 0; g < (size_t)x->dim[0] * (size_t)groups; g++) {
		double m, v;

		load_real(row, x, g * per * plane, 1, per * plane);
		normalise(row, per * plane, epsilon_of(c->node), &m, &v);
		for (size_t i = 0; i < per * plane; i++) {
			size_t ch = g % (size_t)groups * per + i / plane;
			size_t k = by_group ? ch / per : ch;

			row[i] =
			    row[i] * load_one(scale, k) + load_one(bias, k);
		}
		store_real(&to, g * per * plane, 1, per * plane, row);
	}
	return true;
}

bool
instancenormalization_run(struct call *c, struct err *err)
{
	return channels_run(
	    c, c->in[0]->rank > 1 ? c->in[0]->dim[1] : 0, false, err);
}

bool
groupnormalization_run(struct call *c, struct err *err)
{
	return channels_run(
	    c, attr_int_or(c->node, "num_groups", 0), c->node->opset < 21, err);
}

bool
meanvariancenormalization_run(struct call *c, struct err *err)
{
	static const int64_t usual[] = {0, 2, 3};
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct reduction r;
	struct sink to;
	uint32_t n;
	const int64_t *axis = attr_ints(c->node, "axes", &n);
	double *group, mean, inverse;

	if (!axis) {
		axis = usual;
		n = 3;
	}
	if (!reduction_of(&r, x, axis, n, err)
	    || !host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	group = arena_new(c->scratch, double, r.n);
	for (size_t g = 0; g < r.groups; g++) {
		reduction_load(&r, x, g, group);
		/* SOURCE: the operator's function body: 1e-9 is added to the
		 * deviation */
		normalise(group, r.n, 1e-18, &mean, &inverse);
		reduction_store(&r, &to, g, group);
	}
	return true;
}
