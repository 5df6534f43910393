/* ir/base: a signal ends a process that waits for its input, whenever it came. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/file.h"

static void
take(int number)
{
	(void)number;
}

/* Wait for input that never comes, after a signal that a handler has taken. */
static void
wait_after(int number, int input)
{
	const struct sigaction once = {
	    .sa_handler = take, .sa_flags = (int)SA_RESETHAND};
	struct err err = {.kind = ERR_NONE};
	struct mapped_file f;

	alarm(20); /* for when nothing ends it */
	dup2(input, STDIN_FILENO);
	sigaction(SIGINT, &once, NULL);
	sigaction(SIGTERM, &once, NULL);
	if (number)
		raise(number);
	_exit(file_map(&f, "-", &err) ? 0 : 100);
}

/* The status of a process that waits so; a byte of input, and its end, or none. */
static int
status_after(int number, bool fed)
{
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (fed)
			close(ends[1]);
		wait_after(number, ends[0]);
	}
	if (fed) {
		assert_int_equal(write(ends[1], "x", 1), 1);
		close(ends[1]);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	close(ends[0]);
	if (!fed)
		close(ends[1]);
	return status;
}

static void
a_signal_before_ends_it(void **state)
{
	static const int numbers[] = {SIGINT, SIGTERM};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		int status = status_after(numbers[i], false);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), numbers[i]);
	}
}

static void
without_one_it_is_read(void **state)
{
	int status;

	(void)state;
	status = status_after(0, true);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_signal_before_ends_it),
	    cmocka_unit_test(without_one_it_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
