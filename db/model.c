/* Which models there are and which subjects occur in them. */
#include "db/admin.h"

#include "db/rows.h"
#include "db/sql.h"

static bool
find_model(struct costdb *db, struct hash128 hash, db_id *id, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_MODEL_FIND, err);

	*id = DB_NO_ID;
	if (!s)
		return false;
	bind_blob(s, 1, hash.byte, sizeof hash.byte);
	return sql_step_id(db, s, id, err);
}

bool
costdb_knows_model(
    struct costdb *db, struct hash128 hash, bool *yes, struct err *err)
{
	db_id id;

	if (!find_model(db, hash, &id, err))
		return false;
	*yes = id != DB_NO_ID;
	return true;
}

bool
row_model(
    struct costdb *db, const struct db_model *m, db_id *id, struct err *err)
{
	sqlite3_stmt *s;
	char utc[24];

	if (!find_model(db, m->hash, id, err))
		return false;
	if (*id != DB_NO_ID)
		return true;
	if (!(s = sql_get(db, SQL_MODEL_ADD, err)))
		return false;
	utc_now(utc);
	bind_blob(s, 1, m->hash.byte, sizeof m->hash.byte);
	bind_text(s, 2, m->name);
	bind_u64(s, 3, m->nnodes);
	bind_text(s, 4, utc);
	if (!sql_run(db, s, err))
		return false;
	*id = sqlite3_last_insert_rowid(db->h);
	return true;
}

bool
row_occurrence(struct costdb *db, db_id model, db_id subject,
    uint64_t occurrences, const char *nodes, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_MODEL_SUBJECT_ADD, err);

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, model);
	sqlite3_bind_int64(s, 2, subject);
	bind_u64(s, 3, occurrences);
	bind_text(s, 4, nodes);
	return sql_run(db, s, err);
}

static bool
add_occurrence(struct costdb *db, db_id model, const struct db_occurrence *o,
    struct err *err)
{
	db_id subject;

	if (!row_find_subject(
	        db, o->subject->bytes, o->subject->n, &subject, err))
		return false;
	return subject == DB_NO_ID
	    || row_occurrence(
	        db, model, subject, o->occurrences, o->nodes, err);
}

bool
costdb_places(struct costdb *db, db_id subject,
    void (*see)(void *context, const char *model, uint64_t occurrences,
        const char *nodes),
    void *context, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_PLACES, err);
	bool row = false;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, subject);
	while (sql_step(db, s, &row, err) && row)
		see(context, column_text(s, 0), column_u64(s, 1),
		    column_text(s, 2));
	return err->kind == ERR_NONE;
}

bool
costdb_model(struct costdb *db, const struct db_model *m, struct err *err)
{
	db_id model;
	bool ok;

	if (!sql_begin(db, err))
		return false;
	ok = row_model(db, m, &model, err);
	for (uint32_t i = 0; ok && i < m->n; i++)
		ok = add_occurrence(db, model, &m->occurrence[i], err);
	return sql_end(db, ok, err);
}
