/* Processes that are watched: ended, busy for too long, stuck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/clock.h"
#include "tests/support/family.h"

#define BUSY_MS 200

/* A group of its own that does as told. */
static pid_t
start(void (*act)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		setpgid(0, 0);
		act();
		_exit(3);
	}
	setpgid(pid, pid);
	return pid;
}

static void
nothing(void)
{
}

static void
spin(void)
{
	for (volatile unsigned n = 0;; n++)
		;
}

static void
sleep_on(void)
{
	for (;;)
		pause();
}

/* The leader sleeps; what it started computes. */
static void
let_spin(void)
{
	if (fork() == 0)
		spin();
	sleep_on();
}

/* ... or has computed. */
static void
let_end(void)
{
	pid_t pid = fork();

	if (pid == 0)
		while (clock_cpu_ns() < 2 * BUSY_MS * UINT64_C(1000000))
			;
	else
		waitpid(pid, NULL, 0);
	if (pid == 0)
		_exit(0);
	sleep_on();
}

static enum family_end
watch(void (*act)(void), uint64_t cpu_ms, uint64_t idle_ms, int *status)
{
	const struct family_limits limits = {cpu_ms, idle_ms};

	return family_wait(start(act), limits, status);
}

static void
test_ended(void **state)
{
	int status = 0;

	(void)state;
	assert_int_equal(
	    watch(nothing, 1000000, 1000000, &status), FAMILY_ENDED);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void
test_busy(void **state)
{
	int status = 0;

	(void)state;
	assert_int_equal(watch(spin, BUSY_MS, 1000000, &status), FAMILY_BUSY);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(
	    watch(let_spin, BUSY_MS, 1000000, &status), FAMILY_BUSY);
	assert_int_equal(
	    watch(let_end, BUSY_MS, 1000000, &status), FAMILY_BUSY);
}

static void
test_stuck(void **state)
{
	int status = 0;

	(void)state;
	assert_int_equal(watch(sleep_on, 1000000, 600, &status), FAMILY_STUCK);
	assert_true(WIFSIGNALED(status));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ended),
	    cmocka_unit_test(test_busy),
	    cmocka_unit_test(test_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
