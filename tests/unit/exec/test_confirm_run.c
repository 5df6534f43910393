#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/confirm_run.h"

#define MILLI UINT64_C(1000000)

/* Slow plans have few pairs, and a mix of theirs has to promise more. */
static void
test_pairs(void **state)
{
	const struct confirm_options one = {.threads = 1};
	uint32_t last = IN_TURN_MOST;

	(void)state;
	assert_int_equal(confirm_pairs(0, &one), IN_TURN_MOST);
	assert_int_equal(confirm_pairs(12 * MILLI, &one), IN_TURN_MOST);
	assert_in_range(confirm_pairs(60 * MILLI, &one), 7, 9);
	assert_int_equal(confirm_pairs(210 * MILLI, &one), IN_TURN_LEAST);
	assert_int_equal(confirm_pairs(COST_MAX, &one), IN_TURN_LEAST);
	for (cost_ns cost = 10 * MILLI; cost < 400 * MILLI; cost += MILLI) {
		const uint32_t n = confirm_pairs(cost, &one);

		assert_in_range(n, IN_TURN_LEAST, last);
		last = n;
	}
	assert_true(in_turn_least_gain(confirm_pairs(210 * MILLI, &one))
	    > in_turn_least_gain(confirm_pairs(60 * MILLI, &one)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
