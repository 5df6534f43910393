/* Saving what is whole of a damaged file, which is merging it into an empty one. */
#include "db/admin.h"

#include "db/merging.h"
#include "db/sql.h"

/* The most that the table or its index still tells of; 0: neither does. */
static int64_t
ask_both(struct costdb *from, const char *table, const char *index)
{
	struct err err = {.kind = ERR_NONE};
	int64_t one = 0, other = 0;

	(void)sql_integer(from, table, &one, &err);
	err.kind = ERR_NONE;
	(void)sql_integer(from, index, &other, &err);
	return one > other ? one : other;
}

/* On from `last` until a page cannot be read; *last is the last that could. */
static bool
salvage_from(struct merging *m, db_id *last, bool *ended, struct err *err)
{
	sqlite3_stmt *s = NULL;
	bool there = false, ok = merging_prepare(m, &s, err);

	*ended = false;
	if (s)
		sqlite3_bind_int64(s, 1, *last);
	while (ok) {
		if (!sql_step(m->from, s, &there, err))
			break;
		*ended = !there;
		if (!there)
			break;
		*last = merging_id(s);
		ok = merging_attempt(m, s, err);
	}
	sqlite3_finalize(s);
	return ok && merging_survives(m, err);
}

/* What cannot be read is passed over by ever larger steps. */
static bool
salvage_attempts(struct merging *m, struct err *err)
{
	static const char table[] =
	    "SELECT max(measurement_id) FROM measurement";
	static const char index[] =
	    "SELECT max(measurement_id) FROM measurement"
	    " INDEXED BY measurement_lookup";
	db_id last = 0, end = ask_both(m->from, table, index), step = 1;
	bool ended = false;

	while (!ended && last <= end) {
		db_id before = last;

		if (!salvage_from(m, &last, &ended, err))
			return false;
		step = last > before ? 1 : 2 * step;
		last += ended ? 0 : step;
	}
	return true;
}

static bool
salvage_all(struct merging *m, struct db_merge *out, struct err *err)
{
	bool ok = merge_begin(&m->in, m->to, m->from->path, out, m->notes, err)
	    && merging_environments(m, err) && salvage_attempts(m, err)
	    && merging_rest(m, err);

	return merge_end(&m->in, ok, err);
}

bool
costdb_salvage(struct costdb *db, struct costdb *damaged, struct db_merge *out,
    uint64_t *lost, struct notes *notes, struct err *err)
{
	struct merging m = {.to = db,
	    .from = damaged,
	    .salvages = true,
	    .is_trusted = true,
	    .notes = notes};
	int64_t known = ask_both(damaged,
	    "SELECT count(*) FROM measurement NOT INDEXED",
	    "SELECT count(*) FROM measurement INDEXED BY measurement_lookup");
	bool ok;

	*out = (struct db_merge){.added = 0};
	if (!costdb_merge_begin(db, err))
		return false;
	merging_init(&m);
	ok = salvage_all(&m, out, err);
	merging_release(&m);
	*lost = (uint64_t)known > out->added ? (uint64_t)known - out->added : 0;
	return costdb_merge_end(db, ok, err);
}
