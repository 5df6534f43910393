#include "db/sql.h"

#include "db/sum_text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Columns of both, for a row and for ROWS_AT_ONCE. Neither keeps what it had done
 * when it fails: the transaction is given up then. */
#define SUBJECT_INSERT \
	"INSERT OR FAIL INTO subject(hash,bytes,kind,skeleton,family,summary," \
	"key,subject_id)"
#define MEASUREMENT_INSERT \
	"INSERT OR FAIL INTO measurement(uuid,subject_id,env_id,conditions_id," \
	"run_id,outcome,n,low_ns,median_ns,high_ns,min_ns,max_error,span_ns," \
	"limit_ns,detail,at_utc,cpu_ns,retired,sum)"
#define FOUR_TIMES(row) row "," row "," row "," row
#define MANY_TIMES(row) \
	FOUR_TIMES(FOUR_TIMES(row)) "," FOUR_TIMES(FOUR_TIMES(row))
_Static_assert(ROWS_AT_ONCE == 32, "what MANY_TIMES makes");

#define ATTEMPTS(where) \
	"SELECT m.outcome,m.low_ns,m.high_ns,m.n,m.at_utc,m.measurement_id," \
	"m.conditions_id,m.min_ns,m.sum IS NULL OR m.sum=" SUM_OF_ROW \
	",m.cpu_ns,m.env_id,m.uuid FROM subject s" \
	" JOIN measurement m ON m.subject_id=s.subject_id" \
	" JOIN environment e ON e.env_id=m.env_id" \
	" WHERE " where " AND s.bytes=?2 AND m.retired=0"
#define ATTEMPTS_OF_SUBJECT ATTEMPTS("s.subject_id=?1 AND m.env_id=?3")

static const char *const text_of[NSTATEMENT] = {
#define STATEMENT(name, sql) [SQL_##name] = sql,
#include "db/statement.def"
#undef STATEMENT
};

/* Full disks, quotas and unreadable media are the file system's doing, memory
 * is the process's; all else is the database's. */
static enum err_kind
kind_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return ERR_IO;
	case SQLITE_NOMEM:
		return ERR_INTERNAL;
	default:
		return ERR_DB;
	}
}

static const char *
advice(int rc)
{
	if (rc == SQLITE_READONLY_ROLLBACK)
		return " (who wrote it was killed; open it once where it can "
		       "be written)";
	switch (rc & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return " (another process held it for a minute)";
	case SQLITE_FULL:
		return " (free some space; nothing stored is lost)";
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return " (marq db verify says more)";
	default:
		return "";
	}
}

int
sql_failure_in(const char *finding)
{
	static const char code[] = "error code=";
	const char *at = strstr(finding, code);
	int rc = at ? (int)strtol(at + strlen(code), NULL, 10) : 0;

	if (strstr(finding, "failed to get page ")) /* of a list; no code */
		return SQLITE_IOERR_READ;
	return kind_of(rc) == ERR_DB ? 0 : rc;
}

bool
sql_fail(const struct costdb *db, int rc, const char *what, struct err *err)
{
	const char *words = !db->h || sqlite3_errcode(db->h) != (rc & 0xff)
	    ? sqlite3_errstr(rc)
	    : sqlite3_errmsg(db->h);

	return err_set(err, kind_of(rc), "%s: %s: %s%s", db->path, what, words,
	    advice(rc));
}

sqlite3_stmt *
sql_get(struct costdb *db, enum statement s, struct err *err)
{
	int rc;

	if (db->stmt[s]) {
		sqlite3_reset(db->stmt[s]);
		sqlite3_clear_bindings(db->stmt[s]);
		return db->stmt[s];
	}
	rc = sqlite3_prepare_v3(db->h, text_of[s], -1,
	    SQLITE_PREPARE_PERSISTENT, &db->stmt[s], NULL);
	if (rc != SQLITE_OK) {
		sql_fail(db, rc, "cannot prepare", err);
		return NULL;
	}
	return db->stmt[s];
}

