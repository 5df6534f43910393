#include "targets/plugin/greet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/fd.h"
#include "targets/plugin/library.h"
#include "targets/plugin/options.h"

/* TUNING: a runtime loads in a second or two, and machines are busy. */
#define TIMEOUT_NS UINT64_C(60000000000)
/* TUNING: bytes of a declaration, and of facts. */
#define ABOUT_MAX ((size_t)1 << 20)
#define FACTS_MAX ((size_t)1 << 16)

/* What goes through the pipe: this, the declaration, the facts. */
struct greeting_head {
	struct err err;
	size_t nabout, nfacts;
};

/* ---- the process that loads it ---- */

/* A fact as one line. */
static void
on_fact(void *context, const char *key, const char *value)
{
	struct buf *b = context;
	size_t nkey, nvalue;

	if (!key || !value)
		return;
	nkey = strcspn(key, "=\n");
	nvalue = strcspn(value, "\n");
	if (nkey > 0 && b->n + nkey + nvalue < FACTS_MAX)
		buf_printf(
		    b, "fact.%.*s=%.*s\n", (int)nkey, key, (int)nvalue, value);
}

static bool
take_facts(const struct marq_plugin *p, struct marq_target *target,
    struct buf *b, struct err *err)
{
	const struct marq_sink sink = {
	    .size = sizeof sink, .context = b, .fact = on_fact};
	struct said said;
	marq_status status;

	said_init(&said);
	status = p->environment(target, &sink, &said.error);
	return status == MARQ_OK
	    || err_set(
	        err, ERR_TARGET, "environment: %s", said_line(&said, status));
}

/* Load, read, open, ask. What was found out so far is told in any case. */
static bool
greet(const struct target *t, const char *path, struct marq_plugin *p,
    struct buf *facts, struct arena *a, struct err *err)
{
	struct about about;
	struct target named = *t;
	struct marq_target *target;

	if (!library_load(p, path, err))
		return false;
	if (strnlen(p->about, ABOUT_MAX) == ABOUT_MAX)
		return err_set(err, ERR_TARGET,
		    "what it says of itself is longer than %zu bytes",
		    ABOUT_MAX);
	if (!about_read(&about, p->about, strlen(p->about), a, err)
	    || !options_settle(&named, about.option, a, err)
	    || !library_open(p, named.option, named.noptions, &target, err))
		return false;
	if (!take_facts(p, target, facts, err))
		return false;
	p->close(target);
	return true;
}

static _Noreturn void
greet_and_tell(int to, const struct target *t, const char *path, long parent)
{
	struct greeting_head head = {.err = {.kind = ERR_NONE}};
	struct marq_plugin p = {.size = 0};
	int null = open("/dev/null", O_RDWR);
	struct arena a;
	struct buf facts;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != (pid_t)parent)
		_exit(0);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	arena_init(&a);
	buf_init(&facts);
	if (greet(t, path, &p, &facts, &a, &head.err)) {
		head.nabout = strlen(p.about);
		head.nfacts = facts.n;
	}
	if (fd_write_all(to, (const char *)&head, sizeof head)
	    && fd_write_all(to, p.about, head.nabout))
		fd_write_all(to, facts.data, head.nfacts);
	_exit(0);
}

/* ---- the one that reads ---- */

/* All there is until the end, or the time-out. */
static bool
read_all(int from, struct buf *b)
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
		if (n == 0 || (n < 0 && errno != EINTR)
		    || b->n > ABOUT_MAX + 2 * FACTS_MAX)
			return true;
		if (n > 0)
			buf_add(b, piece, (size_t)n);
	}
}

static bool
take_greeting(
    struct greeting *out, const struct buf *b, struct arena *a, struct err *err)
{
	struct greeting_head head;

	memcpy(&head, b->data, sizeof head);
	if (head.err.kind != ERR_NONE) {
		*err = head.err;
		return false;
	}
	if (head.nabout > ABOUT_MAX || head.nfacts > FACTS_MAX
	    || b->n != sizeof head + head.nabout + head.nfacts)
		return err_set(err, ERR_TARGET, "it broke off");
	out->facts =
	    arena_strn(a, b->data + sizeof head + head.nabout, head.nfacts);
	return about_read(
	    &out->about, b->data + sizeof head, head.nabout, a, err);
}

static bool
take_end(int status, bool in_time, struct err *err)
{
	if (!in_time)
		return err_set(err, ERR_TARGET,
		    "it did not open within %u seconds",
		    (unsigned)(TIMEOUT_NS / 1000000000u));
	if (WIFSIGNALED(status))
		return err_set(err, ERR_TARGET,
		    "it died of signal %d (%s) while it was opened",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	return err_set(err, ERR_TARGET,
	    "it ended the process while it was opened (status %d)",
	    WEXITSTATUS(status));
}

bool
plugin_greet(struct greeting *out, const struct target *t, const char *path,
    struct arena *a, struct err *err)
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
		greet_and_tell(pipe_of[1], t, path, parent);
	}
	close(pipe_of[1]);
	if (child < 0) {
		close(pipe_of[0]);
		return err_set(err, ERR_IO, "fork: %s", strerror(errno));
	}
	buf_init(&b);
	in_time = read_all(pipe_of[0], &b);
	close(pipe_of[0]);
	kill(child, SIGKILL); /* what it had to say has been said */
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	ok = b.n >= sizeof(struct greeting_head)
	    ? take_greeting(out, &b, a, err)
	    : take_end(status, in_time, err);
	buf_release(&b);
	return ok;
}
