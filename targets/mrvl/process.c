#include "targets/mrvl/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* In the child: never returns. */
static _Noreturn void
become(const char *command, const char *folder)
{
	int log, nothing;

	setpgid(0, 0);
	if (chdir(folder) != 0)
		_exit(125);
	log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
	nothing = open("/dev/null", O_RDONLY);
	if (log < 0 || nothing < 0)
		_exit(125);
	dup2(nothing, 0);
	dup2(log, 1);
	dup2(log, 2);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Wait until the child ends or its time is up; true when it ended. */
static bool
wait_for(pid_t child, uint32_t timeout_ms, int *status)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	uint64_t end = now_ms() + timeout_ms;

	for (;;) {
		pid_t got = waitpid(child, status, WNOHANG);

		if (got == child)
			return true;
		if (got < 0 && errno != EINTR)
			return true;
		if (now_ms() >= end)
			return false;
		nanosleep(&pause, NULL);
	}
}

bool
process_run(struct process_end *out, const char *command, const char *folder,
    uint32_t timeout_ms, struct err *err)
{
	int status = 0;
	pid_t child = fork();

	if (child < 0)
		return err_set(err, ERR_IO, "fork: %s", strerror(errno));
	if (child == 0)
		become(command, folder);
	setpgid(child, child); /* whoever of the two comes first */
	if (!wait_for(child, timeout_ms, &status)) {
		kill(-child, SIGKILL);
		waitpid(child, &status, 0);
		*out = (struct process_end){ENDED_LATE, 0};
		return true;
	}
	kill(-child, SIGKILL); /* what it left behind */
	out->status =
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	/* the shell's words for a program that is not there */
	out->how = out->status == 0                    ? ENDED_WELL
	    : out->status == 127 || out->status == 126 ? ENDED_MISSING
	                                               : ENDED_BADLY;
	return true;
}
