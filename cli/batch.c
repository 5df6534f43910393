/* marq batch: models x mixes x shapes from a manifest. Each unit is one
 * `marq search` in a process of its own; what ended is remembered, so a batch
 * can be killed and started again at any time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch_forecast.h"
#include "cli/batch_measure.h"
#include "cli/batch_merge.h"
#include "cli/batch_progress.h"
#include "cli/batch_state.h"
#include "cli/child.h"
#include "cli/manifest.h"
#include "cli/night/store.h"
#include "cli/night/summary.h"
#include "cli/night/tonight.h"
#include "cli/options.h"
#include "cli/shard.h"
#include "cli/summary.h"
#include "cli/units.h"
#include "cli/wanted.h"
#include "ir/base/clock.h"
#include "ir/base/file.h"
#include "ir/base/plural.h"
#include "ir/base/shell.h"
#include "ir/base/stale.h"

/* What --fail-on may name: findings of the night. */
enum fail_on { FAIL_REGRESS, FAIL_DRIFT, FAIL_UNPROVEN, NFAIL_ON };

/* What of it a call does: all at once, or for many machines one after the
 * other. */
enum batch_phase { PHASE_MEASURE, PHASE_MERGE, PHASE_SEARCH, PHASE_ALL };

struct batch {
	struct cli *cli;
	const char *path; /* of the manifest */
	const char *only; /* run only units whose name contains this */
	bool retry_failed, dry_run;
	enum batch_phase phase;
	struct shard shard;
	const char *local;
	bool mixed;
	struct wanted_lists lists; /* of PHASE_SEARCH */
	uint32_t nwanting, nprices; /* units that lack prices; how many */
	struct manifest manifest;
	struct unit_status *status; /* [nunits] */
	bool *ran; /* [nunits] now, and not in an earlier call */
	uint32_t nwanted;
	uint32_t keep; /* nights; 0: all */
	bool fail_on[NFAIL_ON];
	const char *on_end; /* a command of the shell */
	struct batch_reads reads;
	struct tonight tonight;
	struct batch_forecast forecast; /* of a dry run */
	struct batch_progress progress;
};

static const char *const fail_words[NFAIL_ON] = {
    [FAIL_REGRESS] = "regress",
    [FAIL_DRIFT] = "drift",
    [FAIL_UNPROVEN] = "unproven",
};

/* May be given more than once. */
static void
take_fail_on(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	bool *fail_on = at;

	for (int i = 0; i < NFAIL_ON; i++)
		if (strcmp(arg, fail_words[i]) == 0) {
			fail_on[i] = true;
			return;
		}
	argp_error(s->argp, "--fail-on %s: want one of %s", arg, row->value);
}

#define AT(member) offsetof(struct batch, member)

static const struct option_row options[] = {
    {"only", 0, "TEXT", "only units whose name contains TEXT", option_text,
        .at = AT(only)},
    {"retry-failed", 0, NULL, "also run again what failed in an earlier run",
        option_flag, .at = AT(retry_failed)},
    {"phase", 0, "measure|merge|search",
        "for many machines: measure what the units want, into "
        "OUT/shards/I.db; merge these into the database; or search by the "
        "prices there are and measure nothing (exit status 1: some are wanted "
        "still)",
        option_word, .at = AT(phase)},
    {"local", 0, "DIR",
        "of --phase measure: keep the database in DIR, on a disk of this "
        "machine, and copy it to OUT/shards/ (which a network file system may "
        "hold)",
        option_text, .at = AT(local)},
    {"mixed", 0, NULL,
        "of --phase merge: also shards that were measured in different "
        "environments",
        option_flag, .at = AT(mixed)},
    {"shard", 0, "I/N",
        "only a part, the I-th of N (of 0..N-1): of a phase what is its by "
        "content (default: what the scheduler of a job array says); else "
        "every N-th unit, with a database of its own, OUT/shards/I.db; no "
        "summary",
        .take = shard_take, .at = AT(shard)},
    {"locks", 0, "DIR",
        "one measurement at a time on a core also beside users and containers that "
        "share folder DIR (default $MARQ_LOCKS; processes of one host need "
        "none)",
        .take = option_locks},
    {"dry-run", 0, NULL,
        "say for each unit what would be measured and how long it would take",
        option_flag, .at = AT(dry_run)},
    {"keep", 0, "N", "forget all nights but the last N", option_count,
        .at = AT(keep), .low = 1, .high = 100000},
    {"fail-on", 0, "regress|drift|unproven",
        "exit status 1 when a search costs more than the night before beyond "
        "noise, when prices drifted, or when a plan is not proven; may be "
        "given more than once",
        .take = take_fail_on, .at = AT(fail_on)},
    {"on-end", 0, "CMD",
        "run CMD by the shell when the batch has ended, with summary.json on "
        "its standard input",
        option_text, .at = AT(on_end)},
    {0},
};

