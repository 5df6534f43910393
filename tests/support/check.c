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

static double
allowed_of(const struct plan *p, const struct check_set *s, uint32_t i)
{
	const struct tensor *want = &s->want[i];
	const bool half = check_has_half(p) || dtype_is_half(want->dtype);

	if (!is_float(want))
		return want->dtype == DT_UINT8 || want->dtype == DT_INT8;
	return 1e-5 + (half ? 1e-2 : 2e-4) * check_range(want);
}

/* Whole numbers may be off by one step where they were rounded. */
static bool
is_close(double x, double y, double allowed, bool is_real)
{
	if (x == y || (isnan(x) && isnan(y)))
		return true;
	if (isnan(x) || isnan(y))
		return false;
	if (isinf(x) && isinf(y))
		return false;
	if (isinf(x) || isinf(y)) /* what overflows in one order need not in
	                           * another */
		return fabs(isinf(x) ? y : x) > 1e30;
	return fabs(x - y) <= allowed + 1e-3 * fabs(y) * is_real;
}

static bool
is_also(const struct check_set *s, uint32_t output, uint32_t noutputs, size_t i,
    double x, double least)
{
	const double *slack = s->slack ? s->slack[output] : NULL;
	const bool number = isfinite(tensor_real(&s->want[output], i));

	for (uint32_t k = 0; k < s->nalso; k++) {
		const struct tensor *t = &s->also[k * noutputs + output];
		const double allowed = number || k + s->nrounded < s->nalso
		    ? least
		    : least + slack[i];

		if (i < t->count
		    && is_close(x, tensor_real(t, i), allowed, is_float(t)))
			return true;
	}
	return false;
}

static bool
matches(const struct tensor *got, const struct check_set *s, uint32_t output,
    const struct plan *p, struct err *err)
{
	const struct tensor *want = &s->want[output];
	const double *slack = s->slack ? s->slack[output] : NULL;
	const double least = allowed_of(p, s, output);

	for (size_t i = 0; i < want->count; i++) {
		const double x = tensor_real(got, i), y = tensor_real(want, i);
		const double allowed = least + (slack ? slack[i] : 0);

		if ((isnan(x) && s->more_nan) || (isnan(y) && s->no_nan)
		    || isinf(allowed) || is_close(x, y, allowed, is_float(want))
		    || is_also(s, output, p->graph->noutputs, i, x, least))
			continue;
		return err_set(err, ERR_VERDICT,
		    "element %zu of %zu: %g instead of %g (allowed %g)", i,
		    want->count, x, y, allowed);
	}
	return true;
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
			    && matches(&got[i], s, i, p, err);
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
