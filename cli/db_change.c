/* marq db merge, export, import, gc, verify, invalidate, migrate, backup. */
#include "cli/db.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "ir/base/file.h"
#include "ir/base/plural.h"

/* What came of files that were added, one after another. */
struct added_files {
	struct db_args *d;
	struct costdb *db;
	struct answer answer;
	struct db_merge *count; /* [n] of those that are done */
	uint32_t n;
};

static void
tell_merge(struct added_files *to, const char *from, const struct db_merge *m)
{
	ANSWER_LINE(&to->answer,
	    "{from}: {added} added, {known} known, {rejected} rejected, "
	    "{retired} retired, {conflicts} conflict{s conflicts}\n",
	    F("from", from), F("added", m->added), F("known", m->known),
	    F("rejected", m->rejected), F("retired", m->retired),
	    F("conflicts", m->conflicts));
}

/* Close after a change; a fault on the way out matters only if none came
 * before. */
static bool
close_after(struct costdb *db, bool ok, struct err *err)
{
	if (ok)
		return costdb_close(db, err);
	costdb_abandon(db);
	return false;
}

static bool
open_for_change(struct db_args *d, struct costdb **db, struct err *err)
{
	path_make_parents(d->db);
	return costdb_open(db, d->db, DB_WRITE, d->cli->run, err);
}