/* argv of the unit's process. */
static char **
unit_argv(struct batch *b, const struct unit *u)
{
	struct arena *a = b->cli->run;
	char **argv = arena_new(a, char *, u->nargs + 16);
	uint32_t n = 0;

	argv[n++] = arena_str(a, "marq");
	argv[n++] = arena_str(a, "search");
	argv[n++] = arena_str(a, u->model);
	for (uint32_t i = 0; i < u->nargs; i++)
		argv[n++] = arena_str(a, u->arg[i]);
	argv[n++] = arena_str(a, "-o");
	argv[n++] = arena_printf(a, "%s/%s", b->manifest.out, u->name);
	if (b->phase == PHASE_SEARCH) {
		argv[n++] = arena_str(a, "--no-measure");
		argv[n++] = arena_str(a, "--unpriced=bound");
	} else if (b->shard.n) {
		argv[n++] = arena_str(a, "--db");
		argv[n++] = arena_printf(
		    a, "%s/shards/%u.db", b->manifest.out, b->shard.i);
	}
	argv[n++] = arena_str(a, "--force");
	argv[n++] = arena_str(a, "--no-progress");
	if (b->progress.out >= 0)
		argv[n++] =
		    arena_printf(a, "--progress-fd=%d", b->progress.out);
	if (b->dry_run)
		argv[n++] = arena_str(a, "--dry-run");
	argv[n++] = arena_str(a, "--format=json");
	return argv;
}

/* Where a unit's document goes. */
static const char *
answer_path(const struct batch *b, const struct unit *u)
{
	return arena_printf(b->cli->run, "%s/%s.%s.json", b->manifest.out,
	    u->name, b->dry_run ? "dry-run" : "search");
}

/* Is a unit one of this shard? */
static bool
is_ours(const struct batch *b, uint32_t i)
{
	if (b->phase == PHASE_SEARCH)
		return shard_owns_text(
		    &b->shard, b->manifest.unit[i].model_name);
	return b->shard.n == 0 || i % b->shard.n == b->shard.i;
}

/* An attempt has ended. Options of the manifest may have made something else of the
 * search ("--help"), or of its answer ("--"). */
static bool
record(struct batch *b, uint32_t i, struct err *err)
{
	const struct unit *u = &b->manifest.unit[i];
	struct unit_status *s = &b->status[i];
	struct err why = {.kind = ERR_NONE};
	bool searched =
	    unit_status_parse(s, answer_path(b, u), b->cli->run, &why);

	s->attempts++;
	if (s->exit == 0 && !searched) {
		s->exit = err_exit(why.kind);
		s->error = arena_str(b->cli->run, why.text);
	} else if (s->exit != 0 && s->error[0] == '\0') {
		s->error = arena_printf(b->cli->run, "%s/%s.log may say why",
		    b->manifest.out, u->name);
	}
	s->ended = true;
	return unit_status_write(s, &b->manifest, u, err);
}

