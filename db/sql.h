/* What the files of db/ share: the handle, prepared statements, and how a
 * fault of SQLite becomes an err. */
#ifndef DB_SQL_H
#define DB_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "db/keyset.h"
#include "db/verdict.h"
#include "ir/base/err.h"
#include "ir/base/hash.h"

enum statement {
#define STATEMENT(name, sql) SQL_##name,
#include "db/statement.def"
#undef STATEMENT
	NSTATEMENT
};

/* TUNING: rows that one statement adds: the more, the less its beginning and its end
 * take of merging; beyond some dozens nothing is gained. */
#define ROWS_AT_ONCE 32

/* In table meta: what costdb_older_keys() counted so far. */
#define META_OLDER_KEYS "older_keys"

struct pending { /* an attempt not yet stored; memory of costdb's queue arena */
	struct db_subject subject;
	db_id env;
	struct sample sample;
	const char *at_utc;
	const char *soft; /* NULL: as its run */
	uint8_t uuid[16];
};

/* TUNING: more environments know few subjects; of those each is asked. */
#define ENVS_KEPT 32

/* TUNING: so many attempts at a subject are read at once, whoever made them; most have
 * two or three. Beginning and ending a statement takes as long as reading several. */
#define ATTEMPTS_KEPT 8

struct kept_attempt {
	struct attempt attempt; /* at_utc is below */
	db_id env;
	char at_utc[24];
	uint8_t uuid[16];
	bool is_sound; /* its checksum is right, or it has none */
};

/* The subject looked for last, and what is known of it: all attempts where they are few,
 * else where there are any. */
struct sought {
	struct hash128 hash;
	db_id subject; /* DB_NO_ID: there are no attempts, or all are kept */
	struct kept_attempt kept[ATTEMPTS_KEPT]; /* [nkept] */
	uint32_t nkept;
	bool has_all; /* in kept[]; env[] is empty then */
	db_id env[ENVS_KEPT]; /* [n] */
	bool several[ENVS_KEPT]; /* [n] attempts, not one */
	uint32_t n; /* ENVS_KEPT: there may be more, and several at the last */
};

struct costdb {
	sqlite3 *h;
	const char *path;
	enum db_mode mode;
	sqlite3_stmt *stmt[NSTATEMENT];
	struct arena queue; /* of pending[] and what it points to */
	struct arena_mark queue_floor; /* what flushing keeps */
	struct pending *pending; /* [npending] */
	uint32_t npending, pending_cap;
	uint64_t oldest_ns; /* CLOCK_MONOTONIC of pending[0] */
	const char *tool, *command, *soft; /* of the run; NULL: none */
	db_id run, conditions; /* rows of those, once stored */
	uint64_t damaged; /* attempts found damaged */
	bool merges; /* between costdb_merge_begin() and costdb_merge_end() */
	bool merge_failed; /* by a fault of this file, not of one merged */
	uint32_t merge_rows; /* of the open transaction */
	struct keyset keys; /* of all subjects, where has_keys */
	bool has_keys; /* read in this transaction */
	uint64_t asked; /* in it, how often a subject was looked for */
	bool looks_up; /* between costdb_begin_lookups() and its end */
	struct sought sought; /* where has_sought */
	bool has_sought; /* of the state of the database that is looked at */
	char owner[224]; /* of our leases; "" until the first */
};

/* The result code of a failure (input, output, memory) that a text of SQLite's
 * checks names as if it were damage; 0: none. */
int sql_failure_in(const char *finding);

/* Turn the pending fault of the connection into an err; always false. */
bool sql_fail(const struct costdb *db, int rc, const char *what, struct err *e);

/* A prepared statement, reset, with no bindings; NULL on error. */
sqlite3_stmt *sql_get(struct costdb *db, enum statement s, struct err *err);

/* Is this a SELECT? */
bool sql_only_reads(enum statement s);

/* Advance; *row says whether there is one. Resets when there is none. */
bool sql_step(struct costdb *db, sqlite3_stmt *s, bool *row, struct err *err);

/* Run a statement that gives no rows. */
bool sql_run(struct costdb *db, sqlite3_stmt *s, struct err *err);

/* The integer a query gives first; DB_NO_ID without a row. */
bool sql_step_id(
    struct costdb *db, sqlite3_stmt *s, db_id *id, struct err *err);

/* The text a query gives first, in `a`; NULL without a row. */
bool sql_step_text(struct costdb *db, sqlite3_stmt *s, const char **text,
    struct arena *a, struct err *err);

/* Prepare one statement given literally; the caller finalizes it. */
bool sql_prepare(
    struct costdb *db, const char *sql, sqlite3_stmt **s, struct err *err);

/* Run literal SQL, any number of statements. */
bool sql_exec(struct costdb *db, const char *sql, struct err *err);

/* The only integer of a query given literally. */
bool sql_integer(
    struct costdb *db, const char *sql, int64_t *out, struct err *err);

bool sql_begin(struct costdb *db, struct err *err);
/* Commit when `ok`, else roll back; gives back whether all went well. */
bool sql_end(struct costdb *db, bool ok, struct err *err);

/* Bound bytes and text must live until the statement was stepped. */
void bind_text(sqlite3_stmt *s, int i, const char *text); /* NULL: null */
void bind_blob(sqlite3_stmt *s, int i, const void *bytes, size_t n);
void bind_u64(sqlite3_stmt *s, int i, uint64_t x); /* saturates at 2^63-1 */
const char *column_text(sqlite3_stmt *s, int i); /* never NULL */
uint64_t column_u64(sqlite3_stmt *s, int i); /* negative: 0 */

/* Now, "2026-11-21T11:28:21Z". */
void utc_now(char text[24]);

#endif
