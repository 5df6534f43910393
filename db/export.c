/* Writing everything out as JSON lines. */
#include "db/admin.h"

#include <errno.h>
#include <string.h>

#include "db/hex.h"
#include "db/idmap.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/sum.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"

struct exporter {
	struct costdb *db;
	FILE *f;
	struct arena line; /* given back after each */
	db_id subject; /* the last one written */
	struct idmap damaged; /* attempts that are left out */
};

static void
begin(struct exporter *x, struct json *j)
{
	json_init(j, x->f, 0);
	json_object(j);
}

static void
end(struct exporter *x, struct json *j)
{
	json_close(j);
	arena_back(&x->line, (struct arena_mark){.top = NULL});
}

static void
put_hex(struct exporter *x, struct json *j, const char *key, sqlite3_stmt *s,
    int column)
{
	const void *bytes = sqlite3_column_blob(s, column);
	size_t n = (size_t)sqlite3_column_bytes(s, column);

	json_key_str(j, key, hex_text(bytes, bytes ? n : 0, &x->line));
}

static void
write_environment(struct exporter *x, sqlite3_stmt *s)
{
	struct json j;

	begin(x, &j);
	json_key_int(&j, "environment", sqlite3_column_int64(s, 0));
	json_key_str(&j, "hard", column_text(s, 1));
	end(x, &j);
}

static void
write_conditions(struct exporter *x, sqlite3_stmt *s)
{
	struct json j;

	begin(x, &j);
	json_key_int(&j, "conditions", sqlite3_column_int64(s, 0));
	json_key_str(&j, "soft", column_text(s, 1));
	end(x, &j);
}

static void
write_run(struct exporter *x, sqlite3_stmt *s)
{
	struct json j;

	begin(x, &j);
	json_key_int(&j, "run", sqlite3_column_int64(s, 0));
	put_hex(x, &j, "uuid", s, 1);
	json_key_str(&j, "tool", column_text(s, 2));
	json_key_str(&j, "command", column_text(s, 3));
	json_key_str(&j, "host", column_text(s, 4));
	json_key_str(&j, "started_utc", column_text(s, 5));
	end(x, &j);
}

static bool
write_subject(struct exporter *x, db_id id, struct err *err)
{
	sqlite3_stmt *s;
	struct json j;
	bool row;

	if (id == x->subject)
		return true;
	x->subject = id;
	if (!(s = sql_get(x->db, SQL_SUBJECT_GET, err)))
		return false;
	sqlite3_bind_int64(s, 1, id);
	if (!sql_step(x->db, s, &row, err))
		return false;
	if (!row)
		return true;
	begin(x, &j);
	json_key_int(&j, "subject", id);
	put_hex(x, &j, "bytes", s, 0);
	json_key_str(&j, "kind", column_text(s, 1));
	put_hex(x, &j, "skeleton", s, 2);
	put_hex(x, &j, "family", s, 3);
	json_key_str(&j, "summary", column_text(s, 4));
	end(x, &j);
	sqlite3_reset(s);
	return true;
}

static void
write_attempt(struct exporter *x, sqlite3_stmt *s)
{
	static const char *const figure[] = {
	    "n", "low_ns", "median_ns", "high_ns", "min_ns"};
	struct json j;

	begin(x, &j);
	put_hex(x, &j, "attempt", s, 0);
	json_key_int(&j, "subject", sqlite3_column_int64(s, 1));
	json_key_int(&j, "environment", sqlite3_column_int64(s, 2));
	if (sqlite3_column_int64(s, 3))
		json_key_int(&j, "conditions", sqlite3_column_int64(s, 3));
	if (sqlite3_column_int64(s, 4))
		json_key_int(&j, "run", sqlite3_column_int64(s, 4));
	json_key_str(&j, "outcome", column_text(s, 5));
	for (int i = 0; i < 5; i++)
		json_key_uint(&j, figure[i], column_u64(s, 6 + i));
	json_key_real(&j, "max_error", sqlite3_column_double(s, 11));
	if (column_u64(s, 18))
		json_key_uint(&j, "cpu_ns", column_u64(s, 18));
	json_key_uint(&j, "span_ns", column_u64(s, 12));
	json_key_uint(&j, "limit_ns", column_u64(s, 13));
	json_key_str(&j, "detail", column_text(s, 14));
	json_key_str(&j, "at_utc", column_text(s, 15));
	json_key_int(&j, "retired", sqlite3_column_int(s, 16) != 0);
	end(x, &j);
}