/* One attempt; false only when it could not even be started or recorded. */
static bool
attempt(struct batch *b, uint32_t i, struct err *err)
{
	const struct unit *u = &b->manifest.unit[i];
	struct unit_status *s = &b->status[i];
	const char *log = b->dry_run
	    ? NULL
	    : arena_printf(b->cli->run, "%s/%s.log", b->manifest.out, u->name);
	const uint64_t began = clock_ns();
	pid_t pid;

	if (!child_start(&pid, unit_argv(b, u), answer_path(b, u), log, err))
		return err_in(err, "unit '%s'", u->name);
	s->exit = child_await(pid, b->manifest.unit_timeout_ns, b->cli->stop,
	    batch_progress_tick, &b->progress);
	batch_progress_tick(&b->progress); /* what it said last */
	if (b->dry_run || atomic_load(b->cli->stop))
		return true;
	s->took_ms += (clock_ns() - began) / 1000000;
	return record(b, i, err);
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

	if (!is_ours(b, i))
		return false;
	if (b->only && !strstr(b->manifest.unit[i].name, b->only))
		return false;
	if (!s->ended)
		return true;
	if (s->exit == 0)
		return false;
	return b->retry_failed
	    || (may_pass_next_time(s) && s->attempts <= b->manifest.retries);
}

/* What a unit would measure; one that fails even so is named, and counted as
 * nothing. */
static bool
forecast_unit(struct batch *b, uint32_t i, struct err *err)
{
	const struct unit *u = &b->manifest.unit[i];
	struct unit_forecast f;
	char text[32];
	bool ok;

	if (!is_wanted(b, i)) {
		if (b->cli->format == OUT_TEXT)
			printf("%s: ended already\n", u->name);
		return true;
	}
	progress_unit(&b->progress.line, u->name);
	if (!attempt(b, i, err))
		return false;
	progress_unit_end(&b->progress.line, !atomic_load(b->cli->stop));
	progress_end(&b->progress.line);
	ok = b->status[i].exit != 0
	    || batch_forecast_add(&b->forecast, answer_path(b, u), &f, err);
	unlink(answer_path(b, u));
	if (!ok || b->cli->format != OUT_TEXT)
		return ok;
	if (b->status[i].exit != 0) {
		printf("%s: would fail with exit status %d\n", u->name,
		    b->status[i].exit);
		return true;
	}
	printf("%s: %u to measure", u->name, f.missing - f.shared);
	if (f.shared)
		printf(" and %u that earlier units measure", f.shared);
	if (f.ns)
		printf(", %s", format_duration(f.ns, text, sizeof text));
	putchar('\n');
	return true;
}

static void
forecast_end(const struct batch *b)
{
	const struct batch_forecast *f = &b->forecast;

	if (b->cli->format == OUT_TEXT) {
		printf("%u of %u unit%s: ", f->units, b->manifest.nunits,
		    plural(b->manifest.nunits));
		forecast_print(f->missing, f->ns, f->workers, f->attempts);
		return;
	}
	printf("{\"schema\": \"marq.batch.dry-run/1\", \"units\": %u, "
	       "\"to_run\": %u, \"to_measure\": %u, \"measuring_ns\": "
	       "%llu, \"attempts_on_record\": %llu, \"exit\": 0}\n",
	    b->manifest.nunits, f->units, f->missing, (unsigned long long)f->ns,
	    (unsigned long long)f->attempts);
}

static void
say_failed(struct batch *b, uint32_t i)
{
	progress_end(&b->progress.line);
	cli_say(b->cli, 0, "%s: exit %d: %s", b->manifest.unit[i].name,
	    b->status[i].exit, b->status[i].error);
}

/* A search that measures nothing waits until all it wants has a price; a unit
 * that cannot say what that is has failed. */
