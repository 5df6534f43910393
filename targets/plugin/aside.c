#include "targets/plugin/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/fd.h"
#include "ir/base/reap.h"

/* TUNING: a runtime loads in a second or two, and machines are busy. */
#define TIMEOUT_NS UINT64_C(60000000000)

/* What goes through the pipe: how it ended, and what was said. */
struct aside_head {
	struct err err;
	size_t nsaid;
};

/* ---- the process ---- */

static _Noreturn void
work_and_tell(int to, const struct aside *a, long parent)
{
	struct aside_head head = {.err = {.kind = ERR_NONE}};
	int null = open("/dev/null", O_RDWR);
	struct buf said;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)parent)
		_exit(0);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	buf_init(&said);
	if (a->work(a->context, &said, &head.err)
	    && (said.n <= limit_of(a->most)
	        || limit_exceeded(a->most, "what it says", &head.err)))
		head.nsaid = said.n;
	if (fd_write_all(to, (const char *)&head, sizeof head))
		fd_write_all(to, said.data, head.nsaid);
	_exit(0);
}

/* ---- the one that reads ---- */

/* All there is until the end, `most` bytes, or the time-out. */
static bool
read_all(int from, struct buf *b, uint64_t most)
{
	uint64_t deadline = clock_ns() + TIMEOUT_NS;
	struct pollfd fd = {.fd = from, .events = POLLIN};
	char piece[4096];

	for (;;) {
		uint64_t now = clock_ns();
		ssize_t n;

		if (now >= deadline)
			return false;
		if (poll(&fd, 1, (int)((deadline - now) / 1000000u) + 1) <= 0)
			continue;
		n = read(from, piece, sizeof piece);
		if (n == 0 || (n < 0 && errno != EINTR) || b->n > most)
			return true;
		if (n > 0)
			buf_add(b, piece, (size_t)n);
	}
}

static bool
take_said(struct buf *said, const struct buf *b, struct err *err)
{
	struct aside_head head;

	memcpy(&head, b->data, sizeof head);
	if (head.err.kind != ERR_NONE) {
		*err = head.err;
		return false;
	}
	if (b->n != sizeof head + head.nsaid)
		return err_set(err, ERR_TARGET, "it broke off");
	buf_add(said, b->data + sizeof head, head.nsaid);
	return true;
}

static bool
take_end(const struct aside *a, int status, bool in_time, struct err *err)
{
	if (!in_time)
		return err_set(err, ERR_TARGET,
		    "no end within %u seconds while %s",
		    (unsigned)(TIMEOUT_NS / 1000000000u), a->doing);
	if (WIFSIGNALED(status))
		return err_set(err, ERR_TARGET,
		    "it died of signal %d (%s) while %s", WTERMSIG(status),
		    strsignal(WTERMSIG(status)), a->doing);
	return err_set(err, ERR_TARGET,
	    "it ended the process while %s (status %d)", a->doing,
	    WEXITSTATUS(status));
}

bool
aside_run(const struct aside *a, struct buf *said, struct err *err)
{
	long parent = (long)getpid();
	int pipe_of[2], status = 0;
	struct buf b;
	bool in_time, ok;
	pid_t child;

	if (pipe(pipe_of) != 0)
		return err_set(err, ERR_IO, "pipe: %s", strerror(errno));
	fflush(NULL); /* or the child would write it again */
	child = fork();
	if (child == 0) {
		close(pipe_of[0]);
		work_and_tell(pipe_of[1], a, parent);
	}
	close(pipe_of[1]);
	if (child < 0) {
		close(pipe_of[0]);
		return err_set(err, ERR_IO, "fork: %s", strerror(errno));
	}
	buf_init(&b);
	in_time = read_all(
	    pipe_of[0], &b, sizeof(struct aside_head) + limit_of(a->most));
	close(pipe_of[0]);
	kill(child, SIGKILL); /* what it had to say has been said */
	status = reap(child);
	ok = b.n >= sizeof(struct aside_head)
	    ? take_said(said, &b, err)
	    : take_end(a, status, in_time, err);
	buf_release(&b);
	return ok;
}
