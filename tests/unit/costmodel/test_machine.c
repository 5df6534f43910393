#define _GNU_SOURCE /* SCHED_FIFO */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/machine.h"
#include "ir/base/clock.h"

#define RUN_NS UINT64_C(120000000)
#define REST_NS (RUN_NS / 10)

static void
run_for(uint64_t ns)
{
	const uint64_t start = clock_ns();

	while (clock_ns() - start < ns)
		;
}

static uint64_t
rest_ns(void)
{
	const uint64_t start = clock_ns();

	machine_rest();
	return clock_ns() - start;
}

/* Of a clock only what it takes at least is asserted: others may have the processor. */
static void
an_urgent_process_rests_a_tenth(void **state)
{
	(void)state;
	machine_urgent(true);
	if (sched_getscheduler(0) != SCHED_FIFO)
		skip(); /* not permitted here */
	run_for(RUN_NS);
	assert_true(rest_ns() >= REST_NS);
	machine_urgent(false);
}

/* Runs that were too short to rest for count together. */
static void
short_runs_count_together(void **state)
{
	const uint64_t start = clock_ns();
	uint64_t asked = 0;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		machine_urgent(true);
		if (sched_getscheduler(0) != SCHED_FIFO)
			skip();
		run_for(RUN_NS / 2);
		asked = clock_ns();
		machine_urgent(false);
	}
	assert_true(clock_ns() - asked >= REST_NS);
	assert_true(asked - start >= RUN_NS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_urgent_process_rests_a_tenth),
	    cmocka_unit_test(short_runs_count_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
