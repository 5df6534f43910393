/* ir/base: a mapped file that shrinks ends the process with a line. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/file.h"

/* Map `path` of three pages, cut it to one, read all of it. */
static void
read_what_shrank(const char *path)
{
	struct err err = {.kind = ERR_NONE};
	struct mapped_file f;
	unsigned sum = 0;

	if (!file_map(&f, path, &err) || truncate(path, 4096) != 0)
		_exit(100);
	for (size_t i = 0; i < f.bytes; i++)
		sum += ((const volatile unsigned char *)f.data)[i];
	_exit(sum ? 101 : 102);
}

static void
a_file_that_shrinks_ends_with_a_line(void **state)
{
	char path[] = "/tmp/marq-guard-XXXXXX", text[256] = "";
	int fd = mkstemp(path), words[2], status;
	pid_t child;

	(void)state;
	assert_true(fd >= 0 && ftruncate(fd, 3 * 4096) == 0 && close(fd) == 0);
	assert_int_equal(pipe(words), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(words[1], STDERR_FILENO);
		read_what_shrank(path);
	}
	close(words[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(read(words[0], text, sizeof text - 1) > 0);
	close(words[0]);
	unlink(path);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), err_exit(ERR_IO));
	assert_non_null(strstr(text, path));
	assert_non_null(strstr(text, "shrank"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_file_that_shrinks_ends_with_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
