#include "tests/support/check.h"

#include <math.h>

double
check_range(const struct tensor *t)
{
	double range = 0;

	for (size_t i = 0; i < t->count; i++) {
		double x = fabs(tensor_real(t, i));

		range = isfinite(x) && x > range ? x : range;
	}
	return range;
}

bool
check_has_half(const struct plan *p)
{
	const struct format *f = p->mix->formats.format;

	for (uint32_t i = 0; i < p->nconversions; i++)
		if (dtype_is_half(f[p->conversion[i].to].dtype))
			return true;
	return false;
}

static bool
same_shape(const struct tensor *x, const struct tensor *y)
{
	if (x->kind != y->kind || x->dtype != y->dtype || x->count != y->count)
		return false;
	return true;
}

static bool
is_float(const struct tensor *t)
{
	return t->dtype == DT_FLOAT || t->dtype == DT_DOUBLE
	    || t->dtype == DT_FLOAT16 || t->dtype == DT_BFLOAT16;
}

/* Whole numbers may be off by one step where they were rounded. */
static bool
matches(const struct tensor *got, const struct tensor *want, double allowed,
    const struct check_set *s, struct err *err)
{
	for (size_t i = 0; i < want->count; i++) {
		double x = tensor_real(got, i), y = tensor_real(want, i);

		if ((isnan(x) && s->more_nan) || (isnan(y) && s->no_nan))
			continue;
		if (isnan(x) != isnan(y))
			return err_set(err, ERR_VERDICT,
			    "element %zu: %g instead of %g (NaN)", i, x, y);
		if (isnan(y) || x == y)
			continue;
		if (isinf(y) || isinf(x)) {
			/* what overflows in one order need not in another */
			if (isinf(y) && isinf(x)) /* 1/0, whose zero? */
				continue;
			if (fabs(isinf(x) ? y : x) > 1e30)
				continue;
			return err_set(err, ERR_VERDICT,
			    "element %zu: %g instead of %g (infinity)", i, x,
			    y);
		}
		if (fabs(x - y) > allowed + 1e-3 * fabs(y) * is_float(want))
			return err_set(err, ERR_VERDICT,
			    "element %zu of %zu: %g instead of %g (allowed "
			    "%g)",
			    i, want->count, x, y, allowed);
	}
	return true;
}

static double
allowed_of(const struct plan *p, const struct check_set *s, uint32_t i)
{
	const struct tensor *want = &s->want[i];
	const bool half = check_has_half(p) || dtype_is_half(want->dtype);

	if (!is_float(want))
		return want->dtype == DT_UINT8 || want->dtype == DT_INT8;
	return (s->allowed ? s->allowed[i] : 0) + 1e-5
	    + (half ? 1e-2 : 2e-4) * check_range(want);
}

bool
check_plan(const struct plan *p, uint32_t threads, const struct check_set *set,
    const uint32_t *order, uint32_t n, bool *wrong, struct err *err)
{
	const struct executor_options o = {.threads = threads};
	const struct graph *g = p->graph;
	struct arena scratch;
	struct executor *x;
	bool ok;

	arena_init(&scratch);
	struct tensor *got = arena_new(&scratch, struct tensor, g->noutputs);
	*wrong = false;
	ok = executor_open(&x, p, &o, &scratch, err);
	for (uint32_t k = 0; ok && k < n; k++) {
		const struct check_set *s = &set[order[k]];

		ok = executor_run(x, s->in, got, err);
		for (uint32_t i = 0; ok && i < g->noutputs; i++) {
			ok = (same_shape(&got[i], &s->want[i])
			         || err_set(err, ERR_VERDICT, "another shape"))
			    && matches(&got[i], &s->want[i],
			        allowed_of(p, s, i), s, err);
			*wrong = !ok;
			if (!ok)
				err_in(err, "run %u, output %u", (unsigned)k,
				    (unsigned)i);
		}
	}
	if (x)
		executor_close(x);
	arena_release(&scratch);
	return ok;
}
