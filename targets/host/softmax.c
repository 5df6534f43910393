/* Softmax and its kin: functions of a whole line. */
#include <math.h>

#include "targets/host/kernels.h"
#include "targets/host/line.h"

static double
largest(const double *x, size_t n)
{
	double best = x[0];

	for (size_t i = 1; i < n; i++)
		if (x[i] > best)
			best = x[i];
	return best;
}

static void
softmax(double *x, size_t n, const void *p)
{
	double top, sum = 0;

	(void)p;
	if (n == 0)
		return;
	top = largest(x, n);
	for (size_t i = 0; i < n; i++)
		sum += x[i] = exp(x[i] - top);
	for (size_t i = 0; i < n; i++)
		x[i] /= sum;
}

static void
log_softmax(double *x, size_t n, const void *p)
{
	double top, sum = 0;

	(void)p;
	if (n == 0)
		return;
	top = largest(x, n);
	for (size_t i = 0; i < n; i++)
		sum += exp(x[i] - top);
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] - top - log(sum);
}

/* 1 at the first largest. */
static void
hardmax(double *x, size_t n, const void *p)
{
	size_t best = 0;

	(void)p;
	for (size_t i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	for (size_t i = 0; i < n; i++)
		x[i] = i == best;
}

static bool
run(struct call *c, void (*f)(double *, size_t, const void *), struct err *err)
{
	const struct tensor *x = c->in[0];
	bool flat = c->node->opset < 13; /* all dims from axis on are one */
	int64_t given = attr_int_or(c->node, "axis", flat ? 1 : -1);
	struct lines l = {.inner = 1};
	uint32_t axis;

	if (flat && given == (int64_t)x->rank)
		axis = x->rank;
	else if (!axis_of(given, x->rank, &axis, err))
		return false;
	if (!flat)
		return line_map(c, lines_along(x, axis), f, NULL, err);
	l.outer = shape_count(x->dim, 0, axis);
	l.n = shape_count(x->dim, axis, x->rank);
	return line_map(c, l, f, NULL, err);
}

bool
softmax_run(struct call *c, struct err *err)
{
	return run(c, softmax, err);
}

bool
logsoftmax_run(struct call *c, struct err *err)
{
	return run(c, log_softmax, err);
}

bool
hardmax_run(struct call *c, struct err *err)
{
	return run(c, hardmax, err);
}
