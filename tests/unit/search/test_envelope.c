#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "search/capacity/envelope.h"

/* (4, 90) lies on the line from (0, 100) to (8, 80) and (6, 86) above it; (12, 80)
 * costs no less than (8, 80). */
static void
keeps_corners(void **state)
{
	struct envelope_point point[] = {
	    {8, 80}, {12, 80}, {0, 100}, {4, 90}, {6, 86}, {16, 76}};
	struct arena a;
	struct envelope h;

	(void)state;
	arena_init(&a);
	envelope_make(&h, point, 6, 20, &a);
	assert_int_equal(h.n, 3);
	assert_int_equal(envelope_at(&h, 0), 100);
	assert_int_equal(
	    envelope_at(&h, 3), 93); /* 92.5, and costs are whole */
	assert_int_equal(envelope_at(&h, 8), 80);
	assert_int_equal(envelope_at(&h, 10), 79);
	assert_int_equal(envelope_at(&h, 1000), 76);
	arena_release(&a);
}

/* What lies beyond the limit still holds the line down before it. */
static void
is_cut_at_the_limit(void **state)
{
	struct envelope_point point[] = {{2, 100}, {12, 50}};
	struct arena a;
	struct envelope h;

	(void)state;
	arena_init(&a);
	envelope_make(&h, point, 2, 7, &a);
	assert_int_equal(envelope_at(&h, 1), COST_NEVER);
	assert_int_equal(envelope_at(&h, 2), 100);
	assert_int_equal(envelope_at(&h, 7), 74); /* 75, less 1 */
	assert_true(envelope_at(&h, 6) <= 80 && envelope_at(&h, 6) >= 79);
	envelope_make(&h, point, 2, 1, &a);
	assert_int_equal(envelope_at(&h, 1), COST_NEVER);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keeps_corners),
	    cmocka_unit_test(is_cut_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
