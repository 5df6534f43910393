/* How far rounding moves a model: little where it is linear, by steps where it
 * quantises, by all of the range where it amplifies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/perturbed.h"
#include "targets/host/host.h"
#include "tests/support/make.h"

#define N 64

static struct arena arena;
static struct maker m;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	make_begin(&m, &arena);
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
input(void)
{
	return make_input(&m, (const int64_t[]){N, 0});
}

static value_id
scalar(float x)
{
	return make_constant(&m, (const int64_t[]){0}, x, x);
}

/* Of the model's one output over x[i] = (i + 1/2) / 64. */
static double
movable(value_id out)
{
	static const int64_t dim[] = {N};
	struct err err = {.kind = ERR_NONE};
	struct tensor in;
	double by = -1;
	float x[N];

	for (int i = 0; i < N; i++)
		x[i] = ((float)i + .5f) / N;
	in = tensor_view(DT_FLOAT, 1, dim, x);
	make_output(&m, out);
	make_end(&m);
	assert_true(outputs_movable(
	    &by, m.graph, &in, host_eval, PERTURBED_LEAST, &err));
	return by;
}

static void
sums_move_little(void **state)
{
	double by = movable(MAKE(&m, ADD, input(), scalar(1)));

	(void)state;
	assert_true(by > 0 && by < 4 * PERTURBED_LEAST);
}

static void
large_factors_amplify(void **state)
{
	value_id x = MAKE(&m, MUL, input(), scalar(3e5f));

	(void)state;
	assert_true(movable(MAKE(&m, SIN, x)) > 0.1);
}

/* All elements lie between two steps: any error decides. */
static void
rounding_moves_by_steps(void **state)
{
	value_id x = MAKE(&m, MUL, input(), scalar(64));
	double by = movable(MAKE(&m, FLOOR, MAKE(&m, ADD, x, scalar(.5f))));

	(void)state;
	assert_true(by > 1.9 / N && by < 2.1 / N);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(sums_move_little, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        large_factors_amplify, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        rounding_moves_by_steps, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
