/* Small questions about the file as a whole. */
#include "db/db.h"

#include <stdio.h>

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

/* Of the subjects up to an id, how many have keys older than a version. They are
 * only ever added to: what collects them forgets this (gc.c). */
struct key_count {
	unsigned version;
	long long upto;
	unsigned long long n;
};
#define COUNTED_FORMAT "%u %lld %llu"

/* TUNING: reading so many takes half a millisecond, keeping what they come to a
 * write that waits for the disk. */
#define WORTH_KEEPING 1000

static void
recall(struct costdb *db, uint8_t version, struct key_count *c)
{
	struct err ignored = {.kind = ERR_NONE};
	struct arena a;
	const char *text = NULL;

	arena_init(&a);
	if (!costdb_meta_get(db, META_OLDER_KEYS, &text, &a, &ignored) || !text
	    || sscanf(text, COUNTED_FORMAT, &c->version, &c->upto, &c->n) != 3
	    || c->version != version)
		*c = (struct key_count){.version = version};
	arena_release(&a);
}

static void
keep(struct costdb *db, const struct key_count *c)
{
	struct err ignored = {.kind = ERR_NONE};
	char text[64];

	snprintf(text, sizeof text, COUNTED_FORMAT, c->version, c->upto, c->n);
	costdb_meta_put(db, META_OLDER_KEYS, text, &ignored);
}

bool
costdb_older_keys(
    struct costdb *db, uint8_t version, uint64_t *n, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_OLDER_KEYS, err);
	struct key_count c;
	int64_t looked_at;
	bool row;

	*n = 0;
	if (!s)
		return false;
	recall(db, version, &c);
	bind_blob(s, 1, &version, sizeof version);
	sqlite3_bind_int64(s, 2, c.upto);
	if (!sql_step(db, s, &row, err))
		return false;
	c.n += (uint64_t)sqlite3_column_int64(s, 0);
	looked_at = sqlite3_column_int64(s, 1);
	c.upto = sqlite3_column_int64(s, 2);
	sqlite3_reset(s);
	if (looked_at >= WORTH_KEEPING && db->mode == DB_WRITE)
		keep(db, &c);
	*n = c.n;
	return true;
}