static bool
has_prices(struct batch *b, uint32_t i, bool *has, struct err *err)
{
	const struct unit *u = &b->manifest.unit[i];
	struct unit_status *s = &b->status[i];
	const char *list;
	uint32_t n = 0;

	*has = false;
	b->lists.answer = answer_path(b, u);
	if (!wanted_list(&b->lists, u, true, &list, &s->exit, err))
		return false;
	if (atomic_load(b->cli->stop))
		return true;
	if (s->exit != 0) {
		b->ran[i] = true;
		return record(b, i, err) && (say_failed(b, i), true);
	}
	unlink(answer_path(b, u));
	if (!wanted_count(list, &n, err))
		return false;
	*has = n == 0;
	b->nwanting += n > 0;
	b->nprices += n;
	return n > 0 || unlink(list) == 0 || errno == ENOENT
	    || err_set(err, ERR_IO, "%s: %s", list, strerror(errno));
}

static bool
run_unit(struct batch *b, uint32_t i, struct err *err)
{
	const struct unit *u = &b->manifest.unit[i];
	uint32_t tries = 0;
	bool again = true;

	if (b->dry_run)
		return forecast_unit(b, i, err);
	if (b->phase == PHASE_SEARCH && is_wanted(b, i)
	    && !has_prices(b, i, &again, err))
		return false;
	while (again && is_wanted(b, i) && !atomic_load(b->cli->stop)) {
		tries++;
		b->ran[i] = true;
		progress_unit(&b->progress.line, u->name);
		if (!attempt(b, i, err))
			return false;
		again = tries <= b->manifest.retries && is_wanted(b, i)
		    && may_pass_next_time(&b->status[i]);
		progress_unit_end(&b->progress.line, !again);
		if (b->status[i].exit != 0)
			say_failed(b, i);
	}
	return tries == 0 || b->shard.n || !b->status[i].ended
	    || tonight_took(&b->tonight, &b->manifest, i, &b->status[i], err);
}

/* Units that are not run again clean up too. */
static bool
is_unit_of_ours(const char *stem, const void *context)
{
	const struct batch *b = context;

	for (uint32_t i = 0; i < b->manifest.nunits; i++) {
		const char *name = b->manifest.unit[i].name;
		size_t n = strlen(name);

		if (is_ours(b, i) && strncmp(stem, name, n) == 0
		    && (stem[n] == '\0'
		        || strcmp(stem + n, ".status.json") == 0))
			return true;
	}
	return false;
}

/* A shard has no summary: whoever merges the shards makes it. */
static bool
end_shard(const struct batch *b, struct err *err)
{
	uint32_t n = 0, failed = 0, kept = 0;

	for (uint32_t i = 0; i < b->manifest.nunits; i++) {
		if (!is_ours(b, i))
			continue;
		n++;
		kept += b->status[i].ended && !b->ran[i];
		failed += b->status[i].ended && b->status[i].exit != 0;
	}
	if (b->cli->format == OUT_JSON)
		printf("{\"schema\": \"marq.batch.shard/1\", \"shard\": %u, "
		       "\"shards\": %u, \"units\": %u, \"kept\": %u, "
		       "\"failed\": %u, \"wanting\": %u}\n",
		    b->shard.i, b->shard.n, n, kept, failed, b->nwanting);
	else if (b->cli->verbosity >= 0)
		printf("shard %u of %u: %u of %u unit%s, %u failed%s\n",
		    b->shard.i, b->shard.n, n, b->manifest.nunits,
		    plural(b->manifest.nunits), failed,
		    kept && kept == n ? "; all had ended before" : "");
	return failed == 0
	    || err_set(err, ERR_PARTIAL, "%u of %u unit%s failed", failed, n,
	        plural(n));
}

struct tally {
	uint32_t done, failed, left; /* left: --only was not about them */
	uint32_t kept; /* done by an earlier call: nothing has changed */
	uint32_t regressed;
};

