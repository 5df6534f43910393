/* Listing attempts, and retiring them: the same conditions choose. */
#include "db/admin.h"

#include <assert.h>
#include <string.h>

#include "db/sql.h"

/* ?1 fact, ?2 outcome, ?3 before, ?4 part of the summary: null means any. A
 * fact is a whole line of the hard facts. */
#define WHERE_GIVEN \
	" (?1 IS NULL OR instr(char(10)||e.hard,char(10)||?1||char(10))>0)" \
	" AND (?2 IS NULL OR m.outcome=?2) AND (?3 IS NULL OR m.at_utc<?3)" \
	" AND (?4 IS NULL OR instr(s.summary,?4)>0)"

#define FROM_ALL \
	" FROM measurement m JOIN subject s USING(subject_id)" \
	" JOIN environment e USING(env_id) WHERE"

static const char select_rows[] =
    "SELECT m.measurement_id,m.subject_id,m.env_id,m.uuid,s.hash,s.kind,"
    "s.summary,e.hard,m.outcome,m.detail,m.at_utc,m.n,m.low_ns,m.median_ns,"
    "m.high_ns,m.min_ns,m.span_ns,m.limit_ns,m.max_error,m.retired,m.run_id,m.conditions_id,m.cpu_ns" FROM_ALL
        WHERE_GIVEN " AND (?5=1 OR m.retired=0)"
    " ORDER BY m.subject_id,m.env_id,m.at_utc,m.uuid";

static const char retire_rows[] =
    "UPDATE measurement SET retired=1,sum=~sum WHERE retired=0 AND measurement_id IN"
    " (SELECT m.measurement_id" FROM_ALL WHERE_GIVEN ")";

static const char count_rows[] =
    "SELECT count(*)" FROM_ALL WHERE_GIVEN " AND m.retired=0";

static sqlite3_stmt *
prepare(struct costdb *db, const char *sql, const struct db_where *where,
    struct err *err)
{
	static const struct db_where anything;
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->h, sql, -1, &s, NULL);

	if (rc != SQLITE_OK) {
		sql_fail(db, rc, "cannot prepare", err);
		return NULL;
	}
	if (!where)
		where = &anything;
	bind_text(s, 1, where->fact);
	bind_text(s, 2, where->outcome);
	bind_text(s, 3, where->before_utc);
	bind_text(s, 4, where->subject);
	return s;
}

static void
read_blob(sqlite3_stmt *s, int i, void *out, size_t n)
{
	const void *bytes = sqlite3_column_blob(s, i);

	memset(out, 0, n);
	if (bytes && (size_t)sqlite3_column_bytes(s, i) == n)
		memcpy(out, bytes, n);
}

static struct db_row
read_row(sqlite3_stmt *s)
{
	struct db_row r = {
	    .id = sqlite3_column_int64(s, 0),
	    .subject = sqlite3_column_int64(s, 1),
	    .env = sqlite3_column_int64(s, 2),
	    .kind = column_text(s, 5),
	    .summary = column_text(s, 6),
	    .hard = column_text(s, 7),
	    .outcome = column_text(s, 8),
	    .detail = column_text(s, 9),
	    .at_utc = column_text(s, 10),
	    .n = column_u64(s, 11),
	    .low = column_u64(s, 12),
	    .median = column_u64(s, 13),
	    .high = column_u64(s, 14),
	    .min = column_u64(s, 15),
	    .span_ns = column_u64(s, 16),
	    .limit_ns = column_u64(s, 17),
	    .max_error = sqlite3_column_double(s, 18),
	    .retired = sqlite3_column_int(s, 19) != 0,
	    .run = sqlite3_column_int64(s, 20),
	    .conditions = sqlite3_column_int64(s, 21),
	    .cpu = column_u64(s, 22),
	};

	read_blob(s, 3, r.uuid, sizeof r.uuid);
	read_blob(s, 4, r.key.byte, sizeof r.key.byte);
	return r;
}

bool
costdb_visit(struct costdb *db, const struct db_where *where, bool retired,
    bool (*see)(void *context, const struct db_row *row, struct err *err),
    void *context, struct err *err)
{
	sqlite3_stmt *s = prepare(db, select_rows, where, err);
	bool row = false, go_on = true;

	if (!s)
		return false;
	sqlite3_bind_int(s, 5, retired);
	while (go_on && sql_step(db, s, &row, err) && row) {
		struct db_row r = read_row(s);

		go_on = see(context, &r, err);
	}
	sqlite3_finalize(s);
	return err->kind == ERR_NONE;
}

bool
costdb_invalidate(struct costdb *db, const struct db_where *where, bool dry_run,
    uint64_t *n, struct err *err)
{
	sqlite3_stmt *s;
	bool row = false, ok;

	if (!dry_run && !sql_begin(db, err))
		return false;
	s = prepare(db, dry_run ? count_rows : retire_rows, where, err);
	ok = s && sql_step(db, s, &row, err);
	if (ok)
		*n = dry_run ? (row ? column_u64(s, 0) : 0)
		             : (uint64_t)sqlite3_changes64(db->h);
	sqlite3_finalize(s);
	return dry_run ? ok : sql_end(db, ok, err);
}
