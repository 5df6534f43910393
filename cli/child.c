#define _GNU_SOURCE
#include "cli/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/clock.h"

extern char **environ;

/* Names the process that started this one, to it alone. */
#define PARENT "MARQ_PARENT"

#define GRACE_NS UINT64_C(5000000000) /* from SIGTERM to SIGKILL */

static void
send_to_file(posix_spawn_file_actions_t *files, int fd, const char *path)
{
	if (path)
		posix_spawn_file_actions_addopen(
		    files, fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

bool
child_start(pid_t *pid, char *const *argv, const char *out, const char *log,
    struct err *err)
{
	posix_spawn_file_actions_t files;
	char parent[24];
	int e;

	snprintf(parent, sizeof parent, "%ld", (long)getpid());
	setenv(PARENT, parent, 1);
	posix_spawn_file_actions_init(&files);
	send_to_file(&files, STDOUT_FILENO, out);
	send_to_file(&files, STDERR_FILENO, log);
	e = posix_spawn(pid, "/proc/self/exe", &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	unsetenv(PARENT);
	return e == 0 || err_set(err, ERR_IO, "cannot start: %s", strerror(e));
}

void
child_die_with_parent(void)
{
	const char *parent = getenv(PARENT);
	long pid = parent ? atol(parent) : 0;

	if (pid <= 0)
		return;
	unsetenv(PARENT);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)pid) /* it died before we asked */
		raise(SIGKILL);
}

static void
sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

int
child_await(pid_t pid, uint64_t limit_ns, const atomic_bool *stop,
    void (*tick)(void *context), void *context)
{
	uint64_t began = clock_ns(), asked = 0;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		uint64_t now = clock_ns();
		bool late = limit_ns && now - began > limit_ns;

		if (asked == 0 && (late || atomic_load(stop))) {
			kill(pid, SIGTERM);
			asked = now;
		} else if (asked && now - asked > GRACE_NS) {
			kill(pid, SIGKILL);
		}
		if (tick)
			tick(context);
		sleep_ms(20);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
child_shell(const char *command, const char *in, const atomic_bool *stop)
{
	char shell[] = "/bin/sh", flag[] = "-c";
	char *const argv[] = {shell, flag, (char *)(uintptr_t)command, NULL};
	posix_spawn_file_actions_t files;
	pid_t pid;
	int e;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, in, O_RDONLY, 0);
	e = posix_spawn(&pid, shell, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return e == 0 ? child_await(pid, 0, stop, NULL, NULL) : 127;
}
