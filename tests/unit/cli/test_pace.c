/* What is left, by a stated clock. SOURCES: cli/pace.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/pace.h"

#define SECOND UINT64_C(1000000000)

static void
nothing_is_known_at_first(void **state)
{
	struct pace p = {.units = 3};

	(void)state;
	pace_begin(&p, 5 * SECOND);
	assert_true(pace_measurements(&p) == PACE_UNKNOWN);
	assert_true(pace_left_ns(&p, 6 * SECOND) == PACE_UNKNOWN);
}

/* 40 measurements of at most 40, a second each, in rounds: the end stays where
 * it is. */
static void
rounds_do_not_begin_anew(void **state)
{
	const uint64_t begin = 7 * SECOND;
	struct pace p = {.units = 1};

	(void)state;
	pace_begin(&p, begin);
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t now = begin + i * SECOND;

		pace_step(&p, i, 40, now);
		assert_int_equal(pace_measurements(&p), 40 - i);
		assert_int_equal(
		    now + pace_left_ns(&p, now), begin + 40 * SECOND);
	}
}

/* While a measurement goes on the clock goes down, and no further than to the
 * units that have not begun. */
static void
time_goes_by(void **state)
{
	struct pace p = {.units = 2};

	(void)state;
	pace_begin(&p, 0);
	pace_step(&p, 1, 4, 2 * SECOND);
	/* 3 here, 4 in the other unit, 2 s each */
	assert_int_equal(pace_measurements(&p), 7);
	assert_int_equal(pace_left_ns(&p, 2 * SECOND), 14 * SECOND);
	assert_int_equal(pace_left_ns(&p, 3 * SECOND), 13 * SECOND);
	assert_int_equal(pace_left_ns(&p, 60 * SECOND), 8 * SECOND);
}

/* Three units alike: the end found in the first holds over the others. */
static void
units_go_on(void **state)
{
	struct pace p = {.units = 3};
	uint64_t now = 0;

	(void)state;
	for (uint32_t u = 0; u < 3; u++) {
		pace_begin(&p, now);
		if (u)
			assert_int_equal(
			    now + pace_left_ns(&p, now), 30 * SECOND);
		for (uint32_t i = 1; i <= 10; i++) {
			now += SECOND;
			pace_step(&p, i, 10, now);
			assert_int_equal(
			    now + pace_left_ns(&p, now), 30 * SECOND);
			assert_int_equal(
			    pace_measurements(&p), 30 - 10 * u - i);
		}
		pace_end(&p, true, now);
	}
	assert_int_equal(pace_measurements(&p), 0);
	assert_int_equal(pace_left_ns(&p, now), 0);
}

/* The first measured a quarter of what it might have: so will the second. */
static void
few_prices_are_needed(void **state)
{
	struct pace p = {.units = 2};

	(void)state;
	pace_begin(&p, 0);
	pace_step(&p, 1, 100, SECOND);
	pace_step(&p, 25, 60, 25 * SECOND);
	pace_end(&p, true, 26 * SECOND);
	assert_int_equal(pace_measurements(&p), 25);
	assert_int_equal(pace_left_ns(&p, 26 * SECOND), 26 * SECOND);
	pace_begin(&p, 26 * SECOND);
	pace_step(&p, 20, 220, 46 * SECOND);
	assert_int_equal(pace_measurements(&p), 50);
	/* 46 s for 45 measurements so far */
	assert_in_range(
	    pace_left_ns(&p, 46 * SECOND), 51 * SECOND, 52 * SECOND);
}

/* One that failed and is tried again is not counted twice, nor what it took
 * forgotten; one that measures nothing says nothing of the pace. */
static void
attempts_and_cached_units(void **state)
{
	struct pace p = {.units = 3};

	(void)state;
	pace_begin(&p, 0);
	pace_end(&p, false, SECOND);
	assert_int_equal(p.ended, 0);
	assert_true(pace_left_ns(&p, SECOND) == PACE_UNKNOWN);
	pace_begin(&p, SECOND);
	pace_end(&p, true, 3 * SECOND);
	assert_int_equal(pace_left_ns(&p, 3 * SECOND), 6 * SECOND);
	assert_int_equal(pace_measurements(&p), 0);
	pace_begin(&p, 3 * SECOND);
	pace_step(&p, 2, 4, 5 * SECOND);
	/* 2 of 1 s here; a unit as long as the first */
	assert_int_equal(pace_measurements(&p), 2);
	assert_int_equal(pace_left_ns(&p, 5 * SECOND), 5 * SECOND);
}

/* With the same clock, more done is less left. */
static void
more_done_is_less_left(void **state)
{
	uint64_t before = PACE_UNKNOWN;

	(void)state;
	for (uint32_t i = 1; i <= 50; i++) {
		struct pace p = {.units = 4};
		uint64_t left;

		pace_begin(&p, 0);
		pace_step(&p, i, 50, 10 * SECOND);
		left = pace_left_ns(&p, 10 * SECOND);
		assert_true(left < before);
		before = left;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_known_at_first),
	    cmocka_unit_test(rounds_do_not_begin_anew),
	    cmocka_unit_test(time_goes_by),
	    cmocka_unit_test(units_go_on),
	    cmocka_unit_test(few_prices_are_needed),
	    cmocka_unit_test(attempts_and_cached_units),
	    cmocka_unit_test(more_done_is_less_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
