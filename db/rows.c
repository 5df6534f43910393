#include "db/rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ir/base/clock.h"

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

int64_t
subject_key(const struct hash128 *hash)
{
	uint64_t key = 0;

	for (int i = 0; i < 8; i++)
		key |= (uint64_t)hash->byte[i] << 8 * i;
	return (int64_t)key;
}

static void
bind_row_or_null(sqlite3_stmt *s, int i, db_id id)
{
	if (id != DB_NO_ID)
		sqlite3_bind_int64(s, i, id);
}

bool
row_find_hashed(struct costdb *db, const void *bytes, size_t n,
    const struct hash128 *hash, db_id *id, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_SUBJECT_FIND, err);

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, subject_key(hash));
	bind_blob(s, 2, bytes, n);
	return sql_step_id(db, s, id, err);
}

bool
row_find_subject(
    struct costdb *db, const void *bytes, size_t n, db_id *id, struct err *err)
{
	struct hash128 h = hash128(bytes, n);

	return row_find_hashed(db, bytes, n, &h, id, err);
}

bool
row_kin(struct costdb *db, const struct db_subject *subject, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_KIN_ADD, err);

	if (!s)
		return false;
	bind_blob(s, 1, subject->skeleton.byte, sizeof subject->skeleton.byte);
	bind_blob(s, 2, subject->family.byte, sizeof subject->family.byte);
	bind_text(s, 3, subject->summary);
	return sql_run(db, s, err);
}

/* From parameter `at` on; the id may be DB_NO_ID. */
static void
bind_subject(sqlite3_stmt *s, int at, const struct subject_row *row)
{
	const struct db_subject *subject = &row->subject;

	bind_blob(s, at, row->hash.byte, sizeof row->hash.byte);
	bind_blob(s, at + 1, subject->bytes, subject->n);
	bind_text(s, at + 2, subject->kind);
	bind_blob(s, at + 3, subject->skeleton.byte, sizeof row->hash.byte);
	bind_blob(s, at + 4, subject->family.byte, sizeof row->hash.byte);
	bind_text(s, at + 5, subject->summary);
	sqlite3_bind_int64(s, at + 6, subject_key(&row->hash));
	bind_row_or_null(s, at + 7, row->id);
}

bool
row_add_subject(
    struct costdb *db, const struct subject_row *row, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_SUBJECT_ADD, err);

	if (!s)
		return false;
	bind_subject(s, 1, row);
	return sql_run(db, s, err);
}

bool
row_add_subjects(struct costdb *db, const struct subject_row row[ROWS_AT_ONCE],
    struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_SUBJECT_ADD_MANY, err);

	if (!s)
		return false;
	for (int i = 0; i < ROWS_AT_ONCE; i++)
		bind_subject(s, 1 + 8 * i, &row[i]);
	return sql_run(db, s, err);
}

bool
row_subject(struct costdb *db, const struct db_subject *subject, db_id *id,
    struct err *err)
{
	struct subject_row row = {
	    .subject = *subject, .hash = hash128(subject->bytes, subject->n)};

	if (!row_find_hashed(
	        db, subject->bytes, subject->n, &row.hash, id, err))
		return false;
	if (*id != DB_NO_ID)
		return true;
	if (!row_add_subject(db, &row, err))
		return false;
	*id = sqlite3_last_insert_rowid(db->h);
	return row_kin(db, subject, err);
}

/* From parameter `at` on. */
static void
bind_measurement(sqlite3_stmt *s, int at, const struct measurement_row *row)
{
	const struct sample *x = &row->sample;

	bind_blob(s, at, row->uuid, sizeof row->uuid);
	sqlite3_bind_int64(s, at + 1, row->subject);
	sqlite3_bind_int64(s, at + 2, row->env);
	bind_row_or_null(s, at + 3, row->conditions);
	bind_row_or_null(s, at + 4, row->run);
	bind_text(s, at + 5, row->outcome);
	bind_u64(s, at + 6, x->n);
	bind_u64(s, at + 7, x->low);
	bind_u64(s, at + 8, x->median);
	bind_u64(s, at + 9, x->high);
	bind_u64(s, at + 10, x->min);
	sqlite3_bind_double(s, at + 11, x->max_error);
	bind_u64(s, at + 12, x->span_ns);
	bind_u64(s, at + 13, x->limit_ns);
	bind_text(s, at + 14, row->detail);
	bind_text(s, at + 15, row->at_utc);
	bind_u64(s, at + 16, x->cpu);
}

bool
row_measurement(
    struct costdb *db, const struct measurement_row *row, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_MEASUREMENT_ADD, err);

	if (!s)
		return false;
	bind_measurement(s, 1, row);
	return sql_run(db, s, err);
}

bool
row_merge_measurement(struct costdb *db, const struct measurement_row *row,
    const uint64_t *sum, bool *added, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_MEASUREMENT_MERGE, err);

	if (!s)
		return false;
	bind_measurement(s, 1, row);
	sqlite3_bind_int(s, 18, row->retired);
	if (sum)
		sqlite3_bind_int64(s, 19, (sqlite3_int64)*sum);
	if (!sql_run(db, s, err))
		return false;
	*added = sqlite3_changes(db->h) > 0;
	return true;
}

bool
row_merge_measurements(struct costdb *db,
    const struct measurement_row row[ROWS_AT_ONCE],
    const uint64_t sum[ROWS_AT_ONCE], uint32_t *added, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_MEASUREMENT_MERGE_MANY, err);

	if (!s)
		return false;
	for (int i = 0; i < ROWS_AT_ONCE; i++) {
		const int at = 1 + 19 * i;

		bind_measurement(s, at, &row[i]);
		sqlite3_bind_int(s, at + 17, row[i].retired);
		sqlite3_bind_int64(s, at + 18, (sqlite3_int64)sum[i]);
	}
	if (!sql_run(db, s, err))
		return false;
	*added = (uint32_t)sqlite3_changes(db->h);
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
	uint64_t ms;

	if (getrandom(uuid, 16, 0) != 16)
		abort(); /* the kernel gives 16 bytes whole or not at all */
	ms = clock_read_ns(CLOCK_REALTIME) / 1000000;
	for (int i = 0; i < 6; i++)
		uuid[i] = (uint8_t)(ms >> (40 - 8 * i));
	counter++;
	uuid[6] = (uint8_t)((counter >> 8 & 0x0f) | 0x70);
	uuid[7] = (uint8_t)counter;
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}
