/* Putting attempts in: queued, then stored a batch a transaction. */
#define _GNU_SOURCE
#include "db/db.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "db/facts.h"
#include "db/rows.h"
#include "db/sql.h"
#include "ir/base/clock.h"

/* TUNING: a transaction costs one sync of the disk (some ms); attempts cost
 * ten milliseconds and more each, so these bounds lose little to a crash. */
#define BATCH_ROWS 100
#define BATCH_NS UINT64_C(1000000000)

bool
costdb_environment(
    struct costdb *db, const char *hard, bool add, db_id *env, struct err *err)
{
	bool ok;

	if (!row_find_text(db, SQL_ENV_FIND, hard, env, err))
		return false;
	if (*env != DB_NO_ID || !add)
		return true;
	if (!sql_begin(db, err))
		return false;
	ok = row_text(db, SQL_ENV_FIND, SQL_ENV_ADD, hard, env, err);
	ok = sql_end(db, ok, err);
	if (!ok)
		*env = DB_NO_ID; /* the row went with its transaction */
	return ok;
}

bool
costdb_begin_run(struct costdb *db, const char *tool, const char *command,
    const char *soft, struct err *err)
{
	if (!costdb_flush(db, err))
		return false;
	/* Copied before anything is queued, so dropping the queue keeps it. */
	db->tool = arena_str(&db->queue, tool);
	db->command = arena_str(&db->queue, command);
	db->soft = arena_str(&db->queue, soft);
	db->queue_floor = arena_mark(&db->queue);
	db->run = DB_NO_ID;
	db->conditions = DB_NO_ID;
	return true;
}

/* The row of the run is written with its first attempt: a run that measures
 * nothing leaves no trace. */
static bool
store_run(struct costdb *db, struct err *err)
{
	char host[256] = "", utc[24];
	uint8_t uuid[16];
	sqlite3_stmt *s;

	if (!db->tool || db->run != DB_NO_ID)
		return true;
	if (!row_text(db, SQL_CONDITIONS_FIND, SQL_CONDITIONS_ADD, db->soft,
	        &db->conditions, err)
	    || !(s = sql_get(db, SQL_RUN_ADD, err)))
		return false;
	uuid_make(uuid);
	utc_now(utc);
	gethostname(host, sizeof host - 1);
	bind_blob(s, 1, uuid, sizeof uuid);
	bind_text(s, 2, db->tool);
	bind_text(s, 3, db->command);
	bind_text(s, 4, host);
	bind_text(s, 5, utc);
	if (!sql_run(db, s, err))
		return false;
	db->run = sqlite3_last_insert_rowid(db->h);
	return true;
}

static bool
store(struct costdb *db, const struct pending *p, struct err *err)
{
	struct measurement_row row = {
	    .env = p->env,
	    .conditions = db->conditions,
	    .run = db->run,
	    .outcome = outcome_words[p->sample.outcome],
	    .sample = p->sample,
	    .detail = p->sample.detail,
	    .at_utc = p->at_utc,
	};

	if (p->soft
	    && !row_text(db, SQL_CONDITIONS_FIND, SQL_CONDITIONS_ADD, p->soft,
	        &row.conditions, err))
		return false;
	memcpy(row.uuid, p->uuid, sizeof row.uuid);
	return row_subject(db, &p->subject, &row.subject, err)
	    && row_measurement(db, &row, err)
	    && row_drop_lease(db, row.subject, row.env, err);
}

bool
costdb_flush(struct costdb *db, struct err *err)
{
	db_id run = db->run, conditions = db->conditions;
	bool ok;

	if (db->npending == 0)
		return true;
	if (!sql_begin(db, err))
		return false;
	ok = store_run(db, err);
	for (uint32_t i = 0; ok && i < db->npending; i++)
		ok = store(db, &db->pending[i], err);
	if (!sql_end(db, ok, err)) {
		db->run = run;
		db->conditions = conditions;
		return false;
	}
	db->npending = db->pending_cap = 0;
	db->pending = NULL;
	arena_back(&db->queue, db->queue_floor);
	return true;
}

static struct db_subject
copy_subject(struct arena *a, const struct db_subject *s)
{
	struct db_subject copy = *s;

	copy.bytes = arena_copy(a, s->bytes, s->n);
	copy.kind = arena_str(a, s->kind);
	copy.summary = arena_str(a, s->summary);
	return copy;
}

/* Queued; stored when that is worth a transaction. */
static bool
flush_sometimes(struct costdb *db, struct err *err)
{
	return (db->npending < BATCH_ROWS
	           && clock_ns() - db->oldest_ns < BATCH_NS)
	    || costdb_flush(db, err);
}

static struct pending *
queue(struct costdb *db, const struct db_subject *subject, db_id env,
    const struct sample *sample, const char *at_utc)
{
	struct pending *p;

	assert(db->mode == DB_WRITE && env != DB_NO_ID && subject->n > 0);
	sample_verify(sample);
	if (db->npending == 0)
		db->oldest_ns = clock_ns();
	db->pending = arena_grow(&db->queue, db->pending, &db->pending_cap,
	    db->npending + 1, sizeof *db->pending);
	p = &db->pending[db->npending++];
	*p = (struct pending){
	    .subject = copy_subject(&db->queue, subject),
	    .env = env,
	    .sample = *sample,
	    .at_utc = arena_str(&db->queue, at_utc),
	};
	if (!isfinite(p->sample.max_error))
		p->sample.max_error = DBL_MAX;
	uuid_make(p->uuid);
	return p;
}

bool
costdb_put_under(struct costdb *db, const struct db_subject *subject, db_id env,
    const struct sample *sample, const char *soft, struct err *err)
{
	char utc[24];

	utc_now(utc);
	queue(db, subject, env, sample, utc)->soft =
	    arena_str(&db->queue, soft);
	return flush_sometimes(db, err);
}

bool
costdb_put(struct costdb *db, const struct db_subject *subject, db_id env,
    const struct sample *sample, struct err *err)
{
	char utc[24];

	utc_now(utc);
	return costdb_put_at(db, subject, env, sample, utc, err);
}

bool
costdb_put_at(struct costdb *db, const struct db_subject *subject, db_id env,
    const struct sample *sample, const char *at_utc, struct err *err)
{
	queue(db, subject, env, sample, at_utc);
	return flush_sometimes(db, err);
}
