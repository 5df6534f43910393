#include "db/batch.h"

#include <string.h>

void
batch_init(struct row_batch *b, db_id next)
{
	arena_init(&b->a);
	b->nsubjects = b->nattempts = 0;
	b->next = next;
}

void
batch_release(struct row_batch *b)
{
	arena_release(&b->a);
}

db_id
batch_find(const struct row_batch *b, const struct db_subject *subject,
    const struct hash128 *hash)
{
	for (uint32_t i = 0; i < b->nsubjects; i++) {
		const struct subject_row *row = &b->subject[i];

		if (memcmp(&row->hash, hash, sizeof *hash) == 0
		    && row->subject.n == subject->n
		    && memcmp(row->subject.bytes, subject->bytes, subject->n)
		        == 0)
			return row->id;
	}
	return DB_NO_ID;
}

db_id
batch_add_subject(struct row_batch *b, const struct db_subject *subject,
    const struct hash128 *hash)
{
	struct subject_row *row = &b->subject[b->nsubjects++];

	*row = (struct subject_row){
	    .subject = *subject, .hash = *hash, .id = b->next++};
	row->subject.bytes = arena_copy(&b->a, subject->bytes, subject->n);
	row->subject.kind = arena_str(&b->a, subject->kind);
	row->subject.summary = arena_str(&b->a, subject->summary);
	return row->id;
}

void
batch_add_attempt(
    struct row_batch *b, const struct measurement_row *row, uint64_t sum)
{
	struct measurement_row *copy = &b->attempt[b->nattempts];

	*copy = *row;
	copy->outcome = outcome_words[outcome_find(row->outcome)];
	copy->detail = arena_str(&b->a, row->detail);
	copy->at_utc = arena_str(&b->a, row->at_utc);
	b->sum[b->nattempts++] = sum;
}

bool
batch_is_full(const struct row_batch *b)
{
	return b->nsubjects == ROWS_AT_ONCE || b->nattempts == ROWS_AT_ONCE;
}

static bool
store_subjects(struct row_batch *b, struct costdb *db, struct err *err)
{
	if (b->nsubjects == ROWS_AT_ONCE)
		return row_add_subjects(db, b->subject, err);
	for (uint32_t i = 0; i < b->nsubjects; i++)
		if (!row_add_subject(db, &b->subject[i], err))
			return false;
	return true;
}

bool
batch_store(
    struct row_batch *b, struct costdb *db, uint32_t *added, struct err *err)
{
	bool one;

	*added = 0;
	if (!store_subjects(b, db, err))
		return false;
	if (b->nattempts == ROWS_AT_ONCE)
		return row_merge_measurements(
		    db, b->attempt, b->sum, added, err);
	for (uint32_t i = 0; i < b->nattempts; i++) {
		if (!row_merge_measurement(
		        db, &b->attempt[i], &b->sum[i], &one, err))
			return false;
		*added += one;
	}
	return true;
}

void
batch_empty(struct row_batch *b)
{
	arena_release(&b->a);
	batch_init(b, b->next);
}
