/* Environments, and what figures there are of each. */
#include "db/admin.h"

#include "db/rows.h"
#include "db/sql.h"

/* What a row of a statement's answer is read into. */
struct row_kind {
	enum statement from;
	size_t size;
	void (*read)(void *row, sqlite3_stmt *s, struct arena *a);
};

/* All rows; what was read before a fault as well. */
static const void *
list_rows(struct costdb *db, const struct row_kind *kind, uint32_t *n,
    struct arena *a, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, kind->from, err);
	char *list = NULL;
	uint32_t cap = 0;
	bool row;

	*n = 0;
	while (s && sql_step(db, s, &row, err) && row) {
		list = arena_grow(a, list, &cap, *n + 1, kind->size);
		kind->read(list + *n * kind->size, s, a);
		++*n;
	}
	return list;
}

static void
read_environment(void *row, sqlite3_stmt *s, struct arena *a)
{
	*(struct db_environment *)row = (struct db_environment){
	    .id = sqlite3_column_int64(s, 0),
	    .hard = arena_str(a, column_text(s, 1)),
	};
}

static void
read_summed(void *row, sqlite3_stmt *s, struct arena *a)
{
	*(struct db_summed *)row = (struct db_summed){
	    .hard = arena_str(a, column_text(s, 0)),
	    .subjects = column_u64(s, 1),
	    .attempts = column_u64(s, 2),
	    .newest_utc = arena_str(a, column_text(s, 3)),
	};
}

static void
read_under(void *row, sqlite3_stmt *s, struct arena *a)
{
	*(struct db_under *)row = (struct db_under){
	    .hard = arena_str(a, column_text(s, 0)),
	    .soft = arena_str(a, column_text(s, 1)),
	};
}

bool
costdb_environments(struct costdb *db, const struct db_environment **env,
    uint32_t *n, struct arena *a, struct err *err)
{
	static const struct row_kind kind = {
	    SQL_ENV_LIST, sizeof **env, read_environment};

	*env = list_rows(db, &kind, n, a, err);
	return err->kind == ERR_NONE;
}

bool
costdb_summed(struct costdb *db, const struct db_summed **out, uint32_t *n,
    struct arena *a, struct err *err)
{
	static const struct row_kind kind = {
	    SQL_ENV_SUMS, sizeof **out, read_summed};

	*out = list_rows(db, &kind, n, a, err);
	return err->kind == ERR_NONE;
}

bool
costdb_under(struct costdb *db, const struct db_under **out, uint32_t *n,
    struct arena *a, struct err *err)
{
	static const struct row_kind kind = {
	    SQL_ENV_CONDITIONS, sizeof **out, read_under};

	*out = list_rows(db, &kind, n, a, err);
	return err->kind == ERR_NONE;
}
