/* What the host does in place, and what it must move: all of it computes what the
 * reference does. */
#include "tests/support/kind.h"

extern const struct target_kind target_host;
const struct target_kind *const tested = &target_host;

static value_id
cut(const int64_t *dim, int64_t axis, int64_t start, int64_t end, int64_t step)
{
	return MAKE(&m, SLICE, make_input(&m, dim), make_ints(&m, INTS(start)),
	    make_ints(&m, INTS(end)), make_ints(&m, INTS(axis)),
	    make_ints(&m, INTS(step)));
}

static value_id
turned(const int64_t *dim, int64_t a, int64_t b, int64_t c)
{
	const struct attr perm[] = {ATTR_OF_INTS("perm", a, b, c)};

	return MAKE_WITH(&m, TRANSPOSE, perm, make_input(&m, dim));
}

/* All candidates are run; how many were in place, and how many not. */
static void
check_ways(uint32_t in_place, uint32_t moved)
{
	uint32_t n[2] = {0, 0};

	check_all("host.node", 1);
	for (uint32_t i = 0; i < found.n; i++)
		n[found.candidate[i].in_place]++;
	assert_int_equal(n[true], in_place);
	assert_int_equal(n[false], moved);
}

static void
test_slices(void **state)
{
	(void)state;
	make_output(&m, cut(DIMS(3, 16, 5), 0, 1, 3, 1));
	make_output(&m, cut(DIMS(1, 4, 16), -2, -3, -1, 1));
	make_output(&m, cut(DIMS(1, 1, 33), 2, 0, 17, 1));
	make_output(&m, cut(DIMS(4, 16, 3), 0, 7, -9, -4));
	make_output(&m, cut(DIMS(3, 5), 1, 0, 100, 1));
	check_ways(5, 0);
}

/* With gaps, backwards, at no multiple of 64 bytes. */
static void
test_moved_slices(void **state)
{
	(void)state;
	make_output(&m, cut(DIMS(4, 16, 5), 0, 0, 4, 2));
	make_output(&m, cut(DIMS(3, 16, 16), 1, 0, 3, 1));
	make_output(&m, cut(DIMS(3, 16), 0, 2, -9, -1));
	make_output(&m, cut(DIMS(3, 16), 1, 15, -99, -1));
	make_output(&m, cut(DIMS(3, 5), 0, 1, 2, 1));
	check_ways(0, 5);
}

static void
test_pads_and_turns(void **state)
{
	value_id x = make_input(&m, DIMS(2, 3));

	(void)state;
	make_output(&m, MAKE(&m, PAD, x, make_ints(&m, INTS(0, 0, 0, 0))));
	make_output(&m, turned(DIMS(2, 1, 7), 1, 0, 2));
	make_output(&m, turned(DIMS(2, 1, 7), 0, 2, 1));
	check_ways(3, 0);
}

static void
test_moved_pads_and_turns(void **state)
{
	value_id x = make_input(&m, DIMS(2, 3));

	(void)state;
	make_output(&m, MAKE(&m, PAD, x, make_ints(&m, INTS(0, 1, 0, 0))));
	make_output(&m, MAKE(&m, PAD, x, make_ints(&m, INTS(0, 1, 0, -1))));
	make_output(&m, turned(DIMS(2, 1, 7), 2, 1, 0));
	make_output(&m, MAKE(&m, TRANSPOSE, make_input(&m, DIMS(1, 1, 7))));
	check_ways(0, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    TEST(test_slices),
	    TEST(test_moved_slices),
	    TEST(test_pads_and_turns),
	    TEST(test_moved_pads_and_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
