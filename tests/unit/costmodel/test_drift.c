/* What prices say of the probes before them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/drift.h"

/* Did anything move? */
static bool
take(struct drift *d, uint32_t n, double ratio)
{
	bool moved = false;

	while (n-- > 0)
		moved |= drift_take(d, ratio);
	return moved;
}

static void
few_say_nothing(void **state)
{
	struct drift d = drift_none();

	(void)state;
	assert_false(take(&d, 3, 0.5));
	assert_true(d.scale == 1 && d.share == DRIFT_SHARE);
	assert_true(take(&d, 1, 0.5));
	assert_true(d.scale == 0.5 && d.share == DRIFT_SHARE);
}

static void
prices_near_their_probes_raise_bounds(void **state)
{
	struct drift d = drift_none();

	(void)state;
	assert_false(take(&d, 15, 1));
	assert_true(take(&d, 1, 1));
	assert_true(d.share > 0.8 && d.share < 0.9);
	/* one in sixteen may be an outlier, two are none */
	assert_false(take(&d, 1, 0.1));
	assert_true(take(&d, 15, 1) || d.share > 0.8);
	assert_true(d.share > 0.8);
	assert_true(take(&d, 2, 0.8));
	assert_true(d.share < 0.8 && d.share > DRIFT_SHARE);
	/* and never below what held under load */
	take(&d, DRIFT_LAST, 0.3);
	assert_true(d.share == DRIFT_SHARE && d.scale == 0.3);
	/* what is long ago does not count */
	take(&d, DRIFT_LAST, 2);
	assert_true(d.share > 0.8 && d.scale == DRIFT_MOST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(few_say_nothing),
	    cmocka_unit_test(prices_near_their_probes_raise_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
