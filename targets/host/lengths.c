/* Lines divided by their lengths. */
#include <math.h>

#include "targets/host/kernels.h"
#include "targets/host/line.h"

/* Idioms have a length that is at least something, or something added to it;
 * ONNX's operator has neither. */
struct lp {
	double p, at_least, added;
};

/* What a line is divided by; 0: it is all zeros, and stays. */
static double
divisor(const struct lp *lp, double sum)
{
	const double length = (lp->p == 1 ? sum : sqrt(sum)) + lp->added;

	return length < lp->at_least ? lp->at_least : length;
}

static void
lp_line(double *x, size_t n, const void *ctx)
{
	const struct lp *lp = ctx;
	double sum = 0, by;

	for (size_t i = 0; i < n; i++)
		sum += lp->p == 1 ? fabs(x[i]) : x[i] * x[i];
	by = divisor(lp, sum);
	for (size_t i = 0; i < n; i++)
		x[i] = by == 0 ? 0 : x[i] / by;
}

/* Lines side by side that are taken together: what lies between two elements of
 * one line belongs to the others. */
#define MOST_LINES ((size_t)256)

static void
divide_side_by_side(const float *x, float *y, const struct lines *l,
    const struct lp *lp, size_t width)
{
	double sum[MOST_LINES] = {0};

	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < width; k++) {
			const double at = (double)x[i * l->inner + k];

			sum[k] += at * at;
		}
	for (size_t k = 0; k < width; k++) {
		sum[k] = divisor(lp, sum[k]);
		sum[k] = sum[k] == 0 ? 1 : sum[k]; /* zeros stay */
	}
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; k < width; k++)
			y[i * l->inner + k] =
			    (float)((double)x[i * l->inner + k] / sum[k]);
}

static bool
lengths_of_floats(
    struct call *c, const struct lines *l, const struct lp *lp, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	const float *from;
	struct sink to;

	if (!host_out(c, 0, DT_FLOAT, &s, &to, err))
		return false;
	from = (const float *)x->data;
	for (size_t i = 0; i < l->outer; i++)
		for (size_t k = 0; k < l->inner; k += MOST_LINES) {
			const size_t at = i * l->n * l->inner + k;

			divide_side_by_side(from + at, (float *)to.data + at, l,
			    lp,
			    l->inner - k < MOST_LINES ? l->inner - k
			                              : MOST_LINES);
		}
	return true;
}

bool
lpnormalization_run(struct call *c, struct err *err)
{
	const struct tensor *x = c->in[0];
	struct lp lp = {(double)attr_int_or(c->node, "p", 2),
	    (double)attr_float_or(c->node, "at_least", 0),
	    (double)attr_float_or(c->node, "added", 0)};
	struct lines l;
	uint32_t axis;

	if (!axis_of(attr_int_or(c->node, "axis", -1), x->rank, &axis, err))
		return false;
	l = lines_along(x, axis);
	/* what a model's file holds may lie anywhere */
	if (x->dtype == DT_FLOAT && x->kind == TENSOR_VIEW && lp.p != 1
	    && l.inner > 1 && (uintptr_t)x->data % sizeof(float) == 0)
		return lengths_of_floats(c, &l, &lp, err);
	return line_map(c, l, lp_line, &lp, err);
}
