/* Small questions about the file as a whole. */
#include "db/db.h"

#include "db/sql.h"

bool
costdb_conditions(struct costdb *db, db_id conditions, const char **soft,
    struct arena *a, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_CONDITIONS_GET, err);

	if (s)
		sqlite3_bind_int64(s, 1, conditions);
	if (!s || !sql_step_text(db, s, soft, a, err))
		return false;
	*soft = *soft ? *soft : "";
	return true;
}

bool
costdb_older_keys(
    struct costdb *db, uint8_t version, uint64_t *n, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_OLDER_KEYS, err);
	db_id count;

	*n = 0;
	if (!s)
		return false;
	bind_blob(s, 1, &version, sizeof version);
	if (!sql_step_id(db, s, &count, err))
		return false;
	*n = (uint64_t)count;
	return true;
}

bool
costdb_meta_get(struct costdb *db, const char *key, const char **value,
    struct arena *a, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_META_GET, err);

	if (!s)
		return false;
	bind_text(s, 1, key);
	return sql_step_text(db, s, value, a, err);
}

bool
costdb_meta_put(
    struct costdb *db, const char *key, const char *value, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_META_PUT, err);

	if (!s)
		return false;
	bind_text(s, 1, key);
	bind_text(s, 2, value);
	return sql_run(db, s, err);
}
