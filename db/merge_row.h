/* One row of somebody else's, looked at and let in: shared by merging and
 * importing. Callers hold a write transaction. */
#ifndef DB_MERGE_ROW_H
#define DB_MERGE_ROW_H

#include "db/admin.h"
#include "db/batch.h"
#include "db/rows.h"
#include "ir/base/map.h"

/* Figures let in of one subject and environment that we had before. */
struct merge_group {
	db_id subject, env;
	uint64_t low, high;
};

struct merge_in {
	struct costdb *to;
	const char *source; /* the file, for the record and messages */
	struct db_merge *count;
	struct notes *notes;
	db_id last; /* attempts up to this one were ours before */
	db_id last_subject; /* likewise */
	bool any_retired; /* is anything in the table of that name? */
	char latest_utc[24]; /* rows after it are from the future */
	struct merge_group *group; /* [ngroups], to be compared in the end */
	uint32_t ngroups, groups_cap;
	struct map groups; /* subject and environment -> group[] */
	struct arena a; /* of groups */
	struct map kin; /* skeleton and family -> kin_summary[]; of the turn */
	const char **kin_summary; /* [nkin] the first in order that is stored */
	uint32_t nkin, kin_cap;
	struct arena turn; /* of kin */
	bool any_listed; /* have uuids been added to the table `retired`? */
	struct row_batch batch; /* of new subjects, and of attempts at these */
};

struct run_row {
	uint8_t uuid[16];
	const char *tool, *command, *host, *started_utc;
};

/* Between begin and end transactions may end and begin; merge_turned() then. */
bool merge_begin(struct merge_in *m, struct costdb *to, const char *source,
    struct db_merge *count, struct notes *notes, struct err *err);

/* Are these hard facts in canonical form and of sane size? */
bool merge_hard_is_sane(const char *hard, struct arena *scratch);

bool merge_turned(struct merge_in *m, struct err *err);

/* Add what was gathered: before a transaction ends. */
bool merge_flush(struct merge_in *m, struct err *err);

/* Compare what was let in with what was there, when `ok`; gives back whether all
 * went well. */
bool merge_end(struct merge_in *m, bool ok, struct err *err);

/* The row of a subject, by the hash of its bytes; DB_NO_ID when it is not one. */
bool merge_subject(struct merge_in *m, const struct db_subject *subject,
    const struct hash128 *hash, db_id *id, struct err *err);

bool merge_run(
    struct merge_in *m, const struct run_row *run, db_id *id, struct err *err);

/* Add an attempt unless it is there; count it, rejected if it cannot be. `sum`:
 * as for row_merge_measurement(). */
bool merge_attempt(struct merge_in *m, const struct measurement_row *row,
    const uint64_t *sum, struct err *err);

/* An attempt that was retired and collected there must not come back here. */
bool merge_retired(struct merge_in *m, const uint8_t uuid[16], struct err *err);

bool merge_model_row(struct merge_in *m, const void *hash, const char *name,
    uint64_t nodes, db_id *id, struct err *err);
bool merge_occurrence(struct merge_in *m, db_id model, db_id subject,
    uint64_t occurrences, const char *nodes, struct err *err);

#endif
