/* marq batch: models x mixes x shapes from a manifest. Each unit is one
 * `marq search` in a process of its own; what ended is remembered, so a batch
 * can be killed and started again at any time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/batch_state.h"
#include "cli/batch_summary.h"
#include "cli/cli.h"
#include "cli/manifest.h"
#include "cli/progress.h"
#include "ir/base/clock.h"
#include "ir/base/file.h"

extern char **environ;

struct batch {
	struct cli *cli;
	const char *path; /* of the manifest */
	const char *only; /* run only units whose name contains this */
	bool retry_failed, dry_run;
	struct manifest manifest;
	struct unit_status *status; /* [nunits] */
	struct progress progress;
};

enum { KEY_ONLY = 0x300, KEY_RETRY, KEY_DRY };

static const struct argp_option options[] = {
    {"only", KEY_ONLY, "TEXT", 0, "only units whose name contains TEXT", 0},
    {"retry-failed", KEY_RETRY, NULL, 0,
        "also run again what failed in an earlier run", 0},
    {"dry-run", KEY_DRY, NULL, 0,
        "say for each unit what would be measured and how long it would take",
        0},
    {0},
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct batch *b = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = b->cli;
		return 0;
	case KEY_ONLY:
		b->only = arg;
		return 0;
	case KEY_RETRY:
		b->retry_failed = true;
		return 0;
	case KEY_DRY:
		b->dry_run = true;
		return 0;
	case ARGP_KEY_ARG:
		if (b->path)
			argp_error(state, "one manifest at a time");
		b->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no manifest given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* argv of the unit's process. */
static char **
unit_argv(struct batch *b, const struct unit *u)
{
	struct arena *a = b->cli->run;
	char **argv = arena_new(a, char *, u->nargs + 12);
	uint32_t n = 0;

	argv[n++] = arena_str(a, "marq");
	argv[n++] = arena_str(a, "search");
	argv[n++] = arena_str(a, u->model);
	for (uint32_t i = 0; i < u->nargs; i++)
		argv[n++] = arena_str(a, u->arg[i]);
	argv[n++] = arena_str(a, "-o");
	argv[n++] = arena_printf(a, "%s/%s", b->manifest.out, u->name);
	argv[n++] = arena_str(a, "--force");
	argv[n++] = arena_str(a, "--no-progress");
	if (b->dry_run)
		argv[n++] = arena_str(a, "--dry-run");
	else
		argv[n++] = arena_str(a, "--format=json");
	return argv;
}

/* Start a process with stdout (unless a dry run) and stderr in files. */
static bool
start(struct batch *b, const struct unit *u, pid_t *pid, struct err *err)
{
	struct arena *a = b->cli->run;
	const char *stem = arena_printf(a, "%s/%s", b->manifest.out, u->name);
	posix_spawn_file_actions_t files;
	int e;

	posix_spawn_file_actions_init(&files);
	if (!b->dry_run) {
		posix_spawn_file_actions_addopen(&files, STDOUT_FILENO,
		    arena_printf(a, "%s.search.json", stem),
		    O_WRONLY | O_CREAT | O_TRUNC, 0666);
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO,
		    arena_printf(a, "%s.log", stem),
		    O_WRONLY | O_CREAT | O_TRUNC, 0666);
	}
	e = posix_spawn(
	    pid, "/proc/self/exe", &files, NULL, unit_argv(b, u), environ);
	posix_spawn_file_actions_destroy(&files);
	if (e == 0)
		return true;
	return err_set(
	    err, ERR_IO, "unit '%s': cannot start: %s", u->name, strerror(e));
}

static void
sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Wait for a unit's process; a stop or its timeout sends it SIGTERM, five
 * seconds later SIGKILL. Its exit status, 128 + signal when killed. */
