#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
/* Work of our own on several threads: all of it, once, by as many as there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "targets/team.h"
#include "targets/threads.h"
#include "tests/support/denormals.h"

#define MOST 64u

static struct record {
	uint32_t times[MOST];
	pthread_t by[MOST];
} record;

static void
note(void *of, uint32_t i)
{
	struct record *r = of;

	if (i >= MOST)
		return;
	r->times[i]++;
	r->by[i] = pthread_self();
}

static void
check_each_once(uint32_t n)
{
	for (uint32_t i = 0; i < MOST; i++)
		assert_int_equal(record.times[i], i < n);
}

static void
pieces_are_done_once(void **state)
{
	(void)state;
	for (uint32_t threads = 1; threads <= 5; threads++)
		for (uint32_t n = 0; n <= MOST; n++) {
			target_threads_set(threads);
			memset(&record, 0, sizeof record);
			team_run(n, note, &record);
			check_each_once(n);
		}
	target_threads_set(1);
}

static uint32_t
different(uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < i && !pthread_equal(record.by[k], record.by[i]))
			k++;
		found += k == i;
	}
	return found;
}

/* Also where a thread would have been done with all of it before another woke. */
static void
each_thread_has_its_own(void **state)
{
	const bool has_team = dlsym(RTLD_DEFAULT, "GOMP_parallel") != NULL;

	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		const uint32_t n = 1 + round % 4, most = has_team ? n : 1;

		memset(&record, 0, sizeof record);
		team_each(n, note, &record);
		check_each_once(most);
		assert_int_equal(different(most), most);
		assert_true(
		    pthread_equal(record.by[0], pthread_self()) || n > 1);
	}
}

struct rounds {
	struct team_meeting meeting;
	uint32_t at[MOST]; /* rounds that each has begun */
	atomic_uint here, wrong;
};

/* Each reads what the others wrote before they met, and writes when all have read. */
static void
go_round(void *of, uint32_t i, uint32_t m)
{
	struct rounds *r = of;

	for (uint32_t round = 1; round <= 200; round++) {
		r->at[i] = round;
		team_meet(&r->meeting, m);
		for (uint32_t k = 0; k < m; k++)
			if (r->at[k] != round)
				atomic_fetch_add(&r->wrong, 1);
		team_meet(&r->meeting, m);
	}
	atomic_store(&r->here, m);
}

static void
threads_meet(void **state)
{
	const bool has_team = dlsym(RTLD_DEFAULT, "GOMP_parallel") != NULL;

	(void)state;
	for (uint32_t n = 1; n <= 5; n++) {
		struct rounds r = {.here = 0};

		team_together(n, go_round, &r);
		assert_int_equal(r.here, has_team ? n : 1);
		assert_int_equal(r.wrong, 0);
	}
}

/* Not in the one that asks for it. */
static void
denormals_are_zeros_in_the_others(void **state)
{
	const bool has_team = dlsym(RTLD_DEFAULT, "GOMP_parallel") != NULL;
	const uint32_t n = has_team ? 3 : 1, mode = float_mode();

	(void)state;
	team_each(n, note, &record); /* they have begun */
	target_threads_set(n);
	team_denormals_off();
	target_threads_set(1);
	assert_int_equal(float_mode(), mode);
	assert_int_equal(threads_of_zeros(n), FLOAT_ZEROS != 0 ? n - 1 : 0);
}

/* What a library would have brought; without it one thread does everything. */
int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pieces_are_done_once),
	    cmocka_unit_test(each_thread_has_its_own),
	    cmocka_unit_test(threads_meet),
	    cmocka_unit_test(denormals_are_zeros_in_the_others),
	};

	dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
