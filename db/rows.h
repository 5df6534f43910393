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

/* The subject with these bytes; *id = DB_NO_ID when there is none. */
bool row_find_subject(
    struct costdb *db, const void *bytes, size_t n, db_id *id, struct err *err);
bool row_subject(struct costdb *db, const struct db_subject *subject, db_id *id,
    struct err *err);
/* The same by the hash of its bytes, which is known already. */
bool row_hashed_subject(struct costdb *db, const struct db_subject *subject,
    const struct hash128 *hash, db_id *id, struct err *err);

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
