#include "db/rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

const char *const outcome_words[NOUTCOME] = {
#define OUTCOME(name, word) [OUTCOME_##name] = word,
#include "ir/base/outcome.def"
#undef OUTCOME
};

enum outcome
outcome_find(const char *word)
{
	unsigned i = 0;

	while (i < NOUTCOME && strcmp(outcome_words[i], word) != 0)
		i++;
	return i;
}

const char *
costdb_outcome_word(enum outcome outcome)
{
	return outcome_words[outcome];
}

enum outcome
costdb_outcome(const char *word)
{
	return outcome_find(word);
}

bool
row_find_text(struct costdb *db, enum statement find, const char *text,
    db_id *id, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, find, err);

	if (!s)
		return false;
	bind_text(s, 1, text);
	return sql_step_id(db, s, id, err);
}

bool
row_text(struct costdb *db, enum statement find, enum statement add,
    const char *text, db_id *id, struct err *err)
{
	sqlite3_stmt *s;

	if (!row_find_text(db, find, text, id, err))
		return false;
	if (*id != DB_NO_ID)
		return true;
	if (!(s = sql_get(db, add, err)))
		return false;
	bind_text(s, 1, text);
	if (!sql_run(db, s, err))
		return false;
	*id = sqlite3_last_insert_rowid(db->h);
	return true;
}

static bool
find_hashed(struct costdb *db, const void *bytes, size_t n,
    const struct hash128 *hash, db_id *id, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_SUBJECT_FIND, err);

	if (!s)
		return false;
	bind_blob(s, 1, hash->byte, sizeof hash->byte);
	bind_blob(s, 2, bytes, n);
	return sql_step_id(db, s, id, err);
}

bool
row_find_subject(
    struct costdb *db, const void *bytes, size_t n, db_id *id, struct err *err)
{
	struct hash128 h = hash128(bytes, n);

	return find_hashed(db, bytes, n, &h, id, err);
}

bool
row_hashed_subject(struct costdb *db, const struct db_subject *subject,
    const struct hash128 *hash, db_id *id, struct err *err)
{
	sqlite3_stmt *s;

	if (!find_hashed(db, subject->bytes, subject->n, hash, id, err))
		return false;
	if (*id != DB_NO_ID)
		return true;
	if (!(s = sql_get(db, SQL_SUBJECT_ADD, err)))
		return false;
	bind_blob(s, 1, hash->byte, sizeof hash->byte);
	bind_blob(s, 2, subject->bytes, subject->n);
	bind_text(s, 3, subject->kind);
	bind_blob(s, 4, subject->skeleton.byte, sizeof hash->byte);
	bind_blob(s, 5, subject->family.byte, sizeof hash->byte);
	bind_text(s, 6, subject->summary);
	if (!sql_run(db, s, err))
		return false;
	*id = sqlite3_last_insert_rowid(db->h);
	return true;
}

bool
row_subject(struct costdb *db, const struct db_subject *subject, db_id *id,
    struct err *err)
{
	struct hash128 h = hash128(subject->bytes, subject->n);

	return row_hashed_subject(db, subject, &h, id, err);
}

static void
bind_row_or_null(sqlite3_stmt *s, int i, db_id id)
{
	if (id != DB_NO_ID)
		sqlite3_bind_int64(s, i, id);
}

static void
bind_measurement(sqlite3_stmt *s, const struct measurement_row *row)
{
	const struct sample *x = &row->sample;

	bind_blob(s, 1, row->uuid, sizeof row->uuid);
	sqlite3_bind_int64(s, 2, row->subject);
	sqlite3_bind_int64(s, 3, row->env);
	bind_row_or_null(s, 4, row->conditions);
	bind_row_or_null(s, 5, row->run);
	bind_text(s, 6, row->outcome);
	bind_u64(s, 7, x->n);
	bind_u64(s, 8, x->low);
	bind_u64(s, 9, x->median);
	bind_u64(s, 10, x->high);
	bind_u64(s, 11, x->min);
	sqlite3_bind_double(s, 12, x->max_error);
	bind_u64(s, 13, x->span_ns);
	bind_u64(s, 14, x->limit_ns);
	bind_text(s, 15, row->detail);
	bind_text(s, 16, row->at_utc);
	bind_u64(s, 17, x->cpu);
}

bool
row_measurement(
    struct costdb *db, const struct measurement_row *row, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_MEASUREMENT_ADD, err);

	if (!s)
		return false;
	bind_measurement(s, row);
	return sql_run(db, s, err);
}

bool
row_merge_measurement(struct costdb *db, const struct measurement_row *row,
    const uint64_t *sum, bool *added, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_MEASUREMENT_MERGE, err);

	if (!s)
		return false;
	bind_measurement(s, row);
	sqlite3_bind_int(s, 18, row->retired);
	if (sum)
		sqlite3_bind_int64(s, 19, (sqlite3_int64)*sum);
	if (!sql_run(db, s, err))
		return false;
	*added = sqlite3_changes(db->h) > 0;
	return true;
}

bool
row_drop_lease(struct costdb *db, db_id subject, db_id env, struct err *err)
{
	sqlite3_stmt *s;

	if (db->owner[0] == '\0')
		return true;
	if (!(s = sql_get(db, SQL_LEASE_DROP, err)))
		return false;
	sqlite3_bind_int64(s, 1, subject);
	sqlite3_bind_int64(s, 2, env);
	bind_text(s, 3, db->owner);
	return sql_run(db, s, err);
}

void
uuid_make(uint8_t uuid[16])
{
	static uint16_t counter;
	struct timespec now;
	uint64_t ms;

	if (getrandom(uuid, 16, 0) != 16)
		abort(); /* the kernel gives 16 bytes whole or not at all */
	clock_gettime(CLOCK_REALTIME, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	for (int i = 0; i < 6; i++)
		uuid[i] = (uint8_t)(ms >> (40 - 8 * i));
	counter++;
	uuid[6] = (uint8_t)((counter >> 8 & 0x0f) | 0x70);
	uuid[7] = (uint8_t)counter;
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}
