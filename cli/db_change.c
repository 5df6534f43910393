/* marq db merge, export, import, gc, verify, invalidate, migrate, backup. */
#include "cli/db.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/paths.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"

/* Begin the one document of a verb; false: text is wanted. */
static bool
begin_json(struct json *j, const struct db_args *d, const char *schema)
{
	if (d->cli->format != OUT_JSON)
		return false;
	json_init(j, stdout, 1);
	json_object(j);
	json_key_str(j, "schema", schema);
	json_key_str(j, "db", d->db);
	return true;
}

/* What came of files that were added, one after another. */
struct merging {
	struct db_args *d;
	struct costdb *db;
	struct json json;
	bool is_json;
};

static void
print_merge(struct merging *to, const char *from, const struct db_merge *m)
{
	struct json *j = &to->json;

	if (!to->is_json) {
		printf("%s: %" PRIu64 " added, %" PRIu64 " known, %" PRIu64
		       " rejected, %" PRIu64 " retired, %" PRIu64
		       " conflicts\n",
		    from, m->added, m->known, m->rejected, m->retired,
		    m->conflicts);
		return;
	}
	json_inline_object(j);
	json_key_str(j, "from", from);
	json_key_uint(j, "added", m->added);
	json_key_uint(j, "known", m->known);
	json_key_uint(j, "rejected", m->rejected);
	json_key_uint(j, "retired", m->retired);
	json_key_uint(j, "conflicts", m->conflicts);
	json_close(j);
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

/* Add every file by `one`. */
static bool
merge_all(struct db_args *d,
    bool (*one)(struct merging *to, const char *name, struct err *err),
    struct err *err)
{
	struct merging to = {.d = d};
	bool ok = true;

	if (!open_for_change(d, &to.db, err))
		return false;
	to.is_json = begin_json(&to.json, d, "marq.db-merge/1");
	if (to.is_json) {
		json_key(&to.json, "files");
		json_array(&to.json);
	}
	for (uint32_t i = 0; ok && i < d->nargs; i++)
		ok = one(&to, d->arg[i], err);
	if (to.is_json) {
		json_close(&to.json);
		json_close(&to.json);
	}
	return close_after(to.db, ok, err);
}

static bool
merge_one(struct merging *to, const char *name, struct err *err)
{
	struct costdb *from;
	struct db_merge m;
	bool ok;

	if (!costdb_open(&from, name, DB_FOREIGN, to->d->cli->run, err))
		return false;
	ok = costdb_merge(to->db, from, &m, &to->d->notes, err);
	costdb_abandon(from);
	if (ok)
		print_merge(to, name, &m);
	return ok;
}

bool
db_merge_verb(struct db_args *d, struct err *err)
{
	return merge_all(d, merge_one, err);
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

static bool
write_copy(const struct db_args *d, struct costdb *db, struct err *err)
{
	return d->cli->force ? costdb_replace(db, d->arg[0], err)
	                     : costdb_copy(db, d->arg[0], err);
}

bool
db_export_verb(struct db_args *d, struct err *err)
{
	struct export x;
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
import_one(struct merging *to, const char *name, struct err *err)
{
	bool is_stdin = strcmp(name, "-") == 0, ok;
	FILE *f = is_stdin ? stdin : fopen(name, "re");
	struct db_merge m;

	if (!f)
		return err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
	ok = costdb_import(to->db, f, is_stdin ? "standard input" : name, &m,
	    &to->d->notes, err);
	if (!is_stdin)
		fclose(f);
	if (ok)
		print_merge(to, name, &m);
	return ok;
}

bool
db_import_verb(struct db_args *d, struct err *err)
{
	return merge_all(d, import_one, err);
}

static void
print_gc(const struct db_args *d, const struct db_gc *gc)
{
	struct json j;

	if (!begin_json(&j, d, "marq.db-gc/1")) {
		printf("%s%" PRIu64 " attempt%s, %" PRIu64
		       " subject%s, %" PRIu64 " environment%s; emptied %" PRIu64
		       " retired%s\n",
		    d->really ? "deleted " : "would delete ", gc->attempts,
		    plural(gc->attempts), gc->subjects, plural(gc->subjects),
		    gc->environments, plural(gc->environments), gc->emptied,
		    d->really ? "" : " (--really does it)");
		return;
	}
	json_key_bool(&j, "done", d->really);
	json_key_uint(&j, "attempts", gc->attempts);
	json_key_uint(&j, "emptied", gc->emptied);
	json_key_uint(&j, "subjects", gc->subjects);
	json_key_uint(&j, "environments", gc->environments);
	json_close(&j);
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
		print_gc(d, &gc);
	return close_after(db, ok, err);
}

static void
print_invalidate(const struct db_args *d, uint64_t n)
{
	struct json j;

	if (!begin_json(&j, d, "marq.db-invalidate/1")) {
		printf("%s%" PRIu64 " attempt%s%s\n",
		    d->really ? "retired " : "would retire ", n, plural(n),
		    d->really ? "" : " (--really does it)");
		return;
	}
	json_key_bool(&j, "done", d->really);
	json_key_uint(&j, "attempts", n);
	json_close(&j);
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
		print_invalidate(d, n);
	return close_after(db, ok, err);
}

bool
db_verify_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	struct json j;
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
	if (begin_json(&j, d, "marq.db-verify/1")) {
		json_key_uint(&j, "findings", n);
		json_close(&j);
	} else {
		printf("%s: no damage found\n", d->db);
	}
	return true;
}

static void
print_migrate(const struct db_args *d, uint64_t before, uint64_t after)
{
	struct json j;

	if (begin_json(&j, d, "marq.db-migrate/1")) {
		json_key_uint(&j, "before", before);
		json_key_uint(&j, "after", after);
		json_close(&j);
	} else if (before == after) {
		printf("%s: schema %" PRIu64 ", nothing to do\n", d->db, after);
	} else {
		printf("%s: schema %" PRIu64 " -> %" PRIu64
		       " (a backup is beside it)\n",
		    d->db, before, after);
	}
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
		print_migrate(d, before.schema, after.schema);
	return close_after(db, ok, err);
}

static void
print_repair(const struct db_args *d, uint64_t saved, uint64_t lost)
{
	struct json j;

	if (!begin_json(&j, d, "marq.db-repair/1")) {
		printf("%s -> %s: %" PRIu64 " attempt%s saved, %" PRIu64
		       " lost\n",
		    d->db, d->arg[0], saved, plural(saved), lost);
		return;
	}
	json_key_uint(&j, "saved", saved);
	json_key_uint(&j, "lost", lost);
	json_close(&j);
}

bool
db_repair_verb(struct db_args *d, struct err *err)
{
	struct costdb *from, *to;
	struct db_merge count;
	struct notes notes;
	uint64_t lost;
	bool ok;

	notes_init(&notes, d->cli->run);
	output_keep(d->cli, d->db);
	if (!output_file(d->cli, d->arg[0], err)
	    || !costdb_open(&from, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	ok = costdb_open(&to, d->arg[0], DB_WRITE, d->cli->run, err);
	if (ok) {
		ok = costdb_salvage(to, from, &count, &lost, &notes, err);
		ok = close_after(to, ok, err);
	}
	costdb_abandon(from);
	if (ok)
		print_repair(d, count.added, lost);
	return ok;
}

bool
db_backup_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	struct json j;
	bool ok;

	output_keep(d->cli, d->db);
	if (!output_file(d->cli, d->arg[0], err)
	    || !costdb_open(&db, d->db, DB_FOREIGN, d->cli->run, err))
		return false;
	ok = write_copy(d, db, err);
	costdb_abandon(db);
	if (ok && begin_json(&j, d, "marq.db-backup/1")) {
		json_key_str(&j, "copy", d->arg[0]);
		json_close(&j);
	} else if (ok) {
		printf("%s -> %s\n", d->db, d->arg[0]);
	}
	return ok;
}
