/* Clip: bounds were attributes before opset 11 and are inputs since. */
#include <float.h>
#include <math.h>

#include "targets/host/kernels.h"
#include "targets/host/map.h"

struct bounds {
	double low, high;
	int64_t int_low, int_high;
	bool has_low, has_high, unsign;
};

static void
clip_real(double *z, const double *const *x, size_t n, const void *p)
{
	const struct bounds *b = p;

	for (size_t i = 0; i < n; i++) {
		double y = x[0][i];

		y = b->has_low && y < b->low ? b->low : y;
		z[i] = b->has_high && y > b->high ? b->high : y;
	}
}

static bool
less(int64_t x, int64_t y, bool unsign)
{
	return unsign ? (uint64_t)x < (uint64_t)y : x < y;
}

static void
clip_ints(int64_t *z, const int64_t *const *x, size_t n, const void *p)
{
	const struct bounds *b = p;

	for (size_t i = 0; i < n; i++) {
		int64_t y = x[0][i];

		y = b->has_low && less(y, b->int_low, b->unsign) ? b->int_low
		                                                 : y;
		z[i] = b->has_high && less(b->int_high, y, b->unsign)
		    ? b->int_high
		    : y;
	}
}

static bool
scalar(const struct tensor *t, double *real, int64_t *ints, struct err *err)
{
	if (t->count != 1)
		return err_set(
		    err, ERR_INPUT, "a bound of %zu elements", t->count);
	*real = load_one(t, 0);
	*ints = load_one_int(t, 0);
	return true;
}

bool
clip_run(struct call *c, struct err *err)
{
	struct elementwise f = {.real = clip_real, .ints = clip_ints};
	const struct tensor *low = call_in(c, 1), *high = call_in(c, 2);
	struct bounds b = {.has_low = low || node_attr(c->node, "min"),
	    .has_high = high || node_attr(c->node, "max"),
	    .low = (double)attr_float_or(c->node, "min", -FLT_MAX),
	    .high = (double)attr_float_or(c->node, "max", FLT_MAX),
	    .unsign = c->in[0]->dtype == DT_UINT64};

	if ((low && !scalar(low, &b.low, &b.int_low, err))
	    || (high && !scalar(high, &b.high, &b.int_high, err)))
		return false;
	f.p = &b;
	return map_run(
	    c, &f, c->in, 1, lane_of(c->in[0]->dtype), c->in[0]->dtype, err);
}
