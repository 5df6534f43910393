/* Of loops, what a run takes: where memory lies makes some more and some less, busy
 * neighbours make some a lot more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exec/loops.h"

#define LOOPS(...) \
	loops_of((const cost_ns[]){__VA_ARGS__}, \
	    sizeof((const cost_ns[]){__VA_ARGS__}) / sizeof(cost_ns))

static struct loops
loops_of(const cost_ns *took, size_t n)
{
	struct loops l = {.n = 0};

	for (size_t i = 0; i < n; i++)
		loops_add(&l, took[i]);
	return l;
}

static cost_ns
typical(struct loops l)
{
	return loops_typical(&l);
}

static bool
unsure(struct loops l, cost_ns prices)
{
	return loops_are_unsure(&l, prices);
}

/* Places are to both sides of the median. */
static void
of_places_the_median(void **state)
{
	(void)state;
	assert_int_equal(typical(LOOPS(1000)), 1000);
	assert_int_equal(typical(LOOPS(1020, 1000)), 1000);
	assert_int_equal(typical(LOOPS(1080, 1040, 1000)), 1040);
	assert_int_equal(typical(LOOPS(1030, 1080, 1010, 1000, 1099)), 1030);
	assert_false(unsure(LOOPS(1030, 1080, 1010, 1000, 1099), 1000));
}

/* Half of the loops may be anybody's. */
static void
neighbours_do_not_count(void **state)
{
	(void)state;
	assert_int_equal(
	    typical(LOOPS(1010, 1400, 1000, 1380, 1020, 9999)), 1010);
	assert_int_equal(typical(LOOPS(3677, 3889, 3081, 3064, 3715)), 3064);
	assert_true(unsure(LOOPS(1400, 1000), 1000));
	assert_true(unsure(LOOPS(3677, 3889, 3081, 3064, 3715), 3000));
	assert_false(unsure(LOOPS(3677, 3066, 3081, 3064, 3715), 3000));
}

/* All may be longer than they should be; then it is the prices that say so. */
static void
prices_know_of_it(void **state)
{
	(void)state;
	assert_true(unsure(LOOPS(1210, 1220, 1210), 1000));
	assert_false(unsure(LOOPS(1190, 1220, 1200), 1000));
	assert_false(unsure(LOOPS(1210, 1220, 1210), 0));
	assert_false(unsure(LOOPS(610, 620, 610), 1000));
}

static void
none_say_nothing(void **state)
{
	(void)state;
	assert_int_equal(typical((struct loops){.n = 0}), 0);
	assert_true(unsure((struct loops){.n = 0}, 1000));
	assert_true(unsure((struct loops){.n = 0}, 0));
}

static void
no_more_than_fit(void **state)
{
	struct loops l = {.n = 0};

	(void)state;
	for (uint32_t i = 0; i < 2 * LOOPS_MOST; i++)
		loops_add(&l, i < LOOPS_MOST ? 1000 : 1);
	assert_int_equal(l.n, LOOPS_MOST);
	assert_int_equal(loops_typical(&l), 1000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(of_places_the_median),
	    cmocka_unit_test(neighbours_do_not_count),
	    cmocka_unit_test(prices_know_of_it),
	    cmocka_unit_test(none_say_nothing),
	    cmocka_unit_test(no_more_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
