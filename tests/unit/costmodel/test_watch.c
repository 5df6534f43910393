/* Was a run disturbed? Of the clock nothing is asserted: what is compared with is set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/watch.h"

#define NEVER_SO_FAST 1 /* ns */
#define NEVER_SO_SLOW (UINT64_MAX / 200)

static void
the_first_look_is_the_best_so_far(void **state)
{
	uint64_t best = 0;

	(void)state;
	assert_false(core_is_slow(&best));
	assert_true(best > 0);
}

static void
a_core_is_slow_beside_its_best(void **state)
{
	uint64_t best = NEVER_SO_FAST;

	(void)state;
	assert_true(core_is_slow(&best));
	assert_int_equal(best, NEVER_SO_FAST);
	best = NEVER_SO_SLOW;
	assert_false(core_is_slow(&best));
	assert_true(best < NEVER_SO_SLOW);
}

/* Before the run is enough. */
static void
a_run_on_a_slow_core_is_disturbed(void **state)
{
	struct watch w = {.best_ns = NEVER_SO_FAST};

	(void)state;
	watch_begin(&w);
	assert_true(w.slow);
	assert_true(watch_end(&w));
	w.best_ns = NEVER_SO_SLOW;
	watch_begin(&w);
	assert_false(w.slow);
	w.slow = true;
	w.best_ns = NEVER_SO_SLOW;
	assert_true(watch_end(&w));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_first_look_is_the_best_so_far),
	    cmocka_unit_test(a_core_is_slow_beside_its_best),
	    cmocka_unit_test(a_run_on_a_slow_core_is_disturbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
