/* Folding: what it takes at any size, and what it never decides. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/infer.h"
#include "targets/host/host.h"
#include "tests/support/build.h"

static struct arena arena;
static struct graph *g;
static struct err err;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	g = graph_new(&arena, "t");
	err = (struct err){.kind = ERR_NONE};
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static value_id
constant(enum dtype dtype, int64_t n, const void *data)
{
	int64_t *dim = arena_new(&arena, int64_t, 1);
	struct tensor t;

	*dim = n;
	t = tensor_view(dtype, 1, dim, data);
	return graph_add_constant(g,
	    arena_printf(&arena, "c%u", (unsigned)g->nvalues),
	    arena_copy(&arena, &t, sizeof t));
}

static bool
run(void)
{
	const struct infer_options o = {.eval = host_eval};

	return infer(g, &o, &err);
}

static const struct tensor *
content(value_id v)
{
	return graph_value(g, v)->constant;
}

static value_id
cast(value_id x, enum dtype to)
{
	value_id y = build_node(g, OP_CAST, 19, &x, 1);

	build_int(g, "to", to);
	return y;
}

static void
moves_fold_at_any_size(void **state)
{
	const int64_t n = 3000000, half[] = {2, n / 2};
	float *x = arena_new(&arena, float, (size_t)n);
	value_id in[2], reshaped, moved;

	(void)state;
	x[1] = 5;
	in[0] = constant(DT_FLOAT, n, x);
	in[1] = constant(DT_INT64, 2, half);
	reshaped = build_node(g, OP_RESHAPE, 13, in, 2);
	moved = build_node(g, OP_TRANSPOSE, 13, &reshaped, 1);
	assert_true(run());
	assert_non_null(content(reshaped));
	assert_ptr_equal(content(reshaped)->data, x);
	assert_non_null(content(moved));
	assert_int_equal(content(moved)->dim[0], n / 2);
	assert_true(tensor_real(content(moved), 2) > 4); /* x[1] */
}

static void
zero_divisors_are_named(void **state)
{
	static const enum op op[] = {OP_DIV, OP_MOD};
	const int64_t a[] = {7, 8}, b[] = {1, 0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		value_id in[2];

		g = graph_new(&arena, "t");
		err = (struct err){.kind = ERR_NONE};
		in[0] = constant(DT_INT64, 2, a);
		in[1] = constant(DT_INT64, 2, b);
		build_node(g, op[i], 13, in, 2);
		assert_false(run());
		assert_non_null(strstr(err.text, "integer division by zero"));
		assert_non_null(strstr(err.text, "#0"));
	}
}

static void
undefined_results_stay(void **state)
{
	const float odd[] = {NAN, 1e20f}, fine[] = {-3.5f, 2.5f};
	const int64_t least[] = {INT64_MIN}, minus[] = {-1};
	value_id in[2], big, small, negative, quotient;

	(void)state;
	big = cast(constant(DT_FLOAT, 2, odd), DT_INT32);
	negative = cast(constant(DT_FLOAT, 2, fine), DT_INT32);
	in[0] = constant(DT_INT64, 1, least);
	in[1] = constant(DT_INT64, 1, minus);
	quotient = build_node(g, OP_DIV, 13, in, 2);
	small = cast(constant(DT_FLOAT, 1, &fine[1]), DT_INT32);
	assert_true(run());
	assert_null(content(big));
	assert_null(content(quotient));
	assert_non_null(content(negative));
	assert_int_equal(tensor_int(content(negative), 0), -3);
	assert_int_equal(tensor_int(content(small), 0), 2);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(moves_fold_at_any_size),
	    T(zero_divisors_are_named),
	    T(undefined_results_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
