/* Rows that are known to be new, gathered so that one statement adds many: beginning
 * and ending a statement takes longer than adding a row. */
#ifndef DB_BATCH_H
#define DB_BATCH_H

#include "db/rows.h"

struct row_batch {
	struct arena a; /* of what the rows point to */
	struct subject_row subject[ROWS_AT_ONCE];
	struct measurement_row attempt[ROWS_AT_ONCE];
	uint64_t sum[ROWS_AT_ONCE]; /* of attempt[] */
	uint32_t nsubjects, nattempts;
	db_id next; /* the id of the next subject */
};

/* Within a transaction; `next` is above the ids of all subjects there are. */
void batch_init(struct row_batch *b, db_id next);
void batch_release(struct row_batch *b);

/* The id of a subject that waits to be added; DB_NO_ID: it does not. */
db_id batch_find(const struct row_batch *b, const struct db_subject *subject,
    const struct hash128 *hash);

/* To a batch that is not full; copied. */
db_id batch_add_subject(struct row_batch *b, const struct db_subject *subject,
    const struct hash128 *hash);
void batch_add_attempt(
    struct row_batch *b, const struct measurement_row *row, uint64_t sum);

bool batch_is_full(const struct row_batch *b);

/* Add them all; *added of the attempts were not there. They are still in the batch,
 * for its user to look at, until it is emptied. */
bool batch_store(
    struct row_batch *b, struct costdb *db, uint32_t *added, struct err *err);
void batch_empty(struct row_batch *b);

#endif
