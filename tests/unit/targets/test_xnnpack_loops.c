#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
/* Loops in pthreadpool's place: every form of them comes to every place once, says what
 * is left of tiles, and is what a library finds by that name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>

#include <cmocka.h>

#if MARQ_HAVE_XNNPACK
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "ir/base/float_mode.h"
#include "targets/lanes.h"
#include "targets/threads.h"
#include "targets/xnnpack/loops.h"

#define RANKS 6
#define MOST 40000u
#define UARCH 3u

/* What the tasks write down. */
static struct record {
	size_t range[RANKS], tile[2];
	atomic_uint times[MOST], wrong;
	bool zeros; /* denormals have to be zeros */
} record;

/* Tiles of a task must be no larger than asked for, and end with the range. */
static size_t
tile_of(size_t at, size_t range, size_t tile, size_t count)
{
	const size_t left = range - at;

	if (at % tile != 0 || count != (left < tile ? left : tile))
		atomic_fetch_add(&record.wrong, 1);
	return count;
}

static void
mark(const size_t *at, const size_t *n)
{
	size_t i[RANKS], from = 0;

	for (uint32_t d = 0; d < RANKS; d++)
		from = from * record.range[d] + at[d];
	for (i[0] = 0; i[0] < n[0]; i[0]++)
		for (i[1] = 0; i[1] < n[1]; i[1]++)
			atomic_fetch_add(
			    &record.times[from + i[0] * record.range[RANKS - 1]
			        + i[1]],
			    1);
	if (record.zeros && (float_mode() & FLOAT_ZEROS) != FLOAT_ZEROS)
		atomic_fetch_add(&record.wrong, 1);
}

/* A task's numbers: places, then counts; the ranges that a form has are the last. */
static void
seen(uint32_t dims, uint32_t tiles, const size_t *number)
{
	size_t at[RANKS] = {0}, n[2] = {1, 1};

	for (uint32_t d = 0; d < dims; d++)
		at[RANKS - dims + d] = number[d];
	for (uint32_t k = 0; k < tiles; k++) {
		const uint32_t d = RANKS - tiles + k;

		n[2 - tiles + k] = tile_of(at[d], record.range[d],
		    record.tile[2 - tiles + k], number[dims + k]);
	}
	mark(at, n);
}

static void
check_uarch(uint32_t uarch)
{
	if (uarch != UARCH)
		atomic_fetch_add(&record.wrong, 1);
}

static void
check_thread(size_t thread)
{
	if (thread >= pthreadpool_get_threads_count(NULL))
		atomic_fetch_add(&record.wrong, 1);
}

/* ---- a task for each form ---- */

#define LEAD_PLAIN
#define LEAD_THREAD , size_t thread
#define LEAD_UARCH , uint32_t uarch
#define LEAD_UARCH_THREAD , uint32_t uarch, size_t thread
#define CHECK_PLAIN
#define CHECK_THREAD check_thread(thread);
#define CHECK_UARCH check_uarch(uarch);
#define CHECK_UARCH_THREAD CHECK_UARCH CHECK_THREAD
#define NUMBERS_1 i
#define NUMBERS_2 NUMBERS_1, j
#define NUMBERS_3 NUMBERS_2, k
#define NUMBERS_4 NUMBERS_3, l
#define NUMBERS_5 NUMBERS_4, m
#define NUMBERS_6 NUMBERS_5, n
#define COUNTS_0
#define COUNTS_1 , tile_a
#define COUNTS_2 , tile_a, tile_b

