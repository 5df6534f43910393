/* Environments, and what figures there are of each. */
#include "db/admin.h"

#include "db/rows.h"
#include "db/sql.h"

bool
costdb_summed(struct costdb *db, const struct db_summed **out, uint32_t *n,
    struct arena *a, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_ENV_SUMS, err);
	struct db_summed *list = NULL;
	uint32_t cap = 0;
	bool row;

	*n = 0;
	if (!s)
		return false;
	while (sql_step(db, s, &row, err) && row) {
		list = arena_grow(a, list, &cap, *n + 1, sizeof *list);
		list[(*n)++] = (struct db_summed){
		    .hard = arena_str(a, column_text(s, 0)),
		    .subjects = column_u64(s, 1),
		    .attempts = column_u64(s, 2),
		    .newest_utc = arena_str(a, column_text(s, 3)),
		};
	}
	*out = list;
	return err->kind == ERR_NONE;
}

bool
costdb_under(struct costdb *db, const struct db_under **out, uint32_t *n,
    struct arena *a, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_ENV_CONDITIONS, err);
	struct db_under *list = NULL;
	uint32_t cap = 0;
	bool row;

	*n = 0;
	if (!s)
		return false;
	while (sql_step(db, s, &row, err) && row) {
		list = arena_grow(a, list, &cap, *n + 1, sizeof *list);
		list[(*n)++] = (struct db_under){
		    .hard = arena_str(a, column_text(s, 0)),
		    .soft = arena_str(a, column_text(s, 1)),
		};
	}
	*out = list;
	return err->kind == ERR_NONE;
}
