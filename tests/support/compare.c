#include "tests/support/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "targets/host/access.h"

static bool
same_type(
    const struct tensor *got, const struct tensor *want, char *text, size_t n)
{
	if (got->dtype != want->dtype) {
		snprintf(text, n, "is %s, not %s", dtype_name(got->dtype),
		    dtype_name(want->dtype));
		return false;
	}
	if (got->rank != want->rank) {
		snprintf(text, n, "has rank %u, not %u", got->rank, want->rank);
		return false;
	}
	for (uint32_t d = 0; d < got->rank; d++) {
		if (got->dim[d] == want->dim[d])
			continue;
		snprintf(text, n, "has %lld in dimension %u, not %lld",
		    (long long)got->dim[d], d, (long long)want->dim[d]);
		return false;
	}
	return true;
}

static bool
same_string(const struct tensor *got, const struct tensor *want, size_t i,
    char *text, size_t n)
{
	struct string_view a = got->string[i], b = want->string[i];

	if (views_same(a, b))
		return true;
	snprintf(text, n, "element %zu is '%.*s', not '%.*s'", i, (int)a.n, a.s,
	    (int)b.n, b.s);
	return false;
}

static bool
close_number(const struct tensor *got, const struct tensor *want, size_t i,
    struct tolerance t, char *text, size_t n)
{
	double x, y;

	if (lane_of(got->dtype) == LANE_INT) {
		int64_t a = load_one_int(got, i), b = load_one_int(want, i);

		if (a == b || fabs((double)a - (double)b) <= t.steps)
			return true;
		snprintf(text, n, "element %zu is %lld, not %lld", i,
		    (long long)a, (long long)b);
		return false;
	}
	x = load_one(got, i);
	y = load_one(want, i);
	if (x == y || (isnan(x) && isnan(y))
	    || fabs(x - y) <= t.absolute + t.relative * fabs(y))
		return true;
	snprintf(text, n, "element %zu is %.9g, not %.9g", i, x, y);
	return false;
}

/* Items of sequences are tensors, nested as types are. */
static bool
close_items(const struct tensor *got, const struct tensor *want,
    struct tolerance t, char *text, size_t n)
{
	if (got->nitems != want->nitems) {
		snprintf(text, n, "is a sequence of %u, not %u", got->nitems,
		    want->nitems);
		return false;
	}
	for (uint32_t i = 0; i < got->nitems; i++)
		if (!tensor_close(&got->item[i], &want->item[i], t, text, n))
			return false;
	return true;
}

static bool
is_plain(const struct tensor *t)
{
	return t->kind == TENSOR_VIEW || t->kind == TENSOR_FILL;
}

bool
tensor_close(const struct tensor *got, const struct tensor *want,
    struct tolerance t, char *text, size_t n)
{
	bool strings = want->kind == TENSOR_STRINGS;

	if (got->kind != want->kind && !(is_plain(got) && is_plain(want))) {
		snprintf(text, n, "is of another kind");
		return false;
	}
	if (want->kind == TENSOR_NONE)
		return true;
	if (want->kind == TENSOR_SEQUENCE)
		return close_items(got, want, t, text, n);
	if (!same_type(got, want, text, n))
		return false;
	for (size_t i = 0; i < got->count; i++)
		if (strings ? !same_string(got, want, i, text, n)
		            : !close_number(got, want, i, t, text, n))
			return false;
	return true;
}
