#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#endif
#include "targets/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/reap.h"

/* The end of a log is all that is looked at. */
#define WORDS_MAX 4096

static bool
start(struct process *p, const struct process_job *job, int socket,
    struct err *err)
{
	int leash[2];

	*p = (struct process){.socket = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, leash) != 0)
		return err_set(err, ERR_IO, "socketpair: %s", strerror(errno));
	fflush(NULL); /* or the child would write it again */
	p->keeper = fork();
	if (p->keeper == 0) {
		close(leash[1]);
		keeper_main(job, socket, leash[0]);
	}
	close(leash[0]);
	if (p->keeper < 0) {
		close(leash[1]);
		p->keeper = 0;
		return err_set(err, ERR_IO, "fork: %s", strerror(errno));
	}
	p->leash = leash[1];
	return true;
}

/* Wait until all of it ended or its time is up; true when it ended. */
static bool
wait_for(int leash, uint32_t timeout_ms)
{
	uint64_t end = clock_ns() + (uint64_t)timeout_ms * 1000000;
	struct pollfd fd = {.fd = leash, .events = POLLIN};

	for (;;) {
		uint64_t now = clock_ns();
		int n;

		if (now >= end)
			return false;
		n = poll(&fd, 1, (int)((end - now + 999999) / 1000000));
		if (n > 0)
			return true;
		if (n < 0 && errno != EINTR)
			return true;
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

/* The keeper says it when everything ended, unless it was killed. */
static int
last_status(int leash)
{
	int status = 0;
	ssize_t n;

	do
		n = recv(leash, &status, sizeof status, MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	return n == sizeof status ? status : 125 << 8;
}

/* End what is left of it after so long; its status. */
static struct process_end
finish(struct process *p, uint32_t timeout_ms)
{
	bool ended = wait_for(p->leash, timeout_ms);
	int status;

	if (!ended)
		shutdown(p->leash, SHUT_WR);
	status = last_status(p->leash);
	close(p->leash);
	reap(p->keeper);
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
