/* marq db: looking after the tuning database. */
#include "cli/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/options.h"
#include "cli/paths.h"
#include "cli/units.h"
#include "ir/base/buf.h"
#include "ir/base/nearest.h"

static const struct {
	const char *name, *args;
	uint32_t min, max;
	db_verb *run;
	const char *what;
} verbs[] = {
    {"stat", "", 0, 0, db_stat_verb, "how much of what is in it"},
    {"envs", "", 0, 0, db_envs_verb,
        "the machines it has prices of, by the names --price-for takes"},
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
    {"repair", "FILE", 1, 1, db_repair_verb,
        "save what is whole of a damaged one in a new file"},
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
	    "  canary MODEL|RESULT  time stored figures again: has the machine "
	    "drifted?\n");
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

/* "2026-11-21" (or any prefix-ordered UTC time), or a number of days back. */
static const char *
since(struct option_state *s, const char *arg)
{
	char *end, *text;
	long days = strtol(arg, &end, 10);
	time_t then = time(NULL);
	struct tm tm;

	if (strlen(arg) >= 10 && arg[4] == '-' && arg[7] == '-')
		return arg;
	if (*arg == '\0' || *end != '\0' || days < 0 || days > 100000)
		argp_error(s->argp,
		    "--before %s: want a date (2026-11-21) or a number of "
		    "days",
		    arg);
	then -= (time_t)days * 86400;
	gmtime_r(&then, &tm);
	text = arena_alloc(s->cli->run, 24);
	strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

static void
take_before(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	(void)row;
	*(const char **)at = since(s, arg);
}

static void
take_operand(void *at, const char *arg, const struct option_row *row,
    struct option_state *s)
{
	struct db_args *d = at;

	(void)row, (void)s;
	if (!d->verb)
		d->verb = arg;
	else
		d->arg[d->nargs++] = arg;
}

#define AT(member) offsetof(struct db_args, member)

static const struct option_row options[] = {
    {"db", 0, "FILE", "the database (default: as `marq search`)", option_text,
        .at = AT(db)},
    {.help = "Which figures (list, invalidate):", .group = 1},
    {"fact", 0, "KEY=VALUE", "taken in an environment with this hard fact",
        option_text, AT(where.fact), .group = 1},
    {"outcome", 0, "WORD",
        "ok, unsupported, wrong_result, timeout, crash, oom or noisy",
        option_text, AT(where.outcome), .group = 1},
    {"before", 0, "DATE|DAYS",
        "taken before 2026-11-21, or more than DAYS days ago", take_before,
        AT(where.before_utc), .group = 1},
    {"subject", 0, "TEXT", "whose description has TEXT in it", option_text,
        AT(where.subject), .group = 1},
    {"retired", 0, NULL, "list retired ones too", option_flag, AT(retired),
        .group = 1},
    {.help = "Deleting (gc, invalidate only count without --really):",
        .group = 2},
    {"keep", 0, "N", "gc: newest figures kept of each subject and environment",
        option_count, AT(keep), 1, 1000000, .group = 2},
    {"really", 0, NULL, "do it", option_flag, AT(really), .group = 2},
    {.help = "Export:", .group = 3},
    {"jsonl", 0, NULL, "JSON lines rather than a database in one file",
        option_flag, AT(lines), .group = 3},
    {0},
};

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
	struct db_args d = {.cli = c};
	const struct command_line line = {
	    .options = options,
	    .operands = {take_operand, 0, 1 + sizeof d.arg / sizeof *d.arg,
	        "too many arguments", NULL},
	    .args_doc = "VERB [ARG...]",
	    .doc = describe_verbs(c->run),
	};
	bool ok;

	if (argc > 1 && strcmp(argv[1], "canary") == 0)
		return db_canary(c, argc - 1, argv + 1, err);
	notes_init(&d.notes, c->run);
	if (!cli_parse(c, &line, argc, argv, &d, err))
		return false;
	if (!d.db)
		d.db = path_default_db(c->run);
	if (!d.db)
		return err_set(err, ERR_USAGE,
		    "no database: name one with --db or $MARQ_DB");
	ok = run_verb(&d, err);
	cli_warn_all(c, &d.notes);
	return ok;
}
