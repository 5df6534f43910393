/* Items shared out among lanes: each once, a lane by one thread at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

#include "targets/lanes.h"
#include "targets/threads.h"

#define MOST 400u

static struct sharing {
	struct lanes lanes;
	atomic_uint times[MOST], busy[LANES_MOST], clashes;
	uint32_t called;
} sharing;

static void
work(void *of, uint32_t lane)
{
	struct sharing *s = of;
	size_t i, n;

	if (atomic_fetch_add(&s->busy[lane], 1) != 0)
		atomic_fetch_add(&s->clashes, 1);
	while ((n = lanes_next(&s->lanes, lane, &i)) > 0)
		for (; n > 0; n--, i++)
			if (i < MOST)
				atomic_fetch_add(&s->times[i], 1);
	atomic_fetch_sub(&s->busy[lane], 1);
}

static void
check(uint32_t items, uint32_t most)
{
	memset(&sharing, 0, sizeof sharing);
	lanes_run(&sharing.lanes, items, most, work, &sharing);
	assert_int_equal(sharing.lanes.n, lanes_for(items, most));
	assert_int_equal(sharing.clashes, 0);
	for (uint32_t i = 0; i < MOST; i++)
		assert_int_equal(sharing.times[i], i < items);
}

static void
items_are_taken_once(void **state)
{
	static const uint32_t some[] = {0, 1, 2, 3, 7, 64, 65, 127, 399};

	(void)state;
	for (uint32_t threads = 1; threads <= 5; threads++)
		for (uint32_t i = 0; i < sizeof some / sizeof *some; i++) {
			target_threads_set(threads);
			check(some[i], LANES_MOST);
			check(some[i], 2);
			check(some[i], 1);
		}
	target_threads_set(1);
}

static void
lanes_are_no_more_than_threads_items_and_wanted(void **state)
{
	(void)state;
	target_threads_set(4);
	assert_int_equal(lanes_for(0, 4), 0);
	assert_int_equal(lanes_for(3, 4), 3);
	assert_int_equal(lanes_for(9, 2), 2);
	assert_int_equal(lanes_for(9, 9), 4);
	target_threads_set(1000);
	assert_int_equal(lanes_for(1000, 1000), LANES_MOST);
	target_threads_set(1);
	assert_int_equal(lanes_for(1000, 1000), 1);
}

static void
parts_are_several_for_each_of_several_threads(void **state)
{
	(void)state;
	assert_int_equal(lanes_cut(1000, 1), 1);
	assert_int_equal(lanes_cut(3, 2), 3);
	assert_true(lanes_cut(1000, 2) >= 4);
	assert_int_equal(lanes_cut(1000, 4), 2 * lanes_cut(1000, 2));
}

/* What each lane had last. */
struct grouping {
	size_t group, last[LANES_MOST];
	atomic_uint times[MOST];
	atomic_bool wrong;
};

static void
take_of_group(void *of, uint32_t lane, size_t i, bool again)
{
	struct grouping *g = of;
	const size_t last = g->last[lane];
	const bool same = last != SIZE_MAX && last / g->group == i / g->group;

	if (again != same)
		atomic_store(&g->wrong, true);
	g->last[lane] = i;
	atomic_fetch_add(&g->times[i], 1);
}

static void
lanes_know_what_group_they_had(void **state)
{
	static const size_t group[] = {1, 3, 16, 1000};
	static struct grouping g;

	(void)state;
	for (uint32_t threads = 1; threads <= 5; threads++)
		for (size_t k = 0; k < sizeof group / sizeof *group; k++) {
			target_threads_set(threads);
			memset(&g, 0, sizeof g);
			memset(g.last, 0xff, sizeof g.last);
			g.group = group[k];
			lanes_groups(
			    100, group[k], LANES_MOST, take_of_group, &g);
			assert_false(atomic_load(&g.wrong));
			for (size_t i = 0; i < MOST; i++)
				assert_int_equal(g.times[i], i < 100);
		}
	target_threads_set(1);
}

#define LARGE 70001u

static uint8_t seen[LARGE];

static void
see(void *of, size_t first, size_t count)
{
	(void)of;
	assert_int_equal(first % 32, 0);
	for (size_t i = first; i < first + count; i++)
		seen[i]++;
}

static void
parts_make_up_the_whole(void **state)
{
	static const size_t some[] = {
	    0, 1, 31, 33, 8191, 8192, 16384, 16385, 24601, LARGE};

	(void)state;
	for (uint32_t threads = 1; threads <= 7; threads++)
		for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
			target_threads_set(threads);
			memset(seen, 0, sizeof seen);
			lanes_split(some[i], see, NULL);
			for (size_t k = 0; k < LARGE; k++)
				assert_int_equal(seen[k], k < some[i]);
		}
	target_threads_set(1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(items_are_taken_once),
	    cmocka_unit_test(lanes_are_no_more_than_threads_items_and_wanted),
	    cmocka_unit_test(parts_are_several_for_each_of_several_threads),
	    cmocka_unit_test(lanes_know_what_group_they_had),
	    cmocka_unit_test(parts_make_up_the_whole),
	};

	dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
