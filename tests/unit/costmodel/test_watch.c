/* Was a run disturbed? Of the clock nothing is asserted: what is compared with is set. */
#define _GNU_SOURCE /* sched_getcpu */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/machine.h"
#include "costmodel/watch.h"

#define NEVER_SO_FAST 1 /* ns */
#define NEVER_SO_SLOW (UINT64_MAX / 200)

/* On one core, which is known by what it did best. */
static int
setup(void **state)
{
	uint32_t core[CORES_MAX];

	(void)state;
	machine_cores(core);
	machine_pin(core, 1);
	*core_best_ns() = 0;
	return 0;
}

static void
the_first_look_is_the_best_so_far(void **state)
{
	(void)state;
	assert_false(core_is_slow());
	assert_true(*core_best_ns() > 0);
}

static void
a_core_is_slow_beside_its_best(void **state)
{
	(void)state;
	*core_best_ns() = NEVER_SO_FAST;
	assert_true(core_is_slow());
	assert_int_equal(*core_best_ns(), NEVER_SO_FAST);
	*core_best_ns() = NEVER_SO_SLOW;
	assert_false(core_is_slow());
	assert_true(*core_best_ns() < NEVER_SO_SLOW);
}

/* Before the run is enough. */
static void
a_run_on_a_slow_core_is_disturbed(void **state)
{
	struct watch w;

	(void)state;
	*core_best_ns() = NEVER_SO_FAST;
	watch_begin(&w);
	assert_true(w.slow);
	assert_true(watch_end(&w));
	*core_best_ns() = NEVER_SO_SLOW;
	watch_begin(&w);
	assert_false(w.slow);
	w.slow = true;
	*core_best_ns() = NEVER_SO_SLOW;
	assert_true(watch_end(&w));
}

/* A process that begins beside a neighbour knows how fast the core was before, and tells. */
static void
processes_share_the_best(void **state)
{
	int status;
	pid_t child;

	(void)state;
	*core_best_ns() = NEVER_SO_SLOW;
	cores_share_best();
	assert_int_equal(*core_best_ns(), NEVER_SO_SLOW);
	child = fork();
	if (child == 0) {
		const bool knows = *core_best_ns() == NEVER_SO_SLOW;

		*core_best_ns() = NEVER_SO_FAST;
		_exit(!knows);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(*core_best_ns(), NEVER_SO_FAST);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup(name, setup)
	    T(the_first_look_is_the_best_so_far),
	    T(a_core_is_slow_beside_its_best),
	    T(a_run_on_a_slow_core_is_disturbed),
	    T(processes_share_the_best),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
