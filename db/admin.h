/* Looking after a tuning database: what `marq db` does. A file given here by
 * another user is hostile until costdb_trust() has looked at it. */
#ifndef DB_ADMIN_H
#define DB_ADMIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "db/db.h"
#include "ir/base/notes.h"

/* Counts of everything. */
struct db_stat {
	uint64_t subjects, environments, runs, models, leases;
	uint64_t attempts, retired; /* attempts includes retired ones */
	uint64_t by_outcome[NOUTCOME]; /* not retired */
	uint64_t file_bytes, log_bytes;
	uint64_t schema;
	char oldest_utc[24], newest_utc[24];
};
bool costdb_stat(struct costdb *db, struct db_stat *out, struct err *err);

/* Which attempts: all conditions given must hold. */
struct db_where {
	const char *fact; /* "key=value" of the hard facts, or NULL */
	const char *outcome; /* a word of outcome.def, or NULL */
	const char *before_utc; /* taken before this, or NULL */
	const char *subject; /* a part of the summary, or NULL */
};

/* One attempt as it is listed. */
struct db_row {
	db_id id, subject, env, run, conditions;
	uint8_t uuid[16];
	struct hash128 key; /* of the subject's bytes */
	const char *kind, *summary, *hard, *outcome, *detail, *at_utc;
	uint64_t n, low, median, high, min, cpu, span_ns, limit_ns;
	double max_error;
	bool retired;
};

/* Visit attempts by subject, environment and age; `see` returns false to end.
 * Retired ones only with `retired`. Strings live until the next row. */
bool costdb_visit(struct costdb *db, const struct db_where *where, bool retired,
    bool (*see)(void *context, const struct db_row *row, struct err *err),
    void *context, struct err *err);

/* Visit the models a subject occurs in. */
bool costdb_places(struct costdb *db, db_id subject,
    void (*see)(void *context, const char *model, uint64_t occurrences,
        const char *nodes),
    void *context, struct err *err);

/* Retire attempts: they stay in the file and count no more. */
bool costdb_invalidate(struct costdb *db, const struct db_where *where,
    bool dry_run, uint64_t *n, struct err *err);

/* What collecting garbage deletes. Retired attempts that stay are emptied. */
struct db_gc {
	uint32_t keep; /* newest attempts kept of each subject and
			* environment, retired ones among them, now and after
			* each merge; 0: all */
	const char *before_utc; /* attempts older than this go; or NULL */
	bool dry_run;
	uint64_t attempts, emptied, subjects, environments; /* out */
};
bool costdb_gc(struct costdb *db, struct db_gc *gc, struct err *err);

/* Keep no more than what was asked for last time; for merging and importing. */
bool costdb_gc_again(struct costdb *db, struct err *err);

/* Environments by id, and what of them counts. */
struct db_summed {
	const char *hard;
	uint64_t subjects, attempts;
	const char *newest_utc; /* "" where there are none */
};
bool costdb_summed(struct costdb *db, const struct db_summed **out, uint32_t *n,
    struct arena *a, struct err *err);

/* Under which soft facts there are figures of which hard ones. */
struct db_under {
	const char *hard, *soft;
};
bool costdb_under(struct costdb *db, const struct db_under **out, uint32_t *n,
    struct arena *a, struct err *err);

/* Look for damage: pages, references, hashes, figures that cannot be. Each
 * finding is a note; *n counts them. */
bool costdb_verify(
    struct costdb *db, struct notes *findings, uint64_t *n, struct err *err);

/* Is a file of somebody else's safe to read row by row? ERR_DB saying what is
 * wrong with it. */
bool costdb_trust(struct costdb *foreign, struct err *err);
/* The same, but for pages of what has checksums: whoever reads that looks at those,
 * and at the order of rows. *all: every page was looked at. */
bool costdb_trust_plain(struct costdb *foreign, bool *all, struct err *err);

/* A copy that lies in one file, not written by anyone, whole or not there. */
bool costdb_copy(struct costdb *db, const char *path, struct err *err);
/* The same in the database's own folder: who opens it for writing deletes what
 * a process left that was killed here. */
bool costdb_copy_beside(struct costdb *db, const char *path, struct err *err);
/* The same over a file that is there: it stays until the copy is whole. */
bool costdb_replace(struct costdb *db, const char *path, struct err *err);
/* A new one that `fill` has filled, whole or not there. */
bool costdb_make(const char *path, bool replace,
    bool (*fill)(struct costdb *db, void *context, struct err *err),
    void *context, struct arena *a, struct err *err);

/* What merging did. */
struct db_merge {
	uint64_t added, known, rejected; /* attempts */
	uint64_t retired; /* ours that the other side has retired */
	uint64_t conflicts; /* figures that disagree beyond their spread */
};
/* Add all attempts of `from` (DB_FOREIGN) that `db` lacks. Row by row, nothing
 * of ours is overwritten; rows that cannot be are rejected. Conflicts are
 * notes with both figures. */
bool costdb_merge(struct costdb *db, struct costdb *from, struct db_merge *out,
    struct notes *notes, struct err *err);

/* Merge several: what is merged in between is stored together, in transactions of
 * some seconds, so others who write wait that long. Stored is what end has
 * stored; without `ok` (one of the files could not be merged) what was let in
 * stays all the same, but for a fault of `db` itself. */
bool costdb_merge_begin(struct costdb *db, struct err *err);
bool costdb_merge_end(struct costdb *db, bool ok, struct err *err);

/* Hosts whose figures differ from those of their peers, by subjects that at least
 * three measured in one environment: a note each, and how many. */
bool costdb_twins(struct costdb *db, uint32_t *strangers, struct notes *notes,
    struct err *err);

/* Save what is whole of a damaged file (DB_FOREIGN) into an empty one; *lost
 * counts the attempts that are not, as far as the file still tells. */
bool costdb_salvage(struct costdb *db, struct costdb *damaged,
    struct db_merge *out, uint64_t *lost, struct notes *notes, struct err *err);

/* How many attempts are damaged, all of them looked at. */
bool costdb_count_damaged(struct costdb *db, uint64_t *n, struct err *err);

/* JSON lines: one self-contained document a line. Damaged attempts are left
 * out, and their number is noted. */
bool costdb_export(
    struct costdb *db, FILE *f, struct notes *notes, struct err *err);
bool costdb_import(struct costdb *db, FILE *f, const char *name,
    struct db_merge *out, struct notes *notes, struct err *err);

/* The version of SQLite that is in use. */
const char *costdb_library(void);

#endif
