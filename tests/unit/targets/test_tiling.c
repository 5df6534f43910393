/* Which of Winograd's tiles are worth their filters' memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/target.h"
#include "targets/tiling.h"

static const struct target_option options[] = {TILING_MEMORY, {.name = NULL}};
static const struct target_kind kind = {.name = "double", .option = options};
static const struct option_value free_of_cost[] = {{"memory", "free"}};
static const struct target spared = {.kind = &kind};
static const struct target spends = {
    .kind = &kind, .option = free_of_cost, .noptions = 1};

/* Are tiles of 4x4 taken, where those of 2x2 are there? */
static bool
are_taken(const struct target *t, int64_t channels, int64_t side)
{
	const int64_t dim[] = {1, channels, side, side};
	const struct type image = {.rank = 4, .dim = dim};
	const struct tiling f = tiling_of(&image, &image, 3, 1);

	return tiling_is_worth(&f, 4, tiling_effort(&f, 2), t);
}

static void
counts_are_what_they_are(void **state)
{
	const struct type in = {.rank = 4, .dim = (int64_t[]){2, 64, 9, 9}};
	const struct type out = {.rank = 4, .dim = (int64_t[]){2, 32, 7, 9}};
	const struct tiling f = tiling_of(&in, &out, 3, 2);

	(void)state;
	assert_int_equal(f.channels, 32);
	assert_int_equal(f.filters, 16);
	assert_int_equal(tiling_area(&f, 4), 36);
	assert_int_equal(tiling_count(&f, 4), 2 * 2 * 3);
	assert_false(tiling_is_far(&f, 6));
}

/* Four tiles read 37 MB, sixteen 17. */
static void
far_filters_have_to_promise_something(void **state)
{
	(void)state;
	assert_false(are_taken(&spared, 512, 7));
	assert_true(are_taken(&spends, 512, 7));
	assert_true(are_taken(&spared, 512, 28));
	assert_true(are_taken(&spared, 256, 14));
}

/* Even where smaller tiles seem faster: prices say which is. */
static void
near_filters_do_not(void **state)
{
	(void)state;
	assert_true(are_taken(&spared, 64, 3));
	assert_true(are_taken(&spared, 64, 56));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_are_what_they_are),
	    cmocka_unit_test(far_filters_have_to_promise_something),
	    cmocka_unit_test(near_filters_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
