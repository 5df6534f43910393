/* Merging: row by row, each looked at before it is let in; and saving what is
 * whole of a damaged file, which is merging it into an empty one. */
#include "db/admin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "db/facts.h"
#include "db/idmap.h"
#include "db/merge_row.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/sum.h"

/* TUNING: a transaction of this many rows takes well under a second, so others
 * who write get their turn; a merge cut short is finished by merging again. */
#define ROWS_PER_TRANSACTION 20000

struct merge {
	struct costdb *to, *from;
	struct merge_in in;
	struct arena a;
	struct idmap envs, runs, conditions, damaged;
	db_id subject_from, subject_to; /* the current subject */
	uint32_t rows; /* of the open transaction */
	bool salvages; /* what cannot be read is as if it were not there */
	uint64_t survived; /* faults */
	struct notes *notes;
};

/* Is it the file that is written that has failed, or memory? */
static bool
is_ours(const struct merge *m, const struct err *err)
{
	int rc = sqlite3_errcode(m->to->h);

	return err->kind == ERR_INTERNAL
	    || (rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE);
}

/* A fault of the damaged file ends nothing; the first is told. */
static bool
is_survived(struct merge *m, struct err *err)
{
	if (err->kind == ERR_NONE)
		return true;
	if (!m->salvages || is_ours(m, err))
		return false;
	if (m->survived++ == 0)
		notes_add(m->notes, "%s: passed over", err->text);
	err_clear(err);
	return true;
}

/* Theirs. */
static sqlite3_stmt *
get_by_id(
    struct merge *m, enum statement which, db_id id, bool *row, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->from, which, err);

	*row = false;
	if (!s)
		return NULL;
	sqlite3_bind_int64(s, 1, id);
	return sql_step(m->from, s, row, err) || is_survived(m, err) ? s : NULL;
}

/* Our id of one of their environments; DB_NO_ID for one that is malformed. */
static bool
map_environments(struct merge *m, struct err *err)
{
	const struct db_environment *env;
	uint32_t n;

	if (!costdb_environments(m->from, &env, &n, &m->a, err)
	    && !is_survived(m, err))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		db_id id = DB_NO_ID;

		if (merge_hard_is_sane(env[i].hard, &m->a)
		    && !row_text(m->to, SQL_ENV_FIND, SQL_ENV_ADD, env[i].hard,
		        &id, err))
			return false;
		idmap_add(&m->envs, env[i].id, id);
	}
	return true;
}

static bool
map_conditions(struct merge *m, db_id from, db_id *to, struct err *err)
{
	sqlite3_stmt *s;
	bool row;

	*to = DB_NO_ID;
	if (from == DB_NO_ID || idmap_find(&m->conditions, from, to))
		return true;
	if (!(s = get_by_id(m, SQL_CONDITIONS_GET, from, &row, err)))
		return false;
	if (row
	    && !row_text(m->to, SQL_CONDITIONS_FIND, SQL_CONDITIONS_ADD,
	        column_text(s, 0), to, err))
		return false;
	sqlite3_reset(s);
	idmap_add(&m->conditions, from, *to);
	return true;
}

static bool
map_run(struct merge *m, db_id from, db_id *to, struct err *err)
{
	struct run_row run;
	sqlite3_stmt *s;
	bool row, ok = true;

	*to = DB_NO_ID;
	if (from == DB_NO_ID || idmap_find(&m->runs, from, to))
		return true;
	if (!(s = get_by_id(m, SQL_RUN_GET, from, &row, err)))
		return false;
	if (row && sqlite3_column_bytes(s, 0) == sizeof run.uuid) {
		memcpy(run.uuid, sqlite3_column_blob(s, 0), sizeof run.uuid);
		run.tool = column_text(s, 1);
		run.command = column_text(s, 2);
		run.host = column_text(s, 3);
		run.started_utc = column_text(s, 4);
		ok = merge_run(&m->in, &run, to, err);
	}
	sqlite3_reset(s);
	idmap_add(&m->runs, from, *to);
	return ok;
}

/* Rows come by subject, so only the current one is kept. */
static bool
map_subject(struct merge *m, db_id from, db_id *to, struct err *err)
{
	struct db_subject subject;
	sqlite3_stmt *s;
	bool row, ok = true;

	if (from == m->subject_from) {
		*to = m->subject_to;
		return true;
	}
	*to = DB_NO_ID;
	if (!(s = get_by_id(m, SQL_SUBJECT_GET, from, &row, err)))
		return false;
	if (row && sqlite3_column_bytes(s, 2) == 16
	    && sqlite3_column_bytes(s, 3) == 16) {
		subject = (struct db_subject){
		    .n = (size_t)sqlite3_column_bytes(s, 0),
		    .bytes = sqlite3_column_blob(s, 0),
		    .kind = column_text(s, 1),
		    .summary = column_text(s, 4),
		};
		memcpy(subject.skeleton.byte, sqlite3_column_blob(s, 2), 16);
		memcpy(subject.family.byte, sqlite3_column_blob(s, 3), 16);
		ok = merge_subject(&m->in, &subject, to, err);
	}
	sqlite3_reset(s);
	m->subject_from = from;
	m->subject_to = *to;
	return ok;
}

