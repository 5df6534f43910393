#include "ir/compare.h"

#include <math.h>
#include <string.h>

/* The next dimension from i on that is not 1; rank when there is none. */
static uint32_t
next_dim(const struct tensor *t, uint32_t i)
{
	while (i < t->rank && t->dim[i] == 1)
		i++;
	return i;
}

static bool
have_same_shape(const struct tensor *a, const struct tensor *b)
{
	uint32_t i = next_dim(a, 0), k = next_dim(b, 0);

	while (i < a->rank && k < b->rank && a->dim[i] == b->dim[k]) {
		i = next_dim(a, i + 1);
		k = next_dim(b, k + 1);
	}
	return a->dtype == b->dtype && i == a->rank && k == b->rank;
}

static void
compare_element(struct comparison *c, size_t i, double got, double want,
    const struct tolerance *t)
{
	double d = fabs(got - want), allowed, excess;

	if (got == want || (isnan(got) && isnan(want)))
		return;
	if ((t->made_up && !isfinite(want)) || (t->overflows && !isfinite(got)))
		return;
	if (isnan(d))
		d = (double)INFINITY;
	allowed = t->absolute + t->relative * fabs(want);
	excess = isfinite(want) && allowed > 0 ? d / allowed : (double)INFINITY;
	if (d > c->max_error)
		c->max_error = d;
	if (excess > c->excess) {
		c->excess = excess;
		c->worst = i;
	}
	c->outside += excess > 1;
}

/* Where the largest elements are so far. */
struct largest {
	double got, want;
	size_t got_at, want_at;
};

static inline void
take_element(struct comparison *c, struct largest *l, size_t i, double x,
    double y, const struct tolerance *t)
{
	compare_element(c, i, x, y, t);
	if (isfinite(y) && fabs(y) > c->range)
		c->range = fabs(y);
	if (x > l->got || i == 0) {
		l->got = x;
		l->got_at = i;
	}
	if (y > l->want || i == 0) {
		l->want = y;
		l->want_at = i;
	}
}

/* NULL: it is no view of floats. They may lie anywhere. */
static const unsigned char *
floats_of(const struct tensor *t)
{
	return t->kind == TENSOR_VIEW && t->dtype == DT_FLOAT ? t->data : NULL;
}

static inline double
float_at(const unsigned char *floats, size_t i)
{
	float x;

	memcpy(&x, floats + i * sizeof x, sizeof x);
	return (double)x;
}

static void
compare_numbers(struct comparison *c, const struct tensor *got,
    const struct tensor *want, const struct tolerance *t)
{
	const struct tolerance whole = {
	    .absolute = t->whole, .made_up = t->made_up};
	const unsigned char *a = floats_of(got), *b = floats_of(want);
	struct largest l = {.got_at = 0};

	if (!dtype_is_float(want->dtype))
		t = &whole;
	/* most are, of large models' results tens of millions */
	for (size_t i = 0; a && b && i < want->count; i++)
		take_element(c, &l, i, float_at(a, i), float_at(b, i), t);
	for (size_t i = 0; !(a && b) && i < want->count; i++)
		take_element(
		    c, &l, i, tensor_real(got, i), tensor_real(want, i), t);
	c->same_argmax = l.got_at == l.want_at;
}

static bool
is_numeric(const struct tensor *t)
{
	return dtype_bits(t->dtype) > 0 && t->dtype != DT_COMPLEX64
	    && t->dtype != DT_COMPLEX128 && t->kind <= TENSOR_FILL;
}

static void
compare_tensors(struct comparison *out, const struct tensor *got,
    const struct tensor *want, const struct tolerance *t)
{
	*out = (struct comparison){.same_shape = have_same_shape(got, want)};
	if (!out->same_shape)
		return;
	if (is_numeric(want) && is_numeric(got)) {
		compare_numbers(out, got, want, t);
		out->matches = out->outside == 0;
	} else {
		out->matches = out->same_argmax = tensor_equal(got, want);
	}
}

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

/* What holds of all items holds of the sequence. */
static void
compare_items(struct comparison *out, const struct tensor *got,
    const struct tensor *want, const struct tolerance *t)
{
	*out = (struct comparison){.same_shape = got->nitems == want->nitems};
	out->matches = out->same_argmax = out->same_shape;
	for (uint32_t i = 0; out->same_shape && i < want->nitems; i++) {
		struct comparison c;

		tensors_compare(&c, &got->item[i], &want->item[i], t);
		out->matches = out->matches && c.matches;
		out->same_shape = out->same_shape && c.same_shape;
		out->same_argmax = out->same_argmax && c.same_argmax;
		out->max_error = larger(out->max_error, c.max_error);
		out->range = larger(out->range, c.range);
		out->excess = larger(out->excess, c.excess);
		out->outside += c.outside;
	}
}

void
tensors_compare(struct comparison *out, const struct tensor *got,
    const struct tensor *want, const struct tolerance *t)
{
	if (got->kind == TENSOR_SEQUENCE && want->kind == TENSOR_SEQUENCE)
		compare_items(out, got, want, t);
	else if (got->kind <= TENSOR_STRINGS && want->kind <= TENSOR_STRINGS)
		compare_tensors(out, got, want, t);
	else
		*out = (struct comparison){.matches = got->kind == want->kind,
		    .same_shape = got->kind == want->kind,
		    .same_argmax = true};
}

/* TUNING: below it a range is what is left of larger numbers that cancelled. */
#define LEAST_RANGE 1e-6

double
comparison_relative(const struct comparison *c)
{
	if (!c->same_shape || (!c->matches && c->outside == 0))
		return (double)INFINITY;
	return c->range > LEAST_RANGE ? c->max_error / c->range : c->max_error;
}