static void
write_retired(struct exporter *x, sqlite3_stmt *s)
{
	struct json j;

	begin(x, &j);
	put_hex(x, &j, "gone", s, 0);
	end(x, &j);
}

static bool
write_all(struct exporter *x, enum statement which,
    void (*write)(struct exporter *x, sqlite3_stmt *s), struct err *err)
{
	sqlite3_stmt *s = sql_get(x->db, which, err);
	bool row = false;

	while (s && sql_step(x->db, s, &row, err) && row)
		write(x, s);
	return err->kind == ERR_NONE;
}

static bool
write_attempts(struct exporter *x, struct err *err)
{
	sqlite3_stmt *s = sql_get(x->db, SQL_ATTEMPTS, err);
	bool row = false;

	while (s && sql_step(x->db, s, &row, err) && row) {
		if (idmap_find(
		        &x->damaged, sqlite3_column_int64(s, 17), &(db_id){0}))
			continue;
		if (!write_subject(x, sqlite3_column_int64(s, 1), err))
			break;
		write_attempt(x, s);
	}
	if (s)
		sqlite3_reset(s);
	return err->kind == ERR_NONE;
}

static bool
write_occurrences(struct exporter *x, db_id model, struct err *err)
{
	sqlite3_stmt *s = sql_get(x->db, SQL_MODEL_SUBJECTS, err);
	bool row = false;
	struct json j;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, model);
	while (sql_step(x->db, s, &row, err) && row) {
		begin(x, &j);
		json_key_int(&j, "occurrence", model);
		json_key_int(&j, "subject", sqlite3_column_int64(s, 0));
		json_key_uint(&j, "count", column_u64(s, 1));
		json_key_str(&j, "nodes", column_text(s, 2));
		end(x, &j);
	}
	return err->kind == ERR_NONE;
}

static bool
write_models(struct exporter *x, struct err *err)
{
	sqlite3_stmt *s = sql_get(x->db, SQL_MODEL_LIST, err);
	bool row = false;
	struct json j;

	while (s && sql_step(x->db, s, &row, err) && row) {
		begin(x, &j);
		json_key_int(&j, "model", sqlite3_column_int64(s, 0));
		put_hex(x, &j, "hash", s, 1);
		json_key_str(&j, "name", column_text(s, 2));
		json_key_uint(&j, "nodes", column_u64(s, 3));
		end(x, &j);
		if (!write_occurrences(x, sqlite3_column_int64(s, 0), err))
			break;
	}
	if (s)
		sqlite3_reset(s);
	return err->kind == ERR_NONE;
}

/* One read transaction, so that what is written belongs together. */
bool
costdb_export(struct costdb *db, FILE *f, struct notes *notes, struct err *err)
{
	struct exporter x = {.db = db, .f = f};
	struct arena a;
	bool ok;

	if (!costdb_flush(db, err) || !sql_exec(db, "BEGIN", err))
		return false;
	arena_init(&x.line);
	arena_init(&a);
	idmap_init(&x.damaged, &a);
	fprintf(f, "{\"schema\":\"marq.db/1\"}\n");
	ok = sum_list_damaged(db, &x.damaged, err)
	    && write_all(&x, SQL_ENV_LIST, write_environment, err)
	    && write_all(&x, SQL_CONDITIONS_LIST, write_conditions, err)
	    && write_all(&x, SQL_RUN_LIST, write_run, err)
	    && write_attempts(&x, err)
	    && write_all(&x, SQL_RETIRED_LIST, write_retired, err)
	    && write_models(&x, err);
	sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL);
	if (notes && x.damaged.n)
		notes_add(notes, "%s: leaves out %u damaged attempt%s",
		    db->path, x.damaged.n, plural(x.damaged.n));
	arena_release(&x.line);
	arena_release(&a);
	if (ok && (fflush(f) != 0 || ferror(f)))
		return err_set(err, ERR_IO, "cannot write the export: %s",
		    strerror(errno));
	return ok;
}