bool
sql_only_reads(enum statement s)
{
	return strncmp(text_of[s], "SELECT", 6) == 0;
}

bool
sql_step(struct costdb *db, sqlite3_stmt *s, bool *row, struct err *err)
{
	int rc = sqlite3_step(s);

	*row = rc == SQLITE_ROW;
	if (rc == SQLITE_ROW)
		return true;
	if (rc == SQLITE_DONE) {
		sqlite3_reset(s);
		return true;
	}
	sql_fail(db, rc,
	    sqlite3_stmt_readonly(s) ? "cannot read" : "cannot write", err);
	sqlite3_reset(s);
	return false;
}

bool
sql_run(struct costdb *db, sqlite3_stmt *s, struct err *err)
{
	bool row;

	if (!sql_step(db, s, &row, err))
		return false;
	if (row)
		sqlite3_reset(s);
	return true;
}

bool
sql_step_id(struct costdb *db, sqlite3_stmt *s, db_id *id, struct err *err)
{
	bool row;

	*id = DB_NO_ID;
	if (!sql_step(db, s, &row, err))
		return false;
	if (row)
		*id = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	return true;
}

bool
sql_step_text(struct costdb *db, sqlite3_stmt *s, const char **text,
    struct arena *a, struct err *err)
{
	bool row;

	*text = NULL;
	if (!sql_step(db, s, &row, err))
		return false;
	if (row)
		*text = arena_str(a, column_text(s, 0));
	sqlite3_reset(s);
	return true;
}

bool
sql_prepare(
    struct costdb *db, const char *sql, sqlite3_stmt **s, struct err *err)
{
	int rc = sqlite3_prepare_v2(db->h, sql, -1, s, NULL);

	return rc == SQLITE_OK || sql_fail(db, rc, "cannot prepare", err);
}

bool
sql_exec(struct costdb *db, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK || sql_fail(db, rc, "cannot execute", err);
}

bool
sql_integer(struct costdb *db, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->h, sql, -1, &s, NULL);

	*out = 0;
	if (rc == SQLITE_OK) {
		rc = sqlite3_step(s);
		if (rc == SQLITE_ROW)
			*out = sqlite3_column_int64(s, 0);
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		sql_fail(db, rc, "cannot read", err);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

bool
sql_begin(struct costdb *db, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_BEGIN, err);

	keyset_clear(&db->keys);
	db->has_keys = false;
	db->asked = 0;
	return s && sql_run(db, s, err);
}

bool
sql_end(struct costdb *db, bool ok, struct err *err)
{
	sqlite3_stmt *s = ok ? sql_get(db, SQL_COMMIT, err) : NULL;

	if (s && sql_run(db, s, err))
		return true;
	/* Most faults have rolled back already; asking again is harmless. */
	if (!sqlite3_get_autocommit(db->h))
		sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL);
	return false;
}

void
bind_text(sqlite3_stmt *s, int i, const char *text)
{
	if (text)
		sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
}

void
bind_blob(sqlite3_stmt *s, int i, const void *bytes, size_t n)
{
	sqlite3_bind_blob64(s, i, bytes, n, SQLITE_STATIC);
}

void
bind_u64(sqlite3_stmt *s, int i, uint64_t x)
{
	sqlite3_bind_int64(s, i, x > INT64_MAX ? INT64_MAX : (int64_t)x);
}

const char *
column_text(sqlite3_stmt *s, int i)
{
	const unsigned char *text = sqlite3_column_text(s, i);

	return text ? (const char *)text : "";
}

uint64_t
column_u64(sqlite3_stmt *s, int i)
{
	sqlite3_int64 x = sqlite3_column_int64(s, i);

	return x < 0 ? 0 : (uint64_t)x;
}

void
utc_now(char text[24])
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
