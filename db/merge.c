/* Merging: row by row, each looked at before it is let in. */
#include "db/admin.h"

#include <string.h>
#include <sys/stat.h>

#include "db/journal.h"
#include "db/merging.h"
#include "db/sql.h"

/* What merging wants otherwise than in db/open.c. Rows are looked at here, and what
 * they refer to was found or added in the same transaction.
 * TUNING: rows of new subjects go to the ends of tables and of the one index of
 * attempts, so few pages are met again: a cache of 128 MiB was no faster. */
static const char settings[] =
    "PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON;"
    "PRAGMA cache_size=-32768";
static const char usual[] =
    "PRAGMA foreign_keys=ON; PRAGMA ignore_check_constraints=OFF;"
    "PRAGMA cache_size=-65536";

static bool
are_one_file(const struct costdb *a, const struct costdb *b)
{
	struct stat x, y;

	return stat(a->path, &x) == 0 && stat(b->path, &y) == 0
	    && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool
damaged(const struct merging *m, const char *what, struct err *err)
{
	return err_set(err, ERR_DB,
	    "%s: damaged (%s); 'marq db repair FILE' saves what is whole",
	    m->from->path, what);
}

/* An entry of the index of attempts. */
struct index_entry {
	db_id subject, env;
	uint8_t uuid[16];
};

static bool
read_entry(sqlite3_stmt *s, struct index_entry *e)
{
	e->subject = sqlite3_column_int64(s, 0);
	e->env = sqlite3_column_int64(s, 1);
	if (sqlite3_column_bytes(s, 2) != sizeof e->uuid)
		return false;
	memcpy(e->uuid, sqlite3_column_blob(s, 2), sizeof e->uuid);
	return true;
}

static bool
is_before(const struct index_entry *a, const struct index_entry *b)
{
	if (a->subject != b->subject)
		return a->subject < b->subject;
	if (a->env != b->env)
		return a->env < b->env;
	return memcmp(a->uuid, b->uuid, sizeof a->uuid) < 0;
}

/* What a page that is lost would take with it in silence: the attempts and their
 * index, read apart, are as many. */
static bool
are_as_many(struct merging *m, uint64_t attempts, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->from, SQL_ATTEMPTS_INDEX, err);
	struct index_entry last, next;
	uint64_t n = 0;
	bool row = false;

	while (s && sql_step(m->from, s, &row, err) && row) {
		if (!read_entry(s, &next)
		    || (n > 0 && !is_before(&last, &next)))
			break;
		last = next;
		n++;
	}
	if (s)
		sqlite3_reset(s);
	if (err->kind != ERR_NONE)
		return false;
	return (!row && n == attempts)
	    || damaged(m, "attempts and their index differ", err);
}

static bool
merge_rows(struct merging *m, sqlite3_stmt *s, struct err *err)
{
	db_id last = INT64_MIN;
	bool there = false;
	uint64_t n = 0;

	sqlite3_bind_int64(s, 1, last);
	while (sql_step(m->from, s, &there, err) && there) {
		if (merging_id(s) <= last)
			return damaged(m, "attempts out of order", err);
		last = merging_id(s);
		n++;
		if (!merging_attempt(m, s, err))
			return false;
	}
	return err->kind == ERR_NONE
	    && (m->is_trusted || are_as_many(m, n, err));
}

static bool
merge_attempts(struct merging *m, struct err *err)
{
	sqlite3_stmt *s = NULL;
	bool ok = merging_prepare(m, &s, err) && merge_rows(m, s, err);

	sqlite3_finalize(s);
	return ok;
}

static bool
merge_all(struct merging *m, struct db_merge *out, struct err *err)
{
	bool ok = merge_begin(&m->in, m->to, m->from->path, out, m->notes, err)
	    && costdb_trust_plain(m->from, &m->is_trusted, err)
	    && merging_environments(m, err) && merge_attempts(m, err)
	    && merging_rest(m, err);

	return merge_end(&m->in, ok, err);
}

/* Theirs is read as of one moment. */
static bool
merge_one(struct costdb *db, struct costdb *from, struct db_merge *out,
    struct notes *notes, struct err *err)
{
	struct merging m = {.to = db, .from = from, .notes = notes};
	sqlite3_stmt *s = sql_get(from, SQL_BEGIN_READING, err);
	bool ok = s && sql_run(from, s, err);

	if (!ok)
		return false;
	merging_init(&m);
	ok = merge_all(&m, out, err);
	if (!ok)
		(void)merging_survives(&m, err);
	merging_release(&m);
	(void)sql_end(from, false, err);
	return ok;
}

bool
costdb_merge_begin(struct costdb *db, struct err *err)
{
	if (!costdb_flush(db, err) || !sql_exec(db, settings, err))
		return false;
	journal_begin_bulk(db);
	if (!sql_begin(db, err)) {
		journal_end_bulk(db);
		return false;
	}
	db->merges = true;
	db->merge_failed = false;
	db->merge_rows = 0;
	return true;
}

/* Rows that were let in are whole, whatever became of their file. */
bool
costdb_merge_end(struct costdb *db, bool ok, struct err *err)
{
	struct err later = {.kind = ERR_NONE};
	struct err *e = ok ? err : &later;
	bool stored;

	db->merges = false;
	keyset_clear(&db->keys);
	db->has_keys = false;
	stored = sql_end(db, ok || !db->merge_failed, e);
	journal_end_bulk(db);
	stored = sql_exec(db, usual, stored ? e : &(struct err){0}) && stored;
	return stored && ok && costdb_gc_again(db, err);
}

bool
costdb_merge(struct costdb *db, struct costdb *from, struct db_merge *out,
    struct notes *notes, struct err *err)
{
	*out = (struct db_merge){.added = 0};
	if (are_one_file(db, from))
		return err_set(
		    err, ERR_USAGE, "%s: merging with itself", db->path);
	if (db->merges)
		return merge_one(db, from, out, notes, err);
	return costdb_merge_begin(db, err)
	    && costdb_merge_end(db, merge_one(db, from, out, notes, err), err);
}
