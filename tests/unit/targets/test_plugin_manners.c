/* What a run must leave alone: idle threads are told from spinning ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/plugin/manners.h"

#define MS UINT64_C(1000000)

static void
idle_threads_do_not_spin(void **state)
{
	(void)state;
	assert_false(manners_spins(5 * MS, 5 * MS));
	assert_false(manners_spins(5 * MS, 6 * MS));
	/* two clocks are read one after the other: it may seem to go back */
	assert_false(manners_spins(5 * MS, 5 * MS - 500));
	assert_false(manners_spins(0, 0));
}

static void
spinning_threads_do(void **state)
{
	(void)state;
	assert_true(manners_spins(5 * MS, 105 * MS));
	assert_true(manners_spins(0, 40 * MS));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(idle_threads_do_not_spin),
	    cmocka_unit_test(spinning_threads_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
