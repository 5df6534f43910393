/* What a comparison lets pass once it has leeway, and what it does not: a model
 * that divides by zeros, against one whose kernels compute otherwise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/host/host.h"
#include "tests/support/force.h"
#include "tests/support/leeway.h"
#include "tests/support/make.h"

#define N 4

static const int64_t dim[] = {N, 0};
static const float data[N] = {1, -1, 2, -2};

static value_id
constant(struct maker *m, const char *name, const float *x)
{
	struct tensor *t = arena_new(m->arena, struct tensor, 1);

	*t = tensor_view(DT_FLOAT, 1, dim, x);
	return graph_add_constant(m->graph, name, t);
}

/* y = Clip(1 / (Relu(x) factor + term), -1, 2); of the data {1, 2, 0.5, 2}, where
 * each 2 might be -1. */
static struct graph *
model(struct arena *a, const float *factor, const float *term)
{
	struct maker m;
	value_id y;

	make_begin(&m, a);
	y = MAKE(&m, RELU, make_input(&m, dim));
	y = MAKE(&m, MUL, y, constant(&m, "factor", factor));
	if (term)
		y = MAKE(&m, ADD, y, constant(&m, "term", term));
	y = MAKE(&m, RECIPROCAL, y);
	y = MAKE(&m, CLIP, y, make_scalar(&m, -1), make_scalar(&m, 2));
	make_output(&m, y);
	make_end(&m);
	return m.graph;
}

static bool
runs_as(const struct graph *g, const struct check_set *s, struct arena *a)
{
	static const char *const host[] = {"host", NULL};
	static const uint32_t order[] = {0};
	struct err err = {.kind = ERR_NONE};
	struct rng r = rng_seeded(1);
	bool placed, wrong;
	struct force f;
	struct plan p;

	assert_true(force_open(&f, g, host, true, a, &err));
	assert_true(force_plan(&p, &f, FORCE_NONE, &r, &placed, a, &err));
	return check_plan(&p, 1, s, order, 1, &wrong, &err);
}

/* Do these kernels pass for the model without factors and terms? */
static bool
passes(const float *factor, const float *term, bool leeway)
{
	static const float one[N] = {1, 1, 1, 1};
	const struct tensor in = tensor_view(DT_FLOAT, 1, dim, data);
	struct check_set s = {.in = &in};
	struct err err = {.kind = ERR_NONE};
	const struct graph *right;
	struct tensor want;
	struct arena a;
	bool ok;

	arena_init(&a);
	right = model(&a, one, NULL);
	assert_true(host_run(right, &in, &want, &a, &err));
	s.want = &want;
	if (leeway)
		leeway_give(&s, right, false, &a);
	ok = runs_as(model(&a, factor, term), &s, &a);
	arena_release(&a);
	return ok;
}

static void
the_other_zero_passes(void **state)
{
	static const float other[N] = {1, -1, 1, 1};

	(void)state;
	assert_false(passes(other, NULL, false));
	assert_true(passes(other, NULL, true));
}

static void
a_wrong_number_fails(void **state)
{
	static const float one[N] = {1, 1, 1, 1}, wrong[N] = {1, 1, 1.01f, 1};

	(void)state;
	assert_true(passes(one, NULL, false));
	assert_false(passes(wrong, NULL, true));
}

static void
one_beside_an_open_zero_fails(void **state)
{
	static const float wrong[N] = {1, -1, 1.01f, -1};

	(void)state;
	assert_false(passes(wrong, NULL, true));
}

/* It may be 2 or -1, nothing else. */
static void
neither_of_both_fails(void **state)
{
	static const float one[N] = {1, 1, 1, 1}, wrong[N] = {0, 4, 0, 0};

	(void)state;
	assert_false(passes(one, wrong, true));
}

