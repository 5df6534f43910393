/* What is right in a type passes, what is wrong does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/tolerance.h"
#include "ir/compare.h"
#include "targets/host/host.h"
#include "tests/support/make.h"

extern const struct target_kind target_host;

/* Of a product of k terms, its values of type t. */
static double
tolerance(enum dtype t, int64_t k)
{
	struct err err = {.kind = ERR_NONE};
	struct target target = {.kind = &target_host, .text = "host"};
	struct mix mix = {.target = &target, .n = 1};
	struct candidates found;
	struct arena arena;
	struct maker m;
	double result;
	value_id x, y;

	arena_init(&arena);
	make_begin(&m, &arena);
	x = make_input(&m, (const int64_t[]){3, k, 0});
	y = make_input(&m, (const int64_t[]){k, 5, 0});
	make_output(&m, MAKE(&m, MATMUL, x, y));
	make_end(&m);
	formats_init(&mix.formats);
	target.formats = &mix.formats;
	assert_true(candidates_find(&found, m.graph, &mix, NULL, &arena, &err));
	m.graph->value[x].type.dtype = t;
	result = tolerance_of(m.graph, &mix, &found.candidate[0]);
	arena_release(&arena);
	return result;
}

static void
sums_and_types_count(void **state)
{
	(void)state;
	assert_true(tolerance(DT_FLOAT, 4) == tolerance(DT_FLOAT, 400));
	assert_true(tolerance(DT_FLOAT16, 4) < tolerance(DT_FLOAT16, 400));
	assert_true(tolerance(DT_FLOAT, 400) < tolerance(DT_FLOAT16, 400));
	assert_true(tolerance(DT_FLOAT16, 400) < tolerance(DT_BFLOAT16, 400));
}

/* Of a chain of n quantisers and what undoes them. */
static double
tolerance_of_steps(uint32_t n, bool is_off_by_a_step)
{
	const float range = 2;
	struct comparison off = {
	    .same_shape = true, .outside = 1, .range = (double)range};
	struct candidate c = {.nnodes = 2 * n};
	struct mix mix = {.n = 0};
	node_id node[200];
	struct arena arena;
	struct maker m;
	double allowed, seen;
	value_id x, scale;

	arena_init(&arena);
	make_begin(&m, &arena);
	x = make_input(&m, (const int64_t[]){3, 5, 0});
	scale = make_scalar(&m, 0.25f);
	for (uint32_t i = 0; i < n; i++) {
		x = MAKE(&m, QUANTIZELINEAR, x, scale);
		x = MAKE(&m, DEQUANTIZELINEAR, x, scale);
		node[2 * i] = 2 * i;
		node[2 * i + 1] = 2 * i + 1;
	}
	make_output(&m, x);
	make_end(&m);
	formats_init(&mix.formats);
	c.node = node;
	allowed = tolerance_of(m.graph, &mix, &c);
	off.max_error = is_off_by_a_step ? 0.25 : 0.3;
	seen = tolerance_difference(m.graph, &c, x, &off, allowed);
	assert_true((seen <= allowed) == (is_off_by_a_step || allowed > 0.15));
	arena_release(&arena);
	return allowed;
}

/* Roundings may fall to the next step, and each may: what is wrong differs by more
 * than a quarter of the range. */
static void
steps_count(void **state)
{
	(void)state;
	assert_true(tolerance_of_steps(1, true) < 0.01);
	assert_true(tolerance_of_steps(1, false) < 0.01);
	assert_true(tolerance_of_steps(9, true) < 0.08);
	assert_true(tolerance_of_steps(100, false) == 0.25);
}

/* A sum of ones rounded to half precision at each step, the worst order: right;
 * one that leaves out every tenth term: wrong. */
static void
right_sums_pass(void **state)
{
	for (int64_t k = 16; k <= 1024; k *= 4) {
		double exact = 0, left_out = 0, allowed;
		float half = 0;

		(void)state;
		for (int64_t i = 0; i < k; i++) {
			float x = 0.5f + (float)((i * 37) % 64) / 128.f;

			exact += (double)x;
			left_out += i % 10 ? (double)x : 0;
			half = f16_to_f32(f32_to_f16(half + x));
		}
		allowed = tolerance(DT_FLOAT16, k) * exact;
		assert_true((double)half - exact <= allowed
		    && exact - (double)half <= allowed);
		assert_true(exact - left_out > allowed);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_and_types_count),
	    cmocka_unit_test(right_sums_pass),
	    cmocka_unit_test(steps_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