static bool
read_attempt(struct merge *m, sqlite3_stmt *s, struct measurement_row *row,
    struct err *err)
{
	db_id env = DB_NO_ID;

	*row = (struct measurement_row){
	    .outcome = column_text(s, 5),
	    .sample =
	        {
	            .n = (uint32_t)column_u64(s, 6),
	            .low = column_u64(s, 7),
	            .median = column_u64(s, 8),
	            .high = column_u64(s, 9),
	            .min = column_u64(s, 10),
	            .max_error = sqlite3_column_double(s, 11),
	            .span_ns = column_u64(s, 12),
	            .limit_ns = column_u64(s, 13),
	        },
	    .detail = column_text(s, 14),
	    .at_utc = column_text(s, 15),
	    .retired = sqlite3_column_int(s, 16) != 0,
	};
	if (sqlite3_column_bytes(s, 0) == sizeof row->uuid
	    && !idmap_find(
	        &m->damaged, sqlite3_column_int64(s, 17), &(db_id){0}))
		memcpy(row->uuid, sqlite3_column_blob(s, 0), sizeof row->uuid);
	else
		row->outcome = ""; /* rejected below */
	(void)idmap_find(&m->envs, sqlite3_column_int64(s, 2), &env);
	row->env = env;
	return map_subject(m, sqlite3_column_int64(s, 1), &row->subject, err)
	    && map_conditions(
	        m, sqlite3_column_int64(s, 3), &row->conditions, err)
	    && map_run(m, sqlite3_column_int64(s, 4), &row->run, err);
}

static bool
turn_over(struct merge *m, struct err *err)
{
	if (++m->rows < ROWS_PER_TRANSACTION)
		return true;
	m->rows = 0;
	return sql_end(m->to, true, err) && sql_begin(m->to, err);
}

static bool
merge_attempts(struct merge *m, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->from, SQL_ATTEMPTS, err);
	struct measurement_row row;
	bool there = false;

	while (s && sql_step(m->from, s, &there, err) && there)
		if (!read_attempt(m, s, &row, err)
		    || !merge_attempt(&m->in, &row, err) || !turn_over(m, err))
			break;
	if (s)
		sqlite3_reset(s);
	return err->kind == ERR_NONE && merge_end_group(&m->in, err);
}

/* ---- of a damaged file ---- */

/* The columns of SQL_ATTEMPTS, by id, from one on. */
static const char by_id[] =
    "SELECT uuid,subject_id,env_id,conditions_id,run_id,outcome,n,low_ns,"
    "median_ns,high_ns,min_ns,max_error,span_ns,limit_ns,detail,at_utc,"
    "retired,measurement_id FROM measurement NOT INDEXED"
    " WHERE measurement_id>?1 ORDER BY measurement_id";

/* The most that the table or its index still tells of; 0: neither does. */
static int64_t
ask_both(struct merge *m, const char *table, const char *index)
{
	struct err err = {.kind = ERR_NONE};
	int64_t one = 0, other = 0;

	(void)sql_integer(m->from, table, &one, &err);
	err.kind = ERR_NONE;
	(void)sql_integer(m->from, index, &other, &err);
	return one > other ? one : other;
}

/* On from `last` until a page cannot be read; *last is the last that could. */
static bool
salvage_from(struct merge *m, db_id *last, bool *ended, struct err *err)
{
	struct measurement_row row;
	sqlite3_stmt *s = NULL;
	bool there = false, ok = sql_prepare(m->from, by_id, &s, err);

	*ended = false;
	if (s)
		sqlite3_bind_int64(s, 1, *last);
	while (ok) {
		if (!sql_step(m->from, s, &there, err))
			break;
		*ended = !there;
		if (!there)
			break;
		*last = sqlite3_column_int64(s, 17);
		ok = read_attempt(m, s, &row, err)
		    && merge_attempt(&m->in, &row, err) && turn_over(m, err);
	}
	sqlite3_finalize(s);
	return ok && is_survived(m, err);
}

/* What cannot be read is passed over by ever larger steps. */
static bool
salvage_attempts(struct merge *m, struct err *err)
{
	static const char table[] =
	    "SELECT max(measurement_id) FROM measurement";
	static const char index[] =
	    "SELECT max(measurement_id) FROM measurement"
	    " INDEXED BY measurement_lookup";
	db_id last = 0, end = ask_both(m, table, index), step = 1;
	bool ended = false;

	while (!ended && last <= end) {
		db_id before = last;

		if (!salvage_from(m, &last, &ended, err))
			return false;
		step = last > before ? 1 : 2 * step;
		last += ended ? 0 : step;
	}
	return merge_end_group(&m->in, err);
}