#define LOOP(form, lead, dims, tiles) \
	static void task_##form( \
	    void *context LEAD_##lead RANGES_##dims TILES_##tiles) \
	{ \
		const size_t number[] = {NUMBERS_##dims COUNTS_##tiles}; \
\
		CHECK_##lead; \
		if (context != &record) \
			atomic_fetch_add(&record.wrong, 1); \
		seen(dims, tiles, number); \
	}
#include "targets/xnnpack/loops.def"
#undef LOOP

/* ---- and its call, with the last ranges and tiles of the record ---- */

#define PASS_PLAIN
#define PASS_THREAD
#define PASS_UARCH , UARCH, UARCH + 1
#define PASS_UARCH_THREAD PASS_UARCH
#define R(i) , record.range[i]
#define PASSED_1 R(5)
#define PASSED_2 R(4) PASSED_1
#define PASSED_3 R(3) PASSED_2
#define PASSED_4 R(2) PASSED_3
#define PASSED_5 R(1) PASSED_4
#define PASSED_6 R(0) PASSED_5
#define TILED_0
#define TILED_1 , record.tile[1]
#define TILED_2 , record.tile[0], record.tile[1]

#define LOOP(form, lead, dims, tiles) \
	static void run_##form(uint32_t flags) \
	{ \
		pthreadpool_parallelize_##form(loops_pool(), task_##form, \
		    &record PASS_##lead PASSED_##dims TILED_##tiles, flags); \
	}
#include "targets/xnnpack/loops.def"
#undef LOOP

static const struct {
	const char *name;
	void (*run)(uint32_t flags);
	uint32_t dims;
} forms[] = {
#define LOOP(form, lead, dims, tiles) \
	{"pthreadpool_parallelize_" #form, run_##form, dims},
#include "targets/xnnpack/loops.def"
#undef LOOP
};
#define NFORMS (sizeof forms / sizeof *forms)

static void
check(uint32_t form, const size_t range[RANKS], const size_t tile[2])
{
	const uint32_t mode = float_mode();
	size_t places = 1;

	memset(&record, 0, sizeof record);
	memcpy(record.range, range, sizeof record.range);
	memcpy(record.tile, tile, sizeof record.tile);
	for (uint32_t d = 0; d < RANKS - forms[form].dims; d++)
		record.range[d] = 1;
	for (uint32_t d = 0; d < RANKS; d++)
		places *= record.range[d];
	assert_true(places < MOST);
	record.zeros = places % 2 == 0;
	forms[form].run(record.zeros ? PTHREADPOOL_FLAG_DISABLE_DENORMALS : 0);
	assert_int_equal(record.wrong, 0);
	assert_int_equal(float_mode(), mode);
	for (uint32_t i = 0; i < MOST; i++)
		assert_int_equal(record.times[i], i < places);
}

static void
all_forms_come_to_all_places_once(void **state)
{
	static const size_t range[][RANKS] = {{1, 1, 1, 1, 1, 1},
	    {2, 3, 1, 2, 5, 7}, {3, 2, 4, 5, 13, 11}, {1, 1, 1, 3, 1, 1021},
	    {2, 2, 2, 2, 64, 33}, {2, 1, 3, 0, 5, 4}, {2, 2, 2, 2, 17, 0}};
	static const size_t tile[][2] = {{1, 1}, {3, 4}, {64, 2}, {5, 2000}};

	(void)state;
	for (uint32_t threads = 1; threads <= 4; threads++)
		for (uint32_t f = 0; f < NFORMS; f++)
			for (uint32_t i = 0; i < 28; i++) {
				target_threads_set(threads);
				check(f, range[i % 7], tile[i / 7]);
			}
	target_threads_set(1);
}

static void
their_threads_are_the_teams(void **state)
{
	(void)state;
	for (uint32_t threads = 1; threads <= 3; threads++) {
		target_threads_set(threads);
		assert_int_equal(
		    pthreadpool_get_threads_count(loops_pool()), threads);
	}
	target_threads_set(1);
}

/* Where the name leads in this process lies in the program, not in a library. */
static void
libraries_find_them(void **state)
{
	Dl_info here, there;

	(void)state;
	assert_true(dladdr((void *)&record, &here));
	for (uint32_t f = 0; f < NFORMS; f++) {
		void *found = dlsym(RTLD_DEFAULT, forms[f].name);

		/* what no library here asks for, the linker hides */
		if (!found)
			continue;
		assert_true(dladdr(found, &there));
		if (there.dli_fbase == here.dli_fbase)
			continue;
		/* a loop that this XNNPACK does not call may stay there */
		fail_msg("%s is found in %s", forms[f].name, there.dli_fname);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_forms_come_to_all_places_once),
	    cmocka_unit_test(their_threads_are_the_teams),
	    cmocka_unit_test(libraries_find_them),
	};

	dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int
main(void)
{
	puts("skipped: XNNPACK is not built in");
	return 77;
}
#endif
