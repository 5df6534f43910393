/* marq db merge, export, import, gc, verify, invalidate, migrate, backup. */
#include "cli/db.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/paths.h"
#include "ir/base/file.h"
#include "ir/base/json.h"

static void
print_merge(const struct db_args *d, const char *from, const struct db_merge *m)
{
	struct json j;

	if (d->cli->format != OUT_JSON) {
		printf("%s: %" PRIu64 " added, %" PRIu64 " known, %" PRIu64
		       " rejected, %" PRIu64 " retired, %" PRIu64
		       " conflicts\n",
		    from, m->added, m->known, m->rejected, m->retired,
		    m->conflicts);
		return;
	}
	json_init(&j, stdout, 0);
	json_object(&j);
	json_key_str(&j, "schema", "marq.db-merge/1");
	json_key_str(&j, "from", from);
	json_key_uint(&j, "added", m->added);
	json_key_uint(&j, "known", m->known);
	json_key_uint(&j, "rejected", m->rejected);
	json_key_uint(&j, "retired", m->retired);
	json_key_uint(&j, "conflicts", m->conflicts);
	json_close(&j);
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

bool
db_merge_verb(struct db_args *d, struct err *err)
{
	struct costdb *db, *from;
	struct db_merge m;
	bool ok = true;

	if (!open_for_change(d, &db, err))
		return false;
	for (uint32_t i = 0; ok && i < d->nargs; i++) {
		ok =
		    costdb_open(&from, d->arg[i], DB_FOREIGN, d->cli->run, err);
		if (!ok)
			break;
		ok = costdb_merge(db, from, &m, &d->notes, err);
		costdb_abandon(from);
		if (ok)
			print_merge(d, d->arg[i], &m);
	}
	return close_after(db, ok, err);
}

struct export
{
	struct costdb *db;
};

static bool
write_lines(FILE *f, void *context, struct err *err)
{
	const struct export *x = context;

	return costdb_export(x->db, f, err);
}

bool
db_export_verb(struct db_args *d, struct err *err)
{
	struct export x;
	bool ok;

	if (!d->lines && strcmp(d->arg[0], "-") == 0)
		return err_set(err, ERR_USAGE, "only --jsonl goes to stdout");
	if (!costdb_open(&x.db, d->db, DB_READ, d->cli->run, err))
		return false;
	if (!d->lines)
		ok = costdb_copy(x.db, d->arg[0], err);
	else if (strcmp(d->arg[0], "-") == 0)
		ok = costdb_export(x.db, stdout, err);
	else
		ok = file_write(d->arg[0], write_lines, &x, err);
	costdb_abandon(x.db);
	return ok;
}

static bool
import_one(
    struct db_args *d, struct costdb *db, const char *name, struct err *err)
{
	bool is_stdin = strcmp(name, "-") == 0, ok;
	FILE *f = is_stdin ? stdin : fopen(name, "re");
	struct db_merge m;

	if (!f)
		return err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
	ok = costdb_import(
	    db, f, is_stdin ? "standard input" : name, &m, &d->notes, err);
	if (!is_stdin)
		fclose(f);
	if (ok)
		print_merge(d, name, &m);
	return ok;
}

bool
db_import_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	bool ok = true;

	if (!open_for_change(d, &db, err))
		return false;
	for (uint32_t i = 0; ok && i < d->nargs; i++)
		ok = import_one(d, db, d->arg[i], err);
	return close_after(db, ok, err);
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
		printf("%s%" PRIu64 " attempts, %" PRIu64 " subjects, %" PRIu64
		       " environments%s\n",
		    d->really ? "deleted " : "would delete ", gc.attempts,
		    gc.subjects, gc.environments,
		    d->really ? "" : " (--really does it)");
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
		printf("%s%" PRIu64 " attempts%s\n",
		    d->really ? "retired " : "would retire ", n,
		    d->really ? "" : " (--really does it)");
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
		return err_set(
		    err, ERR_VERDICT, "%s: %" PRIu64 " findings", d->db, n);
	printf("%s: no damage found\n", d->db);
	return true;
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
	if (ok && before.schema == after.schema)
		printf("%s: schema %" PRIu64 ", nothing to do\n", d->db,
		    after.schema);
	else if (ok)
		printf("%s: schema %" PRIu64 " -> %" PRIu64
		       " (a backup is beside it)\n",
		    d->db, before.schema, after.schema);
	return close_after(db, ok, err);
}

bool
db_backup_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	ok = costdb_copy(db, d->arg[0], err);
	costdb_abandon(db);
	if (ok)
		printf("%s -> %s\n", d->db, d->arg[0]);
	return ok;
}