/* Deleting and retiring are not for files that are not there yet. */
static bool
open_existing(struct db_args *d, struct costdb **db, struct err *err)
{
	struct costdb *there;

	if (!costdb_open(&there, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	costdb_abandon(there);
	return costdb_open(db, d->db, DB_WRITE, d->cli->run, err);
}

/* How files are added. */
struct adding_way {
	bool (*one)(struct added_files *to, const char *name,
	    struct db_merge *m, struct err *err);
	bool (*begin)(struct costdb *db, struct err *err);
	bool (*end)(struct costdb *db, bool ok, struct err *err);
};

/* Add every file; told is what is stored. */
static bool
merge_all(struct db_args *d, const struct adding_way *way, struct err *err)
{
	struct added_files to = {.d = d};
	bool ok;

	if (!open_for_change(d, &to.db, err))
		return false;
	to.count = arena_new(d->cli->run, struct db_merge, d->nargs);
	ok = !way->begin || way->begin(to.db, err);
	for (; ok && to.n < d->nargs; to.n += ok)
		ok = way->one(&to, d->arg[to.n], &to.count[to.n], err);
	ok = way->end ? way->end(to.db, ok, err) : ok;
	answer_begin(&to.answer, d->cli, "marq.db-merge/1");
	ANSWER(&to.answer, NULL, F("db", d->db));
	answer_list(&to.answer, "files");
	for (uint32_t i = 0; i < to.n; i++)
		tell_merge(&to, d->arg[i], &to.count[i]);
	ok = ok && costdb_twins(to.db, &(uint32_t){0}, &d->notes, err);
	answer_close(&to.answer);
	answer_end(&to.answer);
	return close_after(to.db, ok, err);
}

static bool
merge_one(struct added_files *to, const char *name, struct db_merge *m,
    struct err *err)
{
	struct costdb *from;
	bool ok;

	if (!costdb_open(&from, name, DB_FOREIGN, to->d->cli->run, err))
		return false;
	ok = costdb_merge(to->db, from, m, &to->d->notes, err);
	costdb_abandon(from);
	return ok;
}

bool
db_merge_verb(struct db_args *d, struct err *err)
{
	static const struct adding_way way = {
	    .one = merge_one,
	    .begin = costdb_merge_begin,
	    .end = costdb_merge_end,
	};

	return merge_all(d, &way, err);
}

struct export
{
	struct costdb *db;
	struct notes *notes;
};

static bool
write_lines(FILE *f, void *context, struct err *err)
{
	const struct export *x = context;

	return costdb_export(x->db, f, x->notes, err);
}

/* A copy has them too: they are no prices there either. */
static bool
write_copy(struct db_args *d, struct costdb *db, struct err *err)
{
	uint64_t damaged;

	if (!costdb_count_damaged(db, &damaged, err))
		return false;
	if (damaged)
		notes_add(&d->notes,
		    "%s: copies %" PRIu64 " damaged attempt%s with the rest; "
		    "'marq db repair' leaves them out",
		    d->db, damaged, plural(damaged));
	return d->cli->force ? costdb_replace(db, d->arg[0], err)
	                     : costdb_copy(db, d->arg[0], err);
}

bool
db_export_verb(struct db_args *d, struct err *err)
{
	struct export x = {.notes = &d->notes};
	bool ok;

	if (!d->lines && strcmp(d->arg[0], "-") == 0)
		return err_set(err, ERR_USAGE, "only --jsonl goes to stdout");
	output_keep(d->cli, d->db);
	if (!output_file(d->cli, d->arg[0], err)
	    || !costdb_open(&x.db, d->db, DB_READ, d->cli->run, err))
		return false;
	ok = d->lines ? output_write(d->cli, d->arg[0], write_lines, &x, err)
	              : write_copy(d, x.db, err);
	costdb_abandon(x.db);
	return ok;
}

static bool
import_one(struct added_files *to, const char *name, struct db_merge *m,
    struct err *err)
{
	struct mapped_file lines;
	FILE *f;
	bool ok;

	if (!file_map(&lines, name, err))
		return false;
	f = lines.bytes
	    ? fmemopen((void *)(uintptr_t)lines.data, lines.bytes, "r")
	    : fopen("/dev/null", "re");
	ok = f != NULL || err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
	ok = ok
	    && costdb_import(to->db, f,
	        strcmp(name, "-") == 0 ? "standard input" : name, m,
	        &to->d->notes, err);
	if (f)
		fclose(f);
	file_unmap(&lines);
	return ok;
}

bool
db_import_verb(struct db_args *d, struct err *err)
{
	static const struct adding_way way = {.one = import_one};

	return merge_all(d, &way, err);
}

static void
tell_gc(const struct db_args *d, const struct db_gc *gc)
{
	ANSWER_WHOLE(d->cli, "marq.db-gc/1",
	    "{!done would delete}{?done deleted} {attempts} attempt{s attempts}, "
	    "{subjects} subject{s subjects}, {environments} "
	    "environment{s environments}; emptied {emptied} "
	    "retired{!done  (--really does it)}\n",
	    F("db", d->db), F("done", d->really), F("attempts", gc->attempts),
	    F("emptied", gc->emptied), F("subjects", gc->subjects),
	    F("environments", gc->environments));
}

bool
db_gc_verb(struct db_args *d, struct err *err)
{
	struct db_gc gc = {
	    .keep = d->keep,
	    .before_utc = d->where.before_utc,
	    .dry_run = !d->really,
	};
	struct costdb *db;
	bool ok;

	if (!open_existing(d, &db, err))
		return false;
	ok = costdb_gc(db, &gc, err);
	if (ok)
		tell_gc(d, &gc);
	return close_after(db, ok, err);
}

bool
db_invalidate_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	uint64_t n;
	bool ok;

	if (!d->where.fact && !d->where.outcome && !d->where.before_utc
	    && !d->where.subject)
		return err_set(err, ERR_USAGE,
		    "invalidate: say which: --fact, --outcome, --before or "
		    "--subject");
	if (!open_existing(d, &db, err))
		return false;
	ok = costdb_invalidate(db, &d->where, !d->really, &n, err);
	if (ok)
		ANSWER_WHOLE(d->cli, "marq.db-invalidate/1",
		    "{!done would retire}{?done retired} {attempts} "
		    "attempt{s attempts}{!done  (--really does it)}\n",
		    F("db", d->db), F("done", d->really), F("attempts", n));
	return close_after(db, ok, err);
}

bool
db_verify_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	uint64_t n;
	bool ok;

	if (!costdb_open(&db, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	ok = costdb_verify(db, &d->notes, &n, err);
	costdb_abandon(db);
	if (!ok)
		return false;
	if (n)
		return err_set(err, ERR_VERDICT, "%s: %" PRIu64 " finding%s",
		    d->db, n, plural(n));
	ANSWER_WHOLE(d->cli, "marq.db-verify/1", "{db}: no damage found\n",
	    F("db", d->db), F("findings", n));
	return true;
}

static void
tell_migrate(const struct db_args *d, uint64_t before, uint64_t after)
{
	ANSWER_WHOLE(d->cli, "marq.db-migrate/1",
	    before == after
	        ? "{db}: schema {after}, nothing to do\n"
	        : "{db}: schema {before} -> {after} (a backup is beside it)\n",
	    F("db", d->db), F("before", before), F("after", after));
}

bool
db_migrate_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	struct db_stat before, after;
	bool ok;

	if (!costdb_open(&db, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	ok = costdb_stat(db, &before, err);
	costdb_abandon(db);
	if (!ok || !costdb_open(&db, d->db, DB_WRITE, d->cli->run, err))
		return false;
	ok = costdb_stat(db, &after, err);
	if (ok)
		tell_migrate(d, before.schema, after.schema);
	return close_after(db, ok, err);
}

struct salvage {
	struct costdb *from;
	struct db_merge count;
	struct notes *notes;
	uint64_t lost;
};

static bool
salvage(struct costdb *to, void *context, struct err *err)
{
	struct salvage *x = context;

	return costdb_salvage(to, x->from, &x->count, &x->lost, x->notes, err);
}

bool
db_repair_verb(struct db_args *d, struct err *err)
{
	struct salvage x = {.notes = &d->notes};
	bool ok;

	output_keep(d->cli, d->db);
	if (!output_file(d->cli, d->arg[0], err)
	    || !costdb_open(&x.from, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	ok = costdb_make(
	    d->arg[0], d->cli->force, salvage, &x, d->cli->run, err);
	costdb_abandon(x.from);
	if (ok)
		ANSWER_WHOLE(d->cli, "marq.db-repair/1",
		    "{db} -> {to}: {saved} attempt{s saved} saved, {lost} "
		    "lost\n",
		    F("db", d->db), T("to", d->arg[0]),
		    F("saved", x.count.added), F("lost", x.lost));
	return ok;
}

bool
db_backup_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	bool ok;

	output_keep(d->cli, d->db);
	if (!output_file(d->cli, d->arg[0], err)
	    || !costdb_open(&db, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	ok = write_copy(d, db, err);
	costdb_abandon(db);
	if (ok)
		ANSWER_WHOLE(d->cli, "marq.db-backup/1", "{db} -> {copy}\n",
		    F("db", d->db), F("copy", d->arg[0]));
	return ok;
}
