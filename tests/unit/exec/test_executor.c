/* What is set up before a plan's first run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>

#include "exec/executor.h"
#include "tests/support/denormals.h"

#define THREADS 3u

/* A library's threads may be older than the plan, with the mode of who needed them. */
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

	(void)state;
	if (FLOAT_ZEROS == 0 || !dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL))
		skip();
	assert_int_equal(threads_of_zeros(THREADS), 0);
	arena_init(&a);
	assert_true(executor_open(&x, &p, &o, &a, &err));
	assert_true(executor_run(x, NULL, NULL, &err));
	assert_int_equal(threads_of_zeros(THREADS), THREADS - 1);
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
