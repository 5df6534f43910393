/* What is set up before a plan's first run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "exec/executor.h"
#include "ir/base/float_mode.h"
#include "targets/team.h"
#include "targets/threads.h"

#define THREADS 3u

static uint32_t mode_of[THREADS];

static void
note_mode(void *of, uint32_t i)
{
	(void)of;
	mode_of[i] = float_mode();
}

/* A library's threads may be older than the plan; what masks hide is made of denormals,
 * which cost ten times as much. */
static void
denormals_are_zeros_in_all_threads(void **state)
{
	const struct executor_options o = {.threads = THREADS};
	const uint32_t mode = float_mode();
	struct graph g = {0};
	const struct plan p = {.graph = &g};
	struct err err = {.kind = ERR_NONE};
	struct executor *x;
	struct arena a;
	uint32_t off = 0;

	(void)state;
	if (FLOAT_ZEROS == 0 || !dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL))
		skip();
	team_each(THREADS, note_mode, NULL);
	arena_init(&a);
	assert_true(executor_open(&x, &p, &o, &a, &err));
	assert_true(executor_run(x, NULL, NULL, &err));
	team_each(THREADS, note_mode, NULL);
	for (uint32_t i = 0; i < THREADS; i++)
		off += (mode_of[i] & FLOAT_ZEROS) == FLOAT_ZEROS;
	assert_int_equal(off, THREADS - 1);
	assert_int_equal(float_mode(), mode);
	executor_close(x);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(denormals_are_zeros_in_all_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