/* ---- what else there is ---- */

/* The file may be older than its list of these. */
static bool
merge_all_retired(struct merge *m, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int64_t there;
	bool row = false, ok;

	if (!sql_integer(m->from,
	        "SELECT count(*) FROM sqlite_schema WHERE name='retired'",
	        &there, err))
		return false;
	if (!there)
		return true;
	ok = sql_prepare(m->from, "SELECT uuid FROM retired", &s, err);
	while (ok && sql_step(m->from, s, &row, err) && row)
		ok = sqlite3_column_bytes(s, 0) != 16
		    || (merge_retired(&m->in, sqlite3_column_blob(s, 0), err)
		        && turn_over(m, err));
	sqlite3_finalize(s);
	return ok && err->kind == ERR_NONE;
}

static bool
merge_model(struct merge *m, sqlite3_stmt *model, struct err *err)
{
	sqlite3_stmt *s = get_by_id(m, SQL_MODEL_SUBJECTS,
	    sqlite3_column_int64(model, 0), &(bool){false}, err);
	db_id id, subject;
	bool row = false, ok;

	if (!s)
		return false;
	sqlite3_reset(s);
	if (sqlite3_column_bytes(model, 1) != 16)
		return true;
	ok = merge_model_row(&m->in, sqlite3_column_blob(model, 1),
	    column_text(model, 2), column_u64(model, 3), &id, err);
	while (ok && sql_step(m->from, s, &row, err) && row)
		ok = map_subject(m, sqlite3_column_int64(s, 0), &subject, err)
		    && merge_occurrence(&m->in, id, subject, column_u64(s, 1),
		        column_text(s, 2), err)
		    && turn_over(m, err);
	sqlite3_reset(s);
	return ok && err->kind == ERR_NONE;
}

static bool
merge_models(struct merge *m, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->from, SQL_MODEL_LIST, err);
	bool row = false;

	while (s && sql_step(m->from, s, &row, err) && row)
		if (!merge_model(m, s, err))
			break;
	if (s)
		sqlite3_reset(s);
	return err->kind == ERR_NONE;
}

static bool
are_one_file(const struct costdb *a, const struct costdb *b)
{
	struct stat x, y;

	return stat(a->path, &x) == 0 && stat(b->path, &y) == 0
	    && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool
merge_rest(struct merge *m, struct err *err)
{
	return (merge_all_retired(m, err) || is_survived(m, err))
	    && (merge_models(m, err) || is_survived(m, err));
}

static bool
merge_all(
    struct merge *m, struct db_merge *out, struct notes *notes, struct err *err)
{
	return merge_begin(&m->in, m->to, m->from->path, out, notes, err)
	    && (sum_list_damaged(m->from, &m->damaged, err)
	        || is_survived(m, err))
	    && map_environments(m, err)
	    && (m->salvages ? salvage_attempts(m, err) : merge_attempts(m, err))
	    && merge_rest(m, err);
}

static bool
merge_files(struct costdb *db, struct costdb *from, bool salvages,
    struct db_merge *out, struct notes *notes, struct err *err)
{
	struct merge m = {
	    .to = db, .from = from, .salvages = salvages, .notes = notes};
	bool ok;

	*out = (struct db_merge){.added = 0};
	if (are_one_file(db, from))
		return err_set(
		    err, ERR_USAGE, "%s: merging with itself", db->path);
	arena_init(&m.a);
	idmap_init(&m.envs, &m.a);
	idmap_init(&m.runs, &m.a);
	idmap_init(&m.conditions, &m.a);
	idmap_init(&m.damaged, &m.a);
	ok = costdb_flush(db, err) && sql_begin(db, err);
	if (ok)
		ok = sql_end(db, merge_all(&m, out, notes, err), err);
	arena_release(&m.a);
	return ok;
}

bool
costdb_merge(struct costdb *db, struct costdb *from, struct db_merge *out,
    struct notes *notes, struct err *err)
{
	return costdb_trust(from, err)
	    && merge_files(db, from, false, out, notes, err)
	    && costdb_gc_again(db, err);
}

bool
costdb_salvage(struct costdb *db, struct costdb *damaged, struct db_merge *out,
    uint64_t *lost, struct notes *notes, struct err *err)
{
	struct merge m = {.from = damaged};
	int64_t known = ask_both(&m,
	    "SELECT count(*) FROM measurement NOT INDEXED",
	    "SELECT count(*) FROM measurement INDEXED BY measurement_lookup");

	if (!merge_files(db, damaged, true, out, notes, err))
		return false;
	*lost = (uint64_t)known > out->added ? (uint64_t)known - out->added : 0;
	return true;
}
