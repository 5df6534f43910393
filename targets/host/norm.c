/* Normalisations. */
#include <math.h>
#include <string.h>

#include "targets/host/kernels.h"
#include "targets/host/line.h"

/* --- BatchNormalization: per channel x * a + b --------------------------- */

/* Mean and (biased) variance of channel `ch`, two passes. */
static void
channel_moments(const struct tensor *x, size_t ch, double *mean, double *var)
{
	size_t channels = x->rank > 1 ? (size_t)x->dim[1] : 1;
	size_t batch = (size_t)x->dim[0];
	size_t plane = shape_count(x->dim, 2, x->rank);
	double n = (double)(batch * plane), sum = 0, square = 0;

	for (size_t i = 0; i < batch * plane; i++)
		sum += load_one(
		    x, (i / plane * channels + ch) * plane + i % plane);
	*mean = sum / n;
	for (size_t i = 0; i < batch * plane; i++) {
		double d =
		    load_one(x, (i / plane * channels + ch) * plane + i % plane)
		    - *mean;

		square += d * d;
	}
	*var = square / n;
}

struct moments {
	const struct tensor *scale, *bias, *mean, *var;
	double *batch_mean, *batch_var; /* [channels] when training */
	double epsilon;
};

static void
channel_factors(const struct moments *v, size_t ch, double *a, double *b)
{
	double mean = v->batch_mean ? v->batch_mean[ch] : load_one(v->mean, ch);
	double var = v->batch_var ? v->batch_var[ch] : load_one(v->var, ch);

	*a = load_one(v->scale, ch) / sqrt(var + v->epsilon);
	*b = load_one(v->bias, ch) - mean * *a;
}

/* Output i = momentum * old + (1 - momentum) * of the batch. */
static bool
running(struct call *c, uint32_t i, const struct tensor *old,
    const double *batch, struct err *err)
{
	double m = (double)attr_float_or(c->node, "momentum", 0.9f);
	struct shape s = shape_of(old);
	struct sink to;

	if (!call_wants(c, i))
		return true;
	if (!host_out(c, i, old->dtype, &s, &to, err))
		return false;
	for (size_t ch = 0; ch < old->count; ch++) {
		double y = m * load_one(old, ch) + (1 - m) * batch[ch];

		store_real(&to, ch, 1, 1, &y);
	}
	return true;
}

static bool
batch_outputs(
    struct call *c, struct moments *v, size_t channels, struct err *err)
{
	v->batch_mean = arena_new(c->scratch, double, channels);
	v->batch_var = arena_new(c->scratch, double, channels);
	for (size_t ch = 0; ch < channels; ch++)
		channel_moments(
		    c->in[0], ch, &v->batch_mean[ch], &v->batch_var[ch]);
	return running(c, 1, v->mean, v->batch_mean, err)
	    && running(c, 2, v->var, v->batch_var, err);
}

static void
scale_planes(const struct call *c, const struct moments *v,
    const struct sink *to, size_t channels)
{
	const struct tensor *x = c->in[0];
	size_t plane = shape_count(x->dim, 2, x->rank);
	double *row = arena_new(c->scratch, double, plane), a, b;

	for (size_t i = 0; i < (size_t)x->dim[0] * channels; i++) {
		channel_factors(v, i % channels, &a, &b);
		load_real(row, x, i * plane, 1, plane);
		for (size_t j = 0; j < plane; j++)
			row[j] = a * row[j] + b;
		store_real(to, i * plane, 1, plane, row);
	}
}

bool
batchnormalization_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	bool training = c->node->opset >= 14
	    ? attr_int_or(c->node, "training_mode", 0) != 0
	    : call_wants(c, 1);
	struct moments v = {
	    .scale = c->in[1],
	    .bias = c->in[2],
	    .mean = c->in[3],
	    .var = c->in[4],
	    .epsilon = (double)attr_float_or(c->node, "epsilon", 1e-5f),
	};
	struct shape s = shape_of(x);
	struct sink to;
	size_t channels = x->rank > 1 ? (size_t)x->dim[1] : 1;

	if (x->rank < 1)
		return err_set(err, ERR_INPUT, "a scalar input");
	if (c->node->opset < 9 && attr_int_or(c->node, "spatial", 1) == 0)
		return refuse(err, "spatial = 0");
	if (training && c->node->opset < 14)
		return refuse(err, "training outputs before opset 14");
	for (uint32_t i = 1; i < 5; i++)
		if (c->in[i]->count != channels)
			return err_set(err, ERR_INPUT,
			    "input %u has %zu entries for %zu channels", i,
			    c->in[i]->count, channels);
	if (!host_out(c, 0, x->dtype, &s, &to, err)
	    || (training && !batch_outputs(c, &v, channels, err)))
		return false;
	scale_planes(c, &v, &to, channels);
	return true;
}

/* --- LRN: across neighbouring channels ----------------------------------- */

struct lrn {
	double alpha, beta, bias;
	int64_t size;
};

static void
lrn_line(double *x, size_t n, const struct lrn *p, double *square)
{
	int64_t before = (p->size - 1) / 2, after = p->size - 1 - before;

	for (size_t i = 0; i < n; i++)
		square[i] = x[i] * x[i];
	for (int64_t i = 0; i < (int64_t)n; i++) {
		int64_t from = i - before < 0 ? 0 : i - before;
		int64_t to =
		    i + after >= (int64_t)n ? (int64_t)n - 1 : i + after;
		double sum = 0;

		for (int64_t j = from; j <= to; j++)
			sum += square[j];
		x[i] /=
		    pow(p->bias + p->alpha / (double)p->size * sum, p->beta);
	}
}

struct lrn_job {
	struct lrn p;
	double *square;
};

static void
lrn_apply(double *x, size_t n, const void *p)
{
	const struct lrn_job *j = p;

	lrn_line(x, n, &j->p, j->square);
}

bool
lrn_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct lrn_job j = {
	    .p = {
	        .alpha = (double)attr_float_or(c->node, "alpha", 1e-4f),
	        .beta = (double)attr_float_or(c->node, "beta", 0.75f),
	        .bias = (double)attr_float_or(c->node, "bias", 1),
	        .size = attr_int_or(c->node, "size", 0),
	    }};

	if (x->rank < 2)
		return err_set(err, ERR_INPUT, "input of rank %u", x->rank);
	if (j.p.size < 1 || j.p.size > INT32_MAX)
		return err_set(
		    err, ERR_INPUT, "size = %lld", (long long)j.p.size);
	j.square = arena_new(c->scratch, double, (size_t)x->dim[1]);
	return line_map(c, lines_along(x, 1), lrn_apply, &j, err);
}