static void
print_end(const struct batch *b, const struct tally *t)
{
	if (b->cli->format == OUT_JSON) {
		printf("{\"schema\": \"marq.batch.end/1\", \"units\": %u, "
		       "\"kept\": %u, \"failed\": %u, \"not_run\": %u, "
		       "\"wanting\": %u, \"regressed\": %u, \"exit\": %d}\n",
		    b->manifest.nunits, t->kept, t->failed, t->left,
		    b->nwanting, t->regressed,
		    t->failed         ? err_exit(ERR_PARTIAL)
		        : b->nwanting ? err_exit(ERR_VERDICT)
		                      : 0);
		return;
	}
	if (b->cli->verbosity < 0)
		return;
	printf("%u unit%s: %u done, ", b->manifest.nunits,
	    plural(b->manifest.nunits), t->done);
	if (t->kept)
		printf("%u done before, ", t->kept);
	printf("%u failed, ", t->failed);
	if (t->left)
		printf("%u not run yet, ", t->left);
	printf("%u regressed since the last run\nwrote %s/summary.html\n",
	    t->regressed, b->manifest.out);
}

/* Whoever is told of the night's end: a mail, a chat. */
static void
tell_end(const struct batch *b)
{
	const char *path =
	    arena_printf(b->cli->run, "%s/summary.json", b->manifest.out);
	int status;

	if (!b->on_end)
		return;
	status = child_shell(b->on_end, path, b->cli->stop);
	if (status != 0)
		cli_say(b->cli, 0, "warning: --on-end: exit status %d", status);
}

/* The answer is no, where --fail-on asked. */
static bool
is_bad(const struct batch *b, const struct night_findings *f)
{
	const uint32_t n[NFAIL_ON] = {
	    [FAIL_REGRESS] = f->count[EVENT_REGRESSED],
	    [FAIL_DRIFT] = f->count[EVENT_DRIFT],
	    [FAIL_UNPROVEN] =
	        f->count[EVENT_UNPROVEN] + f->count[EVENT_LOST_PROOF],
	};

	for (int i = 0; i < NFAIL_ON; i++)
		if (b->fail_on[i] && n[i])
			return true;
	return false;
}

static void
count(struct tally *t, const struct batch *b)
{
	for (uint32_t i = 0; i < b->manifest.nunits; i++) {
		const struct unit_status *s = &b->status[i];

		*(!s->ended          ? &t->left
		        : s->exit    ? &t->failed
		        : !b->ran[i] ? &t->kept
		                     : &t->done) += 1;
	}
}

static bool
end_night(struct batch *b, struct summary *s, struct err *err)
{
	struct tonight *t = &b->tonight;
	struct arena *a = b->cli->run;
	uint32_t gone;

	if (!tonight_end(t, &b->manifest, b->status, err)
	    || (b->keep && !store_prune(&t->history, b->keep, &gone, a, err)))
		return false;
	return summary_make(s, &t->history, t->history.n - 1, b->path, a, err)
	    && summary_write(s, err);
}

static bool
end_run(struct batch *b, struct err *err)
{
	struct tally t = {.done = 0};
	struct summary s;

	if (!end_night(b, &s, err))
		return false;
	t.regressed = s.findings.count[EVENT_REGRESSED];
	count(&t, b);
	print_end(b, &t);
	tell_end(b);
	if (t.failed)
		return err_set(err, ERR_PARTIAL, "%u of %u unit%s failed",
		    t.failed, b->manifest.nunits, plural(b->manifest.nunits));
	if (is_bad(b, &s.findings))
		b->cli->status = err_exit(ERR_VERDICT);
	return true;
}

static bool
read_states(struct batch *b, struct err *err)
{
	const struct manifest *m = &b->manifest;

	batch_reads_init(&b->reads, b->cli->run);
	b->status = arena_new(b->cli->run, struct unit_status, m->nunits);
	b->ran = arena_new(b->cli->run, bool, m->nunits);
	for (uint32_t i = 0; i < m->nunits; i++) {
		struct err missing = {.kind = ERR_NONE};

		/* a missing model fails its unit, not the batch */
		if (!unit_fingerprint(&b->reads, &m->unit[i],
		        b->status[i].fingerprint, &missing))
			cli_say(b->cli, 0, "%s", missing.text);
		unit_status_read(&b->status[i], m, &m->unit[i], b->cli->run);
		b->nwanted += is_wanted(b, i);
	}
	if (mkdir(m->out, 0777) != 0 && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: cannot make directory: %s",
		    m->out, strerror(errno));
	return true;
}

