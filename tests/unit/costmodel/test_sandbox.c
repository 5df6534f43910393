/* A measuring process: what it gave up stays given up. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "costmodel/sandbox.h"

static char folder[] = "/tmp/marq-test-XXXXXX";
static char kept[64], scratch[64], made[64];

static int
set_up(void **state)
{
	int fd;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(kept, sizeof kept, "%s/kept", folder);
	snprintf(scratch, sizeof scratch, "%s/scratch", folder);
	snprintf(made, sizeof made, "%s/scratch/made", folder);
	fd = open(kept, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || mkdir(scratch, 0700) != 0)
		return -1;
	return close(fd);
}

static int
tear_down(void **state)
{
	(void)state;
	unlink(made);
	rmdir(scratch);
	unlink(kept);
	return rmdir(folder);
}

/* The first attempt that went other than it should, or 0. */
static int
files_are_locked(void)
{
	char other[64];
	int fd;

	snprintf(other, sizeof other, "%s/other", folder);
	if (open(kept, O_WRONLY) >= 0 || errno != EACCES)
		return 1;
	if (open(other, O_WRONLY | O_CREAT, 0600) >= 0 || errno != EACCES)
		return 2;
	if (unlink(kept) == 0 || rename(kept, other) == 0)
		return 3;
	if (mkdir(other, 0700) == 0 || symlink(kept, other) == 0)
		return 4;
	fd = open(kept, O_RDONLY);
	if (fd < 0)
		return 5;
	close(fd);
	fd = open("/dev/null", O_RDWR);
	if (fd < 0)
		return 6;
	close(fd);
	return open(made, O_WRONLY | O_CREAT, 0600) < 0 ? 7 : 0;
}

static int
calls_are_locked(void)
{
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EACCES)
		return 11;
	if (socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || errno != EACCES)
		return 12;
	if (socket(AF_NETLINK, SOCK_RAW, 0) >= 0)
		return 13;
	if (socket(AF_UNIX, SOCK_DGRAM, 0) < 0)
		return 14; /* locks on cores are such sockets */
	if (execl("/bin/true", "true", (char *)NULL) != -1 || errno != EACCES)
		return 15;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != -1)
		return 16;
	return 0;
}

static void
a_process_gives_up_what_it_does_not_need(void **state)
{
	const struct sandbox_means can = sandbox_offered();
	pid_t child = fork();
	int status, wrong;

	(void)state;
	if (child == 0) {
		const struct sandbox_means m = sandbox_enter(scratch);

		if (m.seccomp != can.seccomp || m.landlock != can.landlock)
			_exit(20);
		wrong = m.landlock ? files_are_locked() : 0;
		if (!wrong && m.seccomp)
			wrong = calls_are_locked();
		_exit(wrong);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	if (!can.seccomp || !can.landlock)
		print_message("seccomp %d, Landlock %d here\n", can.seccomp,
		    can.landlock);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_process_gives_up_what_it_does_not_need),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
