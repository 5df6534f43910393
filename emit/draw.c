#include "emit/draw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/clock.h"

/* TUNING: 1,000 regions take half a second; more than this is not worth it */
#define DRAW_MS 10000
/* TUNING: a drawing beyond this would make the page slow */
#define DRAW_BYTES ((size_t)2 << 20)

extern char **environ;

/* The child, reading in[0] and writing out[1]; -1 when there is no such
 * program. */
static pid_t
start(const int in[2], const int out[2])
{
	char *argv[] = {(char[]){"dot"}, (char[]){"-Tsvg"}, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int e;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(
	    &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	e = posix_spawnp(&pid, "dot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return e == 0 ? pid : -1;
}

/* Write what fits; closes the descriptor (and forgets it) at the end. */
static void
feed(struct pollfd *to, const char *dot, size_t n, size_t *sent)
{
	ssize_t w = write(to->fd, dot + *sent, n - *sent);

	if (w > 0)
		*sent += (size_t)w;
	if ((w < 0 && errno != EAGAIN && errno != EINTR) || *sent == n) {
		close(to->fd);
		to->fd = -1;
	}
}

/* Feed and read until the child closes its output: true. */
static bool
converse(int in, int out, const char *dot, size_t n, struct buf *svg)
{
	int64_t end = (int64_t)(clock_ns() / 1000000) + DRAW_MS;
	size_t sent = 0;
	struct pollfd fd[] = {{in, POLLOUT, 0}, {out, POLLIN, 0}};
	bool done = false;

	fcntl(in, F_SETFL, O_NONBLOCK);
	while (!done && svg->n < DRAW_BYTES) {
		int64_t left = end - (int64_t)(clock_ns() / 1000000);
		char part[65536];
		ssize_t r;

		if (left <= 0 || (poll(fd, 2, (int)left) < 0 && errno != EINTR))
			break;
		if (fd[0].fd >= 0 && fd[0].revents)
			feed(&fd[0], dot, n, &sent);
		if (!fd[1].revents)
			continue;
		r = read(out, part, sizeof part);
		if (r > 0)
			buf_add(svg, part, (size_t)r);
		done = r == 0;
	}
	if (fd[0].fd >= 0)
		close(fd[0].fd);
	return done;
}

/* Keep from "<svg" on. */
static bool
strip_prolog(struct buf *svg)
{
	char *begin = svg->data ? strstr(svg->data, "<svg") : NULL;

	if (!begin)
		return false;
	svg->n -= (size_t)(begin - svg->data);
	memmove(svg->data, begin, svg->n + 1);
	return true;
}

static bool
run(struct buf *svg, const char *dot, size_t n, const char **why)
{
	int in[2], out[2] = {-1, -1}, status = 0;
	pid_t pid;
	bool done;

	*why = "no pipe could be made";
	if (pipe(in) != 0)
		return false;
	if (pipe(out) != 0) {
		close(in[0]);
		close(in[1]);
		return false;
	}
	fcntl(in[1], F_SETFD, FD_CLOEXEC);
	fcntl(out[0], F_SETFD, FD_CLOEXEC);
	pid = start(in, out);
	close(in[0]);
	close(out[1]);
	if (pid < 0) {
		close(in[1]);
		close(out[0]);
		*why = "graphviz (dot) is not installed";
		return false;
	}
	done = converse(in[1], out[0], dot, n, svg);
	close(out[0]);
	if (!done)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	*why = done ? "graphviz (dot) failed" : "drawing took too long";
	return done && WIFEXITED(status) && WEXITSTATUS(status) == 0
	    && strip_prolog(svg);
}

bool
draw_svg(struct buf *svg, const char *dot, size_t n, const char **why)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	bool ok;

	/* a child that dies early must not end us */
	sigaction(SIGPIPE, &ignore, &before);
	ok = run(svg, dot, n, why);
	sigaction(SIGPIPE, &before, NULL);
	return ok;
}
