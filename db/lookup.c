/* Taking figures out, and saying what is nearest where there are none. */
#include "db/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/rows.h"
#include "db/sql.h"
#include "ir/base/order.h"

/* The LIMIT of the LOOKUP statement. TUNING: enough for a median that no
 * single night decides. */
#define ATTEMPTS_READ 64

/* Attempts as they are read, newest first. */
struct tally {
	uint32_t attempts, ngood;
	uint64_t good[ATTEMPTS_READ]; /* lows of ok (else noisy) attempts */
	bool good_is_ok;
	int64_t newest_bad, wrong; /* row ids, 0: none */
	enum db_outcome bad; /* of newest_bad */
	struct db_found *found;
};

static void
tally_good(struct tally *t, sqlite3_stmt *s, bool is_ok)
{
	struct db_found *f = t->found;
	uint64_t low = column_u64(s, 1), high = column_u64(s, 2);

	/* Settled figures push aside those that never settled. */
	if (is_ok != t->good_is_ok && t->ngood) {
		if (!is_ok)
			return;
		t->ngood = 0;
	}
	if (t->ngood == 0) {
		f->newest_good = sqlite3_column_int64(s, 5);
		f->low = low;
		f->high = high;
		f->n = 0;
		t->good_is_ok = is_ok;
	}
	f->low = low < f->low ? low : f->low;
	f->high = high > f->high ? high : f->high;
	f->n += (uint32_t)column_u64(s, 3);
	if (t->ngood < ATTEMPTS_READ)
		t->good[t->ngood++] = low;
}

static void
tally_row(struct tally *t, sqlite3_stmt *s)
{
	enum db_outcome outcome = outcome_find(column_text(s, 0));
	int64_t id = sqlite3_column_int64(s, 5);

	if (outcome == NDB_OUTCOME)
		return;
	if (t->attempts++ == 0)
		snprintf(t->found->at_utc, sizeof t->found->at_utc, "%s",
		    column_text(s, 4));
	if (outcome == DB_WRONG && !t->wrong)
		t->wrong = id;
	if ((outcome == DB_OK || outcome == DB_NOISY)
	    && sqlite3_column_int64(s, 1) > 0) {
		tally_good(t, s, outcome == DB_OK);
	} else if (!t->newest_bad) {
		t->newest_bad = id;
		t->bad = outcome;
	}
}

bool
costdb_detail(struct costdb *db, db_id id, struct db_found *f, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_DETAIL_GET, err);
	bool row;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, id);
	if (!sql_step(db, s, &row, err))
		return false;
	if (row) {
		snprintf(f->detail, sizeof f->detail, "%s", column_text(s, 0));
		f->limit_ns = column_u64(s, 1);
	}
	sqlite3_reset(s);
	return true;
}

/* A wrong result is never forgiven; else figures win over failures, for a
 * crash or a timeout may have been the machine's. */
static bool
conclude(struct costdb *db, struct tally *t, struct err *err)
{
	struct db_found *f = t->found;

	f->attempts = t->attempts;
	if (t->attempts == 0)
		return true;
	if (t->wrong || t->ngood == 0) {
		f->outcome = t->wrong ? DB_WRONG : t->bad;
		return costdb_detail(
		    db, t->wrong ? t->wrong : t->newest_bad, f, err);
	}
	f->outcome = t->good_is_ok ? DB_OK : DB_NOISY;
	qsort(t->good, t->ngood, sizeof *t->good, by_u64);
	f->ns = t->good[(t->ngood - 1) / 2];
	return true;
}

/* A subject as it is looked up, hashed once. */
struct wanted {
	struct hash128 hash;
	const void *bytes;
	size_t n;
};

static bool
lookup(struct costdb *db, const struct wanted *w, db_id env,
    struct db_found *found, struct err *err)
{
	struct tally t = {.found = found};
	sqlite3_stmt *s = sql_get(db, SQL_LOOKUP, err);
	bool row;

