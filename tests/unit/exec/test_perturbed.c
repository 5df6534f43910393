/* How far rounding moves a model: little where it is linear, by steps where it
 * quantises, by all of the range where it amplifies. */
#include <math.h>
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
	static const struct perturbation how = {.all = PERTURBED_LEAST};
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
	assert_true(outputs_movable(&by, m.graph, &in, host_eval, &how, &err));
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

/* ---- zeros ---- */

static struct tensor
evaluate(value_id out, float x, uint32_t seed)
{
	const struct perturbation how = {.seed = seed, .zeros = true};
	struct tensor *value =
	    arena_new(&arena, struct tensor, m.graph->nvalues);
	struct err err = {.kind = ERR_NONE};
	float *in = arena_new(&arena, float, N);
	int64_t *dim = arena_new(&arena, int64_t, 1);

	for (int i = 0; i < N; i++)
		in[i] = x;
	*dim = N;
	value[m.graph->input[0]] = tensor_view(DT_FLOAT, 1, dim, in);
	assert_true(
	    reference_values(value, m.graph, host_eval, &how, &arena, &err));
	return value[out];
}

static void
signs_of_computed_zeros_are_open(void **state)
{
	value_id y = MAKE(&m, RECIPROCAL, MAKE(&m, RELU, input()));
	struct tensor plus, minus;

	(void)state;
	make_output(&m, y);
	make_end(&m);
	plus = evaluate(y, -1, 1);
	minus = evaluate(y, -1, 2);
	assert_true(tensor_real(&plus, 0) == (double)INFINITY);
	assert_true(tensor_real(&minus, 0) == (double)-INFINITY);
	minus = evaluate(y, 2, 2);
	assert_true(tensor_real(&minus, 0) == .5);
}

static void
denormals_may_be_zeros(void **state)
{
	value_id y =
	    MAKE(&m, RECIPROCAL, MAKE(&m, MUL, input(), scalar(1e-40f)));
	struct tensor plus;

	(void)state;
	make_output(&m, y);
	make_end(&m);
	plus = evaluate(y, -1, 1);
	assert_true(tensor_real(&plus, 0) == (double)INFINITY);
}

static void
signs_of_given_zeros_are_kept(void **state)
{
	value_id x = MAKE(&m, RESHAPE, input(), make_ints(&m, INTS(N)));
	value_id y = MAKE(&m, RECIPROCAL, x);
	struct tensor plus;

	(void)state;
	make_output(&m, y);
	make_end(&m);
	plus = evaluate(y, -0.f, 1);
	assert_true(tensor_real(&plus, 0) == (double)-INFINITY);
}

/* ---- halves ---- */

/* sum of c x over an x that is constant and a c that adds up to little. */
static double
movable_sum(bool halves)
{
	const struct perturbation how = {.halves = halves};
	static const int64_t dim[] = {1, N};
	struct err err = {.kind = ERR_NONE};
	struct tensor in;
	double by = -1;
	float x[N];
	value_id y = MAKE(&m, MATMUL, make_input(&m, DIMS(1, N)),
	    make_constant(&m, DIMS(N, 1), .999f, 1.001f));

	for (int i = 0; i < N; i++)
		x[i] = i % 2 ? 1 : -1;
	in = tensor_view(DT_FLOAT, 2, dim, x);
	make_output(&m, y);
	make_end(&m);
	assert_true(outputs_movable(&by, m.graph, &in, host_eval, &how, &err));
	return by;
}

static void
halves_move_what_cancels(void **state)
{
	(void)state;
	assert_true(movable_sum(true) > 0.1);
}

static void
without_halves_it_stays(void **state)
{
	(void)state;
	assert_true(movable_sum(false) == 0);
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
	    cmocka_unit_test_setup_teardown(
	        signs_of_computed_zeros_are_open, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        denormals_may_be_zeros, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        signs_of_given_zeros_are_kept, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        halves_move_what_cancels, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        without_halves_it_stays, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