static int
await(struct batch *b, pid_t pid)
{
	uint64_t began = clock_ns(), asked = 0;
	uint64_t limit = b->manifest.unit_timeout_ns;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		uint64_t now = clock_ns();
		bool late = limit && now - began > limit;

		if (asked == 0 && (late || atomic_load(b->cli->stop))) {
			kill(pid, SIGTERM);
			asked = now;
		} else if (asked && now - asked > UINT64_C(5000000000)) {
			kill(pid, SIGKILL);
		}
		sleep_ms(20);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* One attempt; false only when it could not even be started or recorded. */
static bool
attempt(struct batch *b, uint32_t i, struct err *err)
{
	const struct unit *u = &b->manifest.unit[i];
	struct unit_status *s = &b->status[i];
	struct arena *a = b->cli->run;
	pid_t pid;

	if (!start(b, u, &pid, err))
		return false;
	s->exit = await(b, pid);
	if (b->dry_run || atomic_load(b->cli->stop))
		return true;
	s->attempts++;
	unit_status_parse(s,
	    arena_printf(a, "%s/%s.search.json", b->manifest.out, u->name), a);
	s->ended = true;
	return unit_status_write(s, &b->manifest, u, err);
}

/* A bad command line or model fails the same way every time. */
static bool
may_pass_next_time(const struct unit_status *s)
{
	return s->exit != err_exit(ERR_USAGE) && s->exit != err_exit(ERR_INPUT);
}

static bool
is_wanted(const struct batch *b, uint32_t i)
{
	const struct unit_status *s = &b->status[i];

	if (b->only && !strstr(b->manifest.unit[i].name, b->only))
		return false;
	if (b->dry_run || !s->ended)
		return true;
	if (s->exit == 0)
		return false;
	return b->retry_failed
	    || (may_pass_next_time(s) && s->attempts <= b->manifest.retries);
}

static bool
run_unit(struct batch *b, uint32_t i, struct err *err)
{
	const struct unit *u = &b->manifest.unit[i];
	uint32_t tries = 0;

	if (b->dry_run) {
		printf("%s:\n", u->name);
		fflush(stdout);
	}
	while (is_wanted(b, i) && !atomic_load(b->cli->stop)
	    && tries++ <= b->manifest.retries) {
		progress_step(&b->progress, i, b->manifest.nunits, u->name);
		if (!attempt(b, i, err))
			return false;
		if (b->status[i].exit != 0 && !b->dry_run)
			cli_say(b->cli, 0, "%s: exit %d: %s", u->name,
			    b->status[i].exit, b->status[i].error);
		if (b->dry_run || !may_pass_next_time(&b->status[i]))
			break;
	}
	return true;
}

/* A run begins when the last one was complete: what it compares with is the
 * summary of that one, kept aside until this one is complete too. */
static bool
begin_run(struct batch *b, const char *before, struct err *err)
{
	struct arena *a = b->cli->run;
	const char *mark = arena_printf(a, "%s/running", b->manifest.out);
	const char *last = arena_printf(a, "%s/summary.json", b->manifest.out);
	int fd;

	if (access(mark, F_OK) == 0)
		return true;
	if (rename(last, before) != 0 && errno != ENOENT)
		return err_set(err, ERR_IO, "%s: %s", last, strerror(errno));
	fd = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return err_set(err, ERR_IO, "%s: %s", mark, strerror(errno));
	close(fd);
	return true;
}

static bool
end_run(struct batch *b, const char *before, struct err *err)
{
	uint32_t regressed, failed = 0;
	struct arena *a = b->cli->run;

	if (!batch_summary_write(
	        &b->manifest, b->status, before, &regressed, a, err))
		return false;
	for (uint32_t i = 0; i < b->manifest.nunits; i++)
		failed += !b->status[i].ended || b->status[i].exit != 0;
	unlink(arena_printf(a, "%s/running", b->manifest.out));
	if (b->cli->format == OUT_TEXT && b->cli->verbosity >= 0)
		printf(
		    "%u units: %u done, %u failed, %u regressed since the last "
		    "run\nwrote %s/summary.md\n",
		    b->manifest.nunits, b->manifest.nunits - failed, failed,
		    regressed, b->manifest.out);
	if (b->cli->format == OUT_JSON)
		printf("{\"schema\": \"marq.batch.end/1\", \"units\": %u, "
		       "\"failed\": %u, \"regressed\": %u, \"exit\": %d}\n",
		    b->manifest.nunits, failed, regressed,
		    failed ? err_exit(ERR_PARTIAL) : 0);
	if (failed)
		return err_set(err, ERR_PARTIAL, "%u of %u units failed",
		    failed, b->manifest.nunits);
	return true;
}

static bool
read_states(struct batch *b, struct err *err)
{
	const struct manifest *m = &b->manifest;

	b->status = arena_new(b->cli->run, struct unit_status, m->nunits);
	for (uint32_t i = 0; i < m->nunits; i++) {
		struct err missing = {.kind = ERR_NONE};

		/* a missing model fails its unit, not the batch */
		if (!unit_fingerprint(
		        &m->unit[i], b->status[i].fingerprint, &missing))
			cli_say(b->cli, 0, "%s", missing.text);
		unit_status_read(&b->status[i], m, &m->unit[i], b->cli->run);
	}
	if (mkdir(m->out, 0777) != 0 && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: cannot make directory: %s",
		    m->out, strerror(errno));
	return true;
}

static bool
run(struct batch *b, struct err *err)
{
	const char *before;

	if (!manifest_read(&b->manifest, b->path, b->cli->run, err)
	    || !read_states(b, err))
		return false;
	before = arena_printf(b->cli->run, "%s/before.json", b->manifest.out);
	if (!b->dry_run && !begin_run(b, before, err))
		return false;
	progress_begin(&b->progress, b->cli);
	for (uint32_t i = 0; i < b->manifest.nunits; i++)
		if (!run_unit(b, i, err))
			return false;
	progress_end(&b->progress);
	if (b->dry_run || atomic_load(b->cli->stop))
		return true;
	return end_run(b, before, err);
}

int
cmd_batch(struct cli *c, int argc, char **argv)
{
	const struct argp_child children[] = {{&cli_common, 0, NULL, 0}, {0}};
	const struct argp argp = {.options = options,
	    .parser = parse,
	    .children = children,
	    .args_doc = "MANIFEST.yaml",
	    .doc = "Search models x mixes x shapes overnight. Start it again "
	           "after any interruption: what ended is not repeated."};
	struct batch b = {.cli = c};
	struct err err = {.kind = ERR_NONE};

	if (!cli_parse(c, &argp, argc, argv, &b, &err) || !run(&b, &err)) {
		/* the summary line is the document of a partial run */
		if (err.kind == ERR_PARTIAL)
			c->format = OUT_TEXT;
		return cli_fail(c, &err);
	}
	return cli_stop_status(0);
}