/* Another round of measuring is needed. */
static void
say_wanting(const struct batch *b)
{
	if (b->nwanting == 0)
		return;
	b->cli->status = err_exit(ERR_VERDICT);
	cli_say(b->cli, 0,
	    "%u unit%s wait%s for %u measurement%s; next: marq batch %s --phase "
	    "measure",
	    b->nwanting, plural(b->nwanting), b->nwanting == 1 ? "s" : "",
	    b->nprices, plural(b->nprices), shell_quote(b->path, b->cli->run));
}

static bool
is_any(const char *stem, const void *context)
{
	(void)stem, (void)context;
	return true;
}

/* What batches left that were killed. */
static void
remove_leftovers(struct batch *b)
{
	stale_remove_in(b->manifest.out, is_unit_of_ours, b);
	stale_remove_in(arena_printf(b->cli->run, "%s/nights", b->manifest.out),
	    is_any, NULL);
}

static bool
run(struct batch *b, struct err *err)
{
	bool ok = true;

	if (!read_states(b, err))
		return false;
	wanted_lists_init(&b->lists, b->cli, &b->manifest);
	if (!b->dry_run)
		remove_leftovers(b);
	if (!b->dry_run && !b->shard.n
	    && !tonight_begin(&b->tonight, &b->manifest, b->status, b->nwanted,
	        b->cli->run, err))
		return false;
	batch_forecast_init(&b->forecast, b->cli->run);
	batch_progress_begin(&b->progress, b->cli, b->nwanted);
	for (uint32_t i = 0; i < b->manifest.nunits && ok; i++)
		ok = run_unit(b, i, err);
	batch_progress_end(&b->progress);
	if (!ok)
		return false;
	if (b->dry_run)
		forecast_end(b);
	if (b->dry_run || atomic_load(b->cli->stop))
		return true;
	say_wanting(b);
	if (b->phase == PHASE_SEARCH && b->shard.n == 0 && b->nwanting == 0)
		wanted_forget(&b->lists);
	return b->shard.n ? end_shard(b, err) : end_run(b, err);
}

static bool
run_phase(struct batch *b, struct err *err)
{
	const struct batch_measure measure = {.cli = b->cli,
	    .manifest = &b->manifest,
	    .shard = &b->shard,
	    .only = b->only,
	    .local = b->local,
	    .progress = &b->progress};

	if ((b->phase == PHASE_MEASURE || b->phase == PHASE_SEARCH)
	    && !shard_settle(&b->shard, err))
		return false;
	if (!manifest_read(&b->manifest, b->path, b->cli->run, err))
		return false;
	if (b->phase == PHASE_MERGE)
		return batch_merge(b->cli, &b->manifest, b->mixed, err);
	if (b->phase != PHASE_MEASURE)
		return run(b, err);
	batch_progress_begin(&b->progress, b->cli, b->manifest.nunits);
	return batch_measure(&measure, err);
}

static void
check(struct option_state *s)
{
	const struct batch *b = s->args;

	if (b->dry_run && b->phase != PHASE_ALL)
		argp_error(s->argp, "--dry-run is of a batch on one machine");
}

static const struct command_line line = {
    .options = options,
    .operands = {option_text, AT(path), 1, "one manifest at a time",
        "no manifest given"},
    .args_doc = "MANIFEST.yaml",
    .doc = "Search models x mixes x shapes overnight. Start it again "
           "after any interruption: what ended is not repeated.",
    .check = check,
};

bool
cmd_batch(struct cli *c, int argc, char **argv, struct err *err)
{
	struct batch b = {.cli = c, .phase = PHASE_ALL};

	if (!cli_parse(c, &line, argc, argv, &b, err))
		return false;
	if (run_phase(&b, err))
		return true;
	/* the summary line is the document of a partial run */
	if (err->kind == ERR_PARTIAL)
		c->format = OUT_TEXT;
	return false;
}
