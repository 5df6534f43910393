/* Values in 8 bits: scales of ranges, rounding, saturation, the model's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/histogram.h"
#include "exec/ranges.h"
#include "targets/quant.h"
#include "tests/support/make.h"

static void
test_ranges_hold_zero(void **state)
{
	struct quant q = quant_of_range(-1, 1.55);

	(void)state;
	assert_float_equal(q.scale, 0.01, 1e-9);
	assert_int_equal(q.zero, -28);
	/* what is above zero only begins at the lowest byte */
	q = quant_of_range(3, 5.1);
	assert_float_equal(q.scale, 0.02, 1e-9);
	assert_int_equal(q.zero, -128);
	q = quant_of_range(0, 0);
	assert_float_equal(q.scale, 1, 0);
	assert_int_equal((int8_t)quant_from_real(&q, 0), q.zero);
}

static void
test_ties_go_to_even_and_ends_hold(void **state)
{
	const struct quant q = {.scale = 0.5f, .zero = 3};
	const struct quant u = {.scale = 0.5f, .zero = 3, .is_unsigned = true};

	(void)state;
	assert_int_equal((int8_t)quant_from_real(&q, 0.25f), 3); /* 0.5 -> 0 */
	assert_int_equal((int8_t)quant_from_real(&q, 0.75f), 5); /* 1.5 -> 2 */
	assert_int_equal((int8_t)quant_from_real(&q, -0.75f), 1);
	assert_int_equal((int8_t)quant_from_real(&q, 1e30f), 127);
	assert_int_equal((int8_t)quant_from_real(&q, -1e30f), -128);
	assert_int_equal((int8_t)quant_from_real(&q, NAN), 3);
	assert_int_equal(quant_from_real(&u, 1e30f), 255);
	assert_int_equal(quant_from_real(&u, -1e30f), 0);
	assert_float_equal(quant_to_real(&u, 255), 126, 0);
	assert_float_equal(quant_to_real(&q, (uint8_t)-128), -65.5, 0);
}

static void
test_histograms_grow_without_losing(void **state)
{
	static const float in[] = {
	    0.25f, -0.5f, 3, 100, -0.125f, INFINITY, NAN};
	static const float back[] = {-0.125f, 100, 3, -0.5f, 0.25f};
	static struct histogram a, b;
	uint64_t n = 0;

	(void)state;
	histogram_add(&a, in, 7);
	histogram_add(&b, back, 5);
	assert_int_equal(a.n, 5);
	assert_float_equal(a.min, -0.5, 0);
	assert_float_equal(a.max, 100, 0);
	assert_int_equal(a.exponent, 7);
	assert_int_equal(a.exponent, b.exponent);
	assert_memory_equal(a.count, b.count, sizeof a.count);
	for (uint32_t i = 0; i < HISTOGRAM_BINS; i++)
		n += a.count[i];
	assert_int_equal(n, 5);
	/* 0.25, -0.5, -0.125 share what is next to zero: bins are 1/8 */
	assert_float_equal(histogram_width(&a), 0.125, 0);
	assert_int_equal(a.count[HISTOGRAM_BINS / 2 + 2], 1);
	assert_int_equal(a.count[HISTOGRAM_BINS / 2 + 24], 1);
	assert_int_equal(a.count[HISTOGRAM_BINS / 2 - 4], 1);
}

/* 1000 numbers over [-1, 1) and one far away. */
static void
test_percentile_and_mse_leave_out_what_is_rare(void **state)
{
	static struct histogram h;
	double low, high;
	float far = 100;

	(void)state;
	for (int i = -500; i < 500; i++) {
		const float x = (float)i / 500;

		for (int k = 0; k < 100; k++)
			histogram_add(&h, &x, 1);
	}
	histogram_add(&h, &far, 1);
	histogram_percentile(&h, 99.9, &low, &high);
	assert_float_equal(low, -1, 0.13);
	assert_float_equal(high, 1, 0.13);
	histogram_percentile(&h, 100, &low, &high);
	assert_float_equal(low, -1, 0);
	assert_float_equal(high, 100, 0);
	histogram_mse(&h, &low, &high);
	assert_true(high < 100 && high > 1);
}

static void
test_rules_are_read_or_refused(void **state)
{
	static const char *const bad[] = {"", "min", "minmax ", "percentile",
	    "percentile:", "percentile:50", "percentile:101", "percentile:nan",
	    "percentile:99x", "percentile:-1", "percentile:1e9", "MSE"};
	struct range_rule r;

	(void)state;
	assert_true(range_rule_read(&r, "minmax"));
	assert_int_equal(r.method, RANGES_MINMAX);
	assert_true(range_rule_read(&r, "mse"));
	assert_int_equal(r.method, RANGES_MSE);
	assert_true(range_rule_read(&r, "percentile:99.9"));
	assert_int_equal(r.method, RANGES_PERCENTILE);
	assert_float_equal(r.percentile, 99.9, 0);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_false(range_rule_read(&r, bad[i]));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ranges_hold_zero),
	    cmocka_unit_test(test_ties_go_to_even_and_ends_hold),
	    cmocka_unit_test(test_histograms_grow_without_losing),
	    cmocka_unit_test(test_percentile_and_mse_leave_out_what_is_rare),
	    cmocka_unit_test(test_rules_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