/* 1 / x beside zero, where rounding of x decides on the sign. */
static void
what_is_beside_a_pole_is_open(void **state)
{
	static const float x[N] = {1, 1e-6f, 0.01f, 1};
	const struct tensor in = tensor_view(DT_FLOAT, 1, dim, x);
	struct check_set s = {.in = &in};
	struct err err = {.kind = ERR_NONE};
	struct tensor want;
	struct maker m;
	struct arena a;

	(void)state;
	arena_init(&a);
	make_begin(&m, &a);
	make_output(
	    &m, MAKE(&m, RECIPROCAL, MAKE(&m, TANH, make_input(&m, dim))));
	make_end(&m);
	assert_true(host_run(m.graph, &in, &want, &a, &err));
	s.want = &want;
	leeway_give(&s, m.graph, false, &a);
	assert_true(s.slack[0][0] < 1e-4);
	assert_true(isinf(s.slack[0][1]));
	assert_true(s.slack[0][2] < 1);
	arena_release(&a);
}

/* Of two lines the one that has NaN. */
static void
maxima_over_nan_are_open(void **state)
{
	static const float lines[] = {1, NAN, 2, 3};
	const struct attr rows[] = {ATTR_OF_INTS("axes", 1)};
	const struct tensor in = tensor_view(DT_FLOAT, 2, DIMS(2, 2), lines);
	struct check_set s = {.in = &in};
	struct err err = {.kind = ERR_NONE};
	struct tensor want;
	struct maker m;
	struct arena a;
	value_id y;

	(void)state;
	arena_init(&a);
	make_begin(&m, &a);
	y = MAKE_WITH(&m, REDUCEMAX, rows, make_input(&m, DIMS(2, 2)));
	make_output(&m, MAKE(&m, SOFTPLUS, y));
	make_end(&m);
	assert_true(host_run(m.graph, &in, &want, &a, &err));
	s.want = &want;
	leeway_give(&s, m.graph, false, &a);
	assert_true(isinf(s.slack[0][0]));
	assert_true(s.slack[0][1] < 1e-4);
	arena_release(&a);
}

/* A kernel may make the sum of the other line NaN, too: that is it then, or
 * right; but a quantiser of it gives any number. */
static void
what_is_quantised_of_spread_nan_is_open(void **state)
{
	static const float lines[] = {1, NAN, 2, 3};
	const struct attr rows[] = {ATTR_OF_INTS("axes", 1)};
	const struct tensor in = tensor_view(DT_FLOAT, 2, DIMS(2, 2), lines);
	struct err err = {.kind = ERR_NONE};
	struct tensor want[2];
	struct maker m;
	struct arena a;
	value_id sum, one;

	(void)state;
	arena_init(&a);
	make_begin(&m, &a);
	sum = MAKE_WITH(&m, REDUCEMEAN, rows, make_input(&m, DIMS(2, 2)));
	one = make_scalar(&m, 1);
	make_output(&m, sum);
	make_output(&m,
	    MAKE(
	        &m, DEQUANTIZELINEAR, MAKE(&m, QUANTIZELINEAR, sum, one), one));
	make_end(&m);
	assert_true(host_run(m.graph, &in, want, &a, &err));
	for (int more_nan = 0; more_nan < 2; more_nan++) {
		struct check_set s = {
		    .in = &in, .want = want, .more_nan = more_nan};

		leeway_give(&s, m.graph, false, &a);
		assert_true(s.slack[0][1] < 1e-4);
		assert_true(isinf(s.slack[1][1]) == (bool)more_nan);
	}
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_other_zero_passes),
	    cmocka_unit_test(a_wrong_number_fails),
	    cmocka_unit_test(one_beside_an_open_zero_fails),
	    cmocka_unit_test(neither_of_both_fails),
	    cmocka_unit_test(what_is_beside_a_pole_is_open),
	    cmocka_unit_test(maxima_over_nan_are_open),
	    cmocka_unit_test(what_is_quantised_of_spread_nan_is_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
