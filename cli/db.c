/* marq db: looking after the tuning database. */
#include "cli/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/paths.h"
#include "cli/units.h"
#include "ir/base/buf.h"
#include "ir/base/nearest.h"

enum {
	KEY_DB = 0x400,
	KEY_FACT,
	KEY_OUTCOME,
	KEY_BEFORE,
	KEY_SUBJECT,
	KEY_KEEP,
	KEY_RETIRED,
	KEY_REALLY,
	KEY_LINES,
};

static const struct argp_option options[] = {
    {"db", KEY_DB, "FILE", 0, "the database (default: as `marq search`)", 0},
    {0, 0, NULL, 0, "Which figures (list, invalidate):", 1},
    {"fact", KEY_FACT, "KEY=VALUE", 0,
        "taken in an environment with this hard fact", 1},
    {"outcome", KEY_OUTCOME, "WORD", 0,
        "ok, unsupported, wrong_result, timeout, crash, oom or noisy", 1},
    {"before", KEY_BEFORE, "DATE|DAYS", 0,
        "taken before 2026-11-21, or more than DAYS days ago", 1},
    {"subject", KEY_SUBJECT, "TEXT", 0, "whose description has TEXT in it", 1},
    {"retired", KEY_RETIRED, NULL, 0, "list retired ones too", 1},
    {0, 0, NULL, 0,
        "Deleting (gc, invalidate only count without --really):", 2},
    {"keep", KEY_KEEP, "N", 0,
        "gc: newest figures kept of each subject and environment", 2},
    {"really", KEY_REALLY, NULL, 0, "do it", 2},
    {0, 0, NULL, 0, "Export:", 3},
    {"jsonl", KEY_LINES, NULL, 0,
        "JSON lines rather than a database in one file", 3},
    {0},
};

static const struct {
	const char *name, *args;
	uint32_t min, max;
	db_verb *run;
	const char *what;
} verbs[] = {
    {"stat", "", 0, 0, db_stat_verb, "how much of what is in it"},
    {"list", "", 0, 0, db_list_verb, "one line a subject and environment"},
    {"show", "KEY", 1, 1, db_show_verb, "everything about one subject"},
    {"merge", "FILE...", 1, 64, db_merge_verb, "add what other databases have"},
    {"export", "FILE", 1, 1, db_export_verb,
        "a copy to hand on; --jsonl: text (-: stdout)"},
    {"import", "FILE...", 1, 64, db_import_verb, "add JSON lines (-: stdin)"},
    {"gc", "", 0, 0, db_gc_verb, "drop retired and superseded figures"},
    {"verify", "", 0, 0, db_verify_verb,
        "look for damage, deeply; status 1 if there is"},
    {"invalidate", "", 0, 0, db_invalidate_verb,
        "retire figures: they count no more"},
    {"migrate", "", 0, 0, db_migrate_verb,
        "bring an older file forward (a backup first)"},
    {"backup", "FILE", 1, 1, db_backup_verb, "a copy, even while others write"},
};

#define NVERBS (sizeof verbs / sizeof *verbs)

/* What argp shows behind the options. */
static const char *
describe_verbs(struct arena *a)
{
	struct buf b;
	const char *text;

	buf_init(&b);
	buf_str(&b, "Look after the tuning database.\vVerbs:\n");
	for (size_t i = 0; i < NVERBS; i++)
		buf_printf(&b, "  %-20s %s\n",
		    arena_printf(a, "%s %s", verbs[i].name, verbs[i].args),
		    verbs[i].what);
	buf_str(&b,
	    "  canary MODEL -t T    time stored figures again: has the machine "
	    "drifted?\n");
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

/* "2026-11-21" (or any prefix-ordered UTC time), or a number of days back. */
static const char *
parse_before(struct db_args *d, const char *arg, struct argp_state *state)
{
	char *end, *text;
	long days = strtol(arg, &end, 10);
	time_t then = time(NULL);
	struct tm tm;

	if (strlen(arg) >= 10 && arg[4] == '-' && arg[7] == '-')
		return arg;
	if (*arg == '\0' || *end != '\0' || days < 0 || days > 100000)
		argp_error(state,
		    "--before %s: want a date (2026-11-21) or a number of "
		    "days",
		    arg);
	then -= (time_t)days * 86400;
	gmtime_r(&then, &tm);
	text = arena_alloc(d->cli->run, 24);
	strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

static error_t
parse_operand(struct db_args *d, const char *arg, struct argp_state *state)
{
	if (!d->verb) {
		d->verb = arg;
		return 0;
	}
	if (d->nargs == sizeof d->arg / sizeof *d->arg)
		argp_error(state, "too many arguments");
	d->arg[d->nargs++] = arg;
	return 0;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct db_args *d = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = d->cli;
		return 0;
	case KEY_DB:
		d->db = arg;
		return 0;
	case KEY_FACT:
		d->where.fact = arg;
		return 0;
	case KEY_OUTCOME:
		d->where.outcome = arg;
		return 0;
	case KEY_BEFORE:
		d->where.before_utc = parse_before(d, arg, state);
		return 0;
	case KEY_SUBJECT:
		d->where.subject = arg;
		return 0;
	case KEY_KEEP:
		d->keep = option_number("--keep", arg, 1, 1000000, state);
		return 0;
	case KEY_RETIRED:
		d->retired = true;
		return 0;
	case KEY_REALLY:
		d->really = true;
		return 0;
	case KEY_LINES:
		d->lines = true;
		return 0;
	case ARGP_KEY_ARG:
		return parse_operand(d, arg, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool
run_verb(struct db_args *d, struct err *err)
{
	struct nearest near = {.name = NULL};

	for (size_t i = 0; d->verb && i < NVERBS; i++) {
		if (strcmp(verbs[i].name, d->verb) != 0)
			continue;
		if (d->nargs >= verbs[i].min && d->nargs <= verbs[i].max)
			return verbs[i].run(d, err);
		return err_set(err, ERR_USAGE, "usage: marq db %s %s (%s)",
		    d->verb, verbs[i].args, verbs[i].what);
	}
	if (!d->verb)
		return err_set(err, ERR_USAGE,
		    "no verb given (marq db --help lists them); for example: "
		    "marq db stat");
	near.word = d->verb;
	for (size_t i = 0; i < NVERBS; i++)
		nearest_try(&near, verbs[i].name);
	return err_set(err, ERR_USAGE,
	    "no verb '%s'%s (marq db --help lists them)", d->verb,
	    nearest_text(&near, d->cli->run));
}

bool
cmd_db(struct cli *c, int argc, char **argv, struct err *err)
{
	const struct argp argp = {
	    .options = options,
	    .parser = parse,
	    .args_doc = "VERB [ARG...]",
	    .doc = describe_verbs(c->run),
	    .children = cli_children,
	};
	struct db_args d = {.cli = c};
	bool ok;

	if (argc > 1 && strcmp(argv[1], "canary") == 0)
		return db_canary(c, argc - 1, argv + 1, err);
	notes_init(&d.notes, c->run);
	if (!cli_parse(c, &argp, argc, argv, &d, err))
		return false;
	if (!d.db)
		d.db = path_default_db(c->run);
	ok = run_verb(&d, err);
	cli_warn_all(c, &d.notes);
	return ok;
}