	*found = (struct db_found){.attempts = 0};
	if (!s)
		return false;
	bind_blob(s, 1, w->hash.byte, sizeof w->hash.byte);
	bind_blob(s, 2, w->bytes, w->n);
	sqlite3_bind_int64(s, 3, env);
	while (sql_step(db, s, &row, err) && row)
		tally_row(&t, s);
	return err->kind == ERR_NONE && conclude(db, &t, err);
}

bool
costdb_begin_lookups(struct costdb *db, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_BEGIN_READING, err);

	return s && sql_run(db, s, err);
}

void
costdb_end_lookups(struct costdb *db)
{
	/* Ending a transaction that wrote nothing cannot fail in a way that
	 * matters: reads are over either way. */
	if (!sqlite3_get_autocommit(db->h))
		sqlite3_exec(db->h, "COMMIT", NULL, NULL, NULL);
}

bool
costdb_lookup(struct costdb *db, const void *bytes, size_t n, db_id env,
    struct db_found *found, struct err *err)
{
	struct wanted w = {hash128(bytes, n), bytes, n};

	return lookup(db, &w, env, found, err);
}

bool
costdb_lookup_any(struct costdb *db, const struct db_subject *subject,
    struct db_environments in, uint32_t *which, struct db_found *found,
    struct err *err)
{
	struct wanted w = {
	    hash128(subject->bytes, subject->n), subject->bytes, subject->n};

	for (*which = 0; *which < in.n; ++*which) {
		if (!lookup(db, &w, in.env[*which], found, err))
			return false;
		if (found->attempts
		    && (found->outcome == DB_OK || found->outcome == DB_NOISY))
			return true;
	}
	*found = (struct db_found){.attempts = 0};
	return true;
}

static bool
by_hash(struct costdb *db, enum statement which, struct hash128 h,
    const char **summary, struct arena *a, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, which, err);
	bool row;

	*summary = NULL;
	if (!s)
		return false;
	bind_blob(s, 1, h.byte, sizeof h.byte);
	if (!sql_step(db, s, &row, err))
		return false;
	if (row)
		*summary = arena_str(a, column_text(s, 0));
	sqlite3_reset(s);
	return true;
}

bool
costdb_nearest(struct costdb *db, const struct db_subject *subject,
    enum db_near *near, const char **summary, struct arena *a, struct err *err)
{
	db_id id;

	*summary = subject->summary;
	if (!row_find_subject(db, subject->bytes, subject->n, &id, err))
		return false;
	*near = DB_NEAR_SAME;
	if (id != DB_NO_ID)
		return true;
	*near = DB_NEAR_SKELETON;
	if (!by_hash(
	        db, SQL_SUBJECT_BY_SKELETON, subject->skeleton, summary, a, err)
	    || *summary)
		return err->kind == ERR_NONE;
	*near = DB_NEAR_FAMILY;
	if (!by_hash(
	        db, SQL_SUBJECT_BY_FAMILY, subject->family, summary, a, err)
	    || *summary)
		return err->kind == ERR_NONE;
	*near = DB_NEAR_NOTHING;
	*summary = "";
	return true;
}

bool
costdb_environments(struct costdb *db, const struct db_environment **env,
    uint32_t *n, struct arena *a, struct err *err)
{
	struct db_environment *list = NULL;
	sqlite3_stmt *s = sql_get(db, SQL_ENV_LIST, err);
	uint32_t cap = 0;
	bool row;

	*n = 0;
	if (!s)
		return false;
	while (sql_step(db, s, &row, err) && row) {
		list = arena_grow(a, list, &cap, *n + 1, sizeof *list);
		list[(*n)++] = (struct db_environment){
		    .id = sqlite3_column_int64(s, 0),
		    .hard = arena_str(a, column_text(s, 1)),
		};
	}
	*env = list;
	return err->kind == ERR_NONE;
}

bool
costdb_span(struct costdb *db, db_id env, uint64_t *attempts, uint64_t *ns,
    struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_SPAN, err);
	bool row;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, env);
	if (!sql_step(db, s, &row, err))
		return false;
	*attempts = row ? column_u64(s, 0) : 0;
	*ns = row ? column_u64(s, 1) : 0;
	sqlite3_reset(s);
	return true;
}
