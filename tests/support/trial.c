#define _DEFAULT_SOURCE
#include "tests/support/trial.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/sanitized.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/host/host.h"

const char *
trial_word(enum verdict v)
{
	static const char *const word[] = {
	    [VERDICT_ACCEPT] = "accept",
	    [VERDICT_REJECT] = "reject",
	    [VERDICT_CRASH] = "CRASH",
	    [VERDICT_SLOW] = "SLOW",
	};

	return word[v];
}

bool
trial_import(const char *path, struct err *err)
{
	struct infer_options o = {.eval = host_eval};
	struct model m;
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = onnx_read(&m, path, NULL, &a, err);
	if (ok) {
		o.notes = &m.notes;
		ok = normalize(m.graph, &o, err) || err_in(err, "%s", path);
		if (ok)
			graph_verify(m.graph);
		model_close(&m);
	}
	arena_release(&a);
	return ok;
}

/* A loaded machine gives little of its time: what counts is processor time, and
 * waiting has a limit of so many times that. */
#define PATIENCE 30

/* Exit status 0: accepted; 1: rejected with a message; else our own bug. */
static _Noreturn void
child(int out, const char *path, double seconds,
    bool (*check)(const char *path, struct err *err))
{
	struct err err = {.kind = ERR_NONE};
	struct rlimit memory = {1u << 30, 1u << 30};
	struct rlimit time = {(rlim_t)seconds, (rlim_t)seconds + 1};

	setrlimit(RLIMIT_CPU, &time);
	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &memory);
	dup2(out, STDERR_FILENO);
	if (check(path, &err))
		_exit(0);
	dprintf(out, "%s", err.text);
	_exit(err.text[0]
	            && (err.kind == ERR_INPUT || err.kind == ERR_UNSUPPORTED)
	        ? 1
	        : 2);
}

static double
now(void)
{
	return (double)clock_ns() / 1e9;
}

/* What the child says until it ends or its time is up; true: it ended. */
static bool
listen_to(int in, struct trial *t, double seconds)
{
	double end = now() + seconds;
	size_t n = 0;

	for (;;) {
		struct pollfd p = {.fd = in, .events = POLLIN};
		double left = end - now();
		char scrap[256];
		ssize_t r;

		if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) <= 0)
			return false;
		r = n < sizeof t->text - 1
		    ? read(in, t->text + n, sizeof t->text - 1 - n)
		    : read(in, scrap, sizeof scrap);
		if (r <= 0)
			return true;
		if (n < sizeof t->text - 1)
			n += (size_t)r;
	}
}

static void
judge(struct trial *t, int status)
{
	t->verdict = VERDICT_CRASH;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		t->verdict = VERDICT_ACCEPT;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
		t->verdict = VERDICT_REJECT;
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		t->verdict = VERDICT_SLOW;
	if (t->verdict != VERDICT_ACCEPT && !t->text[0])
		snprintf(t->text, sizeof t->text, "%s %d",
		    WIFSIGNALED(status) ? "signal" : "exit status",
		    WIFSIGNALED(status) ? WTERMSIG(status)
		                        : WEXITSTATUS(status));
}

void
trial_apart(struct trial *t, const char *path, double seconds,
    bool (*check)(const char *path, struct err *err))
{
	double start = now();
	int pipes[2], status = 0;
	pid_t pid;

	*t = (struct trial){.verdict = VERDICT_CRASH};
	if (pipe(pipes) != 0)
		abort();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(pipes[0]);
		child(pipes[1], path, seconds, check);
	}
	close(pipes[1]);
	if (pid < 0 || !listen_to(pipes[0], t, PATIENCE * seconds)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		t->verdict = VERDICT_SLOW;
		snprintf(t->text, sizeof t->text, "not done in %g s",
		    PATIENCE * seconds);
	} else {
		waitpid(pid, &status, 0);
		judge(t, status);
	}
	close(pipes[0]);
	t->seconds = now() - start;
}
