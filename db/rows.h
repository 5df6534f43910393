/* Rows by content: found, or added. Callers hold a write transaction. */
#ifndef DB_ROWS_H
#define DB_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "db/sql.h"

extern const char *const outcome_words[NOUTCOME];

/* The outcome of a word; NOUTCOME for none. */
enum outcome outcome_find(const char *word);

/* The row whose only text is this; *id = DB_NO_ID when there is none. */
bool row_find_text(struct costdb *db, enum statement find, const char *text,
    db_id *id, struct err *err);
bool row_text(struct costdb *db, enum statement find, enum statement add,
    const char *text, db_id *id, struct err *err);

/* What a subject is found by: of the hash of its bytes. */
int64_t subject_key(const struct hash128 *hash);

/* The subject with these bytes; *id = DB_NO_ID when there is none. */
bool row_find_subject(
    struct costdb *db, const void *bytes, size_t n, db_id *id, struct err *err);
bool row_subject(struct costdb *db, const struct db_subject *subject, db_id *id,
    struct err *err);
/* The same by the hash of its bytes, which is known already. */
bool row_find_hashed(struct costdb *db, const void *bytes, size_t n,
    const struct hash128 *hash, db_id *id, struct err *err);

/* Add subjects that are not there, one or many; their rows of kin are to be seen
 * to. */
struct subject_row {
	struct db_subject subject;
	struct hash128 hash; /* of its bytes */
	db_id id; /* DB_NO_ID: the next one */
};
bool row_add_subject(
    struct costdb *db, const struct subject_row *row, struct err *err);
bool row_add_subjects(struct costdb *db,
    const struct subject_row row[ROWS_AT_ONCE], struct err *err);
bool row_kin(
    struct costdb *db, const struct db_subject *subject, struct err *err);

struct measurement_row {
	uint8_t uuid[16];
	db_id subject, env, conditions, run; /* last two may be DB_NO_ID */
	const char *outcome;
	struct sample sample; /* but for its detail */
	const char *detail, *at_utc;
	bool retired; /* merged rows may come retired */
};
bool row_measurement(
    struct costdb *db, const struct measurement_row *row, struct err *err);

/* The same unless its uuid is there; `sum` is its checksum (db/sum.h) where the
 * caller knows it, or NULL. */
bool row_merge_measurement(struct costdb *db, const struct measurement_row *row,
    const uint64_t *sum, bool *added, struct err *err);

/* The same for many; *added of them were not there. */
bool row_merge_measurements(struct costdb *db,
    const struct measurement_row row[ROWS_AT_ONCE],
    const uint64_t sum[ROWS_AT_ONCE], uint32_t *added, struct err *err);

/* The model of this hash, added when new (its occurrences are not). */
bool row_model(struct costdb *db, const struct db_model *model, db_id *id,
    struct err *err);
bool row_occurrence(struct costdb *db, db_id model, db_id subject,
    uint64_t occurrences, const char *nodes, struct err *err);

bool row_drop_lease(
    struct costdb *db, db_id subject, db_id env, struct err *err);

/* A version 7 uuid: milliseconds, a counter, random bits; later ones of one
 * process are greater. */
void uuid_make(uint8_t uuid[16]);

#endif
