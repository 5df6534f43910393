#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* close_range */
#endif
#include "targets/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/clock.h"

/* The end of a log is all that is looked at. */
#define WORDS_MAX 4096

/* ---- in the child ---- */

/* A worker's limit on its own processor time is not the tool's: whoever runs it
 * has a clock. */
static void
unlimit_time(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_CPU, &l) != 0)
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_CPU, &l);
}

static int
open_log(const struct process_job *job)
{
	if (chdir(job->folder) != 0)
		return -1;
	return open(job->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

/* Can the shell be told to become the command's one program? Then a signal
 * meets that, and not a shell that waits for it. */
static bool
is_one_program(const char *command)
{
	size_t first = strcspn(command, " ");

	return !strpbrk(command, ";&|()`$\n") && !memchr(command, '=', first);
}

/* Never returns. Standard input and output are `socket`, or (-1) nothing and
 * the log. */
static _Noreturn void
become(const struct process_job *job, int socket, pid_t parent)
{
	int log = open_log(job), nothing = open("/dev/null", O_RDONLY);
	struct arena a;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (log < 0 || nothing < 0 || getppid() != parent)
		_exit(125);
	signal(SIGINT, SIG_DFL);
	unlimit_time();
	dup2(socket < 0 ? nothing : socket, 0);
	dup2(socket < 0 ? log : socket, 1);
	dup2(log, 2);
	arena_init(&a);
	execl("/bin/sh", "sh", "-c",
	    arena_printf(&a, "%s%s",
	        is_one_program(job->command) ? "exec " : "", job->command),
	    (char *)NULL);
	_exit(127);
}

/* ---- the keeper ---- */

/* Never returns. */
static _Noreturn void
keep(pid_t child, int leash)
{
	char word;
	ssize_t n;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	/* others wait for the end of what we inherited */
	if (leash > 0)
		close_range(0, (unsigned)leash - 1, 0);
	close_range((unsigned)leash + 1, ~0u, 0);
	do
		n = read(leash, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		kill(-child, SIGKILL);
	_exit(0);
}

static bool
put_keeper(struct process *p, struct err *err)
{
	int leash[2];
	pid_t keeper;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, leash) != 0)
		return err_set(err, ERR_IO, "socketpair: %s", strerror(errno));
	keeper = fork();
	if (keeper == 0) {
		close(leash[1]);
		keep((pid_t)p->pid, leash[0]);
	}
	close(leash[0]);
	if (keeper < 0) {
		close(leash[1]);
		return err_set(err, ERR_IO, "fork: %s", strerror(errno));
	}
	p->keeper = keeper;
	p->leash = leash[1];
	return true;
}

static void
dismiss_keeper(struct process *p)
{
	/* a keeper that is gone already has nothing to be told */
	(void)send(p->leash, "", 1, MSG_NOSIGNAL);
	close(p->leash);
	waitpid((pid_t)p->keeper, NULL, 0);
}

/* ---- in the parent ---- */

static bool
start(struct process *p, const struct process_job *job, int socket,
    struct err *err)
{
	pid_t parent = getpid(), child;

	*p = (struct process){.socket = -1};
	fflush(NULL); /* or the child would write it again */
	child = fork();
	if (child < 0)
		return err_set(err, ERR_IO, "fork: %s", strerror(errno));
	if (child == 0)
		become(job, socket, parent);
	setpgid(child, child); /* whoever of the two comes first */
	p->pid = child;
	if (put_keeper(p, err))
		return true;
	kill(-child, SIGKILL);
	waitpid(child, NULL, 0);
	p->pid = 0;
	return false;
}

/* Wait until the child ends or its time is up; true when it ended. */
static bool
wait_for(pid_t child, uint32_t timeout_ms, int *status)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	uint64_t end = clock_ns() + (uint64_t)timeout_ms * 1000000;

	for (;;) {
		pid_t got = waitpid(child, status, WNOHANG);

		if (got == child)
			return true;
		if (got < 0 && errno != EINTR)
			return true;
		if (clock_ns() >= end)
			return false;
		nanosleep(&pause, NULL);
	}
}

static struct process_end
end_of(int status)
{
	struct process_end end;

	end.status =
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	/* the shell's words for a program that is not there */
	end.how = end.status == 0                    ? ENDED_WELL
	    : end.status == 127 || end.status == 126 ? ENDED_MISSING
	                                             : ENDED_BADLY;
	return end;
}

/* End what is left of it after so long; its status. */
static struct process_end
finish(struct process *p, uint32_t timeout_ms)
{
	pid_t child = (pid_t)p->pid;
	int status = 0;
	bool ended = wait_for(child, timeout_ms, &status);

	kill(-child, SIGKILL); /* and what it left behind */
	if (!ended)
		waitpid(child, &status, 0);
	dismiss_keeper(p);
	*p = (struct process){.socket = -1};
	return ended ? end_of(status) : (struct process_end){ENDED_LATE, 0};
}

bool
process_run(struct process_end *out, const struct process_job *job,
    uint32_t timeout_ms, struct err *err)
{
	struct process p;

	if (!start(&p, job, -1, err))
		return false;
	*out = finish(&p, timeout_ms);
	return true;
}

bool
process_start(struct process *p, const struct process_job *job, struct err *err)
{
	int pair[2];
	bool ok;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return err_set(err, ERR_IO, "socketpair: %s", strerror(errno));
	ok = start(p, job, pair[1], err);
	close(pair[1]);
	if (ok)
		p->socket = pair[0];
	else
		close(pair[0]);
	return ok;
}

/* TUNING: for a program that heard end of file to tidy up. */
#define FAREWELL_MS 500

struct process_end
process_stop(struct process *p)
{
	close(p->socket);
	return finish(p, FAREWELL_MS);
}

/* ---- logs ---- */

const char *
process_last_words(const struct process_job *job, struct arena *a)
{
	const char *path = arena_printf(a, "%s/%s", job->folder, job->log);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[WORDS_MAX];
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	ssize_t n = fd < 0
	    ? 0
	    : pread(fd, text, sizeof text - 1,
	        size > WORDS_MAX - 1 ? size - (WORDS_MAX - 1) : 0);
	const char *line;

	if (fd >= 0)
		close(fd);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		n--;
	text[n > 0 ? n : 0] = '\0';
	line = strrchr(text, '\n');
	return arena_str(a, line ? line + 1 : text);
}
