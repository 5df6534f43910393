#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* close_range, pipe2 */
#endif
#include "targets/keeper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/arena.h"
#include "ir/base/fd.h"
#include "ir/base/limits.h"
#include "ir/base/procstat.h"

/* Of a program's words its first are kept in the log, and of the rest the
 * last. TUNING: more than anybody reads. */
#define TAIL_BYTES ((size_t)1 << 16)

/* TUNING: a process that does not end when it is killed (another user's, or
 * stuck in the kernel) is given up after so many milliseconds. */
#define PATIENCE_MS 2000

struct keeper {
	int leash, words, log;
	pid_t child;
	int status; /* of the child */
	bool child_ended;
	size_t head; /* bytes in the log */
	size_t ntail; /* said since the head was full; a ring */
	char tail[TAIL_BYTES];
};

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

/* Can the shell be told to become the command's one program? Then a signal
 * meets that, and not a shell that waits for it. A command may say so itself. */
static bool
is_one_program(const char *command)
{
	size_t first = strcspn(command, " ");

	return !strpbrk(command, ";&|()`$\n") && !memchr(command, '=', first)
	    && strncmp(command, "exec ", 5) != 0;
}

static _Noreturn void
become(const struct process_job *job, int socket, int words, pid_t parent)
{
	int nothing = open("/dev/null", O_RDONLY);
	struct arena a;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nothing < 0 || getppid() != parent)
		_exit(125);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	unlimit_time();
	dup2(socket < 0 ? nothing : socket, 0);
	dup2(socket < 0 ? words : socket, 1);
	dup2(words, 2);
	arena_init(&a);
	execl("/bin/sh", "sh", "-c",
	    arena_printf(&a, "%s%s",
	        is_one_program(job->command) ? "exec " : "", job->command),
	    (char *)NULL);
	_exit(127);
}

/* ---- words ---- */

/* The log is for people: where it cannot be written, the rest goes on. */
static void
write_log(struct keeper *k, const char *bytes, size_t n)
{
	(void)fd_write_all(k->log, bytes, n);
}

static void
keep_words(struct keeper *k, const char *bytes, size_t n)
{
	size_t room = limit_of(LIMIT_TOOL_LOG) - k->head,
	       fit = n < room ? n : room;

	k->head += fit;
	write_log(k, bytes, fit);
	for (size_t i = fit; i < n; i++)
		k->tail[k->ntail++ % TAIL_BYTES] = bytes[i];
}

/* What is there of the words; false at their end. */
static bool
take_words(struct keeper *k)
{
	char bytes[1 << 14];
	ssize_t n = read(k->words, bytes, sizeof bytes);

	if (n > 0)
		keep_words(k, bytes, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* What is in the pipe already, without waiting for who may still hold it. */
static void
finish_words(struct keeper *k)
{
	size_t start;
	char line[64];
	int n;

	fcntl(k->words, F_SETFL, O_NONBLOCK);
	while (take_words(k))
		;
	if (k->ntail <= TAIL_BYTES) {
		write_log(k, k->tail, k->ntail);
		return;
	}
	n = snprintf(line, sizeof line, "\n[%zu bytes left out]\n",
	    k->ntail - TAIL_BYTES);
	write_log(k, line, (size_t)n);
	start = k->ntail % TAIL_BYTES;
	write_log(k, k->tail + start, TAIL_BYTES - start);
	write_log(k, k->tail, start);
}

/* ---- the end ---- */

static bool
is_child(const char *pid)
{
	char text[PROCSTAT_BYTES];

	return strtol(procstat(pid, PROCSTAT_PARENT, text), NULL, 10)
	    == (long)getpid();
}

/* Orphans of ours become our children, so that another round meets them. */
static void
kill_children(void)
{
	DIR *dir = opendir("/proc");
	const struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && is_child(e->d_name))
			kill((pid_t)strtol(e->d_name, NULL, 10), SIGKILL);
	closedir(dir);
}

/* Take the ended; false when there are no children. */
static bool
reap(struct keeper *k)
{
	int status;
	pid_t got;

	while ((got = waitpid(-1, &status, WNOHANG)) > 0) {
		if (got != k->child)
			continue;
		k->status = status;
		k->child_ended = true;
	}
	return got == 0;
}

static void
end_all(struct keeper *k)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	if (!k->child_ended)
		kill(-k->child, SIGKILL);
	for (int ms = 0; reap(k) && ms < PATIENCE_MS; ms++) {
		kill_children();
		nanosleep(&pause, NULL);
	}
}

/* ---- the keeper ---- */

static void
on_child(int signal_number)
{
	(void)signal_number; /* it ends ppoll() */
}

static void
watch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_child};
	sigset_t blocked;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
}

static bool
start_child(struct keeper *k, const struct process_job *job, int socket)
{
	const pid_t self = getpid();
	int words[2];
	sigset_t none;

	if (chdir(job->folder) != 0 || pipe2(words, O_CLOEXEC) != 0)
		return false;
	k->log =
	    open(job->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (k->log < 0)
		return false;
	k->child = fork();
	if (k->child == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		become(job, socket, words[1], self);
	}
	setpgid(k->child, k->child); /* whoever of the two comes first */
	close(words[1]);
	k->words = words[0];
	return k->child > 0;
}

/* Keep three descriptors, as 3 to 5: others wait for the end of what we
 * inherited. */
static void
close_others(struct keeper *k)
{
	int *const ours[3] = {&k->leash, &k->log, &k->words};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		*ours[i] = fcntl(*ours[i], F_DUPFD_CLOEXEC, 16);
	for (int i = 0; i < 3; i++)
		*ours[i] = dup2(*ours[i], 3 + i);
	for (int i = 0; i < 3; i++)
		dup2(nothing, i);
	close_range(6, ~0u, 0);
}

/* Until the child has ended or we are told to end it. */
static void
watch(struct keeper *k)
{
	struct pollfd fd[2] = {{.fd = k->leash, .events = POLLIN},
	    {.fd = k->words, .events = POLLIN}};
	sigset_t none;

	sigemptyset(&none);
	while (reap(k) && !k->child_ended) {
		if (ppoll(fd, 2, NULL, &none) < 0 && errno == EINTR)
			continue;
		if (fd[0].revents)
			return;
		if (fd[1].revents && !take_words(k))
			fd[1].fd = -1;
	}
}

_Noreturn void
keeper_main(const struct process_job *job, int socket, int leash)
{
	static struct keeper k;

	k.leash = leash;
	setpgid(0, 0); /* who ends our parent's group does not end us */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	watch_signals();
	if (!start_child(&k, job, socket))
		_exit(1);
	close_others(&k);
	watch(&k);
	end_all(&k);
	finish_words(&k);
	if (send(k.leash, &k.status, sizeof k.status, MSG_NOSIGNAL) < 0) {
		/* nobody is left who wants to know */
	}
	_exit(0);
}
