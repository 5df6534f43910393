/* The tuning database: canonical bytes -> samples. It knows no graphs, so its
 * schema does not move when an operator is added. Attempts are appended, never
 * changed; every one has a uuid, so merging twice adds nothing. */
#ifndef DB_DB_H
#define DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/hash.h"
#include "ir/base/sample.h"

struct costdb; /* an open database */

/* The stored word of an outcome, and back; NOUTCOME for no such word. */
const char *costdb_outcome_word(enum outcome outcome);
enum outcome costdb_outcome(const char *word);

enum db_mode {
	DB_READ, /* an existing file, untouched; works where it is read-only */
	DB_WRITE, /* created when it is not there */
	DB_FOREIGN, /* read, and trust nothing in it (merge, verify) */
};

typedef int64_t db_id; /* a row; ids mean nothing outside one database */
#define DB_NO_ID ((db_id)0)

/* What was measured. The bytes are the identity; both hashes serve finding
 * what changed when the bytes are not there. */
struct db_subject {
	const void *bytes;
	size_t n;
	const char *kind; /* "candidate" or "conversion" */
	struct hash128 skeleton; /* of the bytes without shapes */
	struct hash128 family; /* of the operators and edges alone */
	const char *summary; /* for people */
};

/* All attempts of one subject in one environment, taken together. */
struct db_found {
	uint32_t attempts; /* 0: nothing is known */
	enum outcome outcome; /* OUTCOME_OK: the figures hold */
	uint64_t ns; /* median over attempts of `low` */
	uint64_t low, high; /* smallest low, largest high */
	uint64_t least; /* the fastest sample; 0: not known */
	uint64_t
	    cpu; /* processor time of a run, of newest_good; 0: not known */
	uint32_t n; /* samples, over all attempts */
	char at_utc[24]; /* of the newest attempt */
	db_id newest_good; /* the newest attempt with figures */
	char good_utc[24]; /* when it was made */
	db_id conditions; /* its soft facts; DB_NO_ID: none are known */
	char detail[160]; /* of the newest failure */
	uint64_t limit_ns; /* what that failure ran under; 0: not known */
};

/* Open. ERR_DB for a file that is no tuning database, is newer than this
 * program, is damaged or lies on a network file system; ERR_IO when it cannot
 * be read or written at all. */
bool costdb_open(struct costdb **db, const char *path, enum db_mode mode,
    struct arena *a, struct err *err);

/* Store what is pending and close. The handle is gone even on error. */
bool costdb_close(struct costdb *db, struct err *err);

/* Close, dropping what is pending. */
void costdb_abandon(struct costdb *db);

const char *costdb_path(const struct costdb *db);

/* The environment with these hard facts ("key=value" lines in canonical form,
 * db/facts.h); with `add` it is added when new, else *env = DB_NO_ID. */
bool costdb_environment(
    struct costdb *db, const char *hard, bool add, db_id *env, struct err *err);

/* Say under what soft facts, and by what command, the attempts put from now on
 * were made. */
bool costdb_begin_run(struct costdb *db, const char *tool, const char *command,
    const char *soft, struct err *err);

/* Add an attempt. It is safe once costdb_flush() has returned true; full
 * batches and batches older than a second are flushed on the way. Copies. */
bool costdb_put(struct costdb *db, const struct db_subject *subject, db_id env,
    const struct sample *sample, struct err *err);

/* The same under other soft facts than those of its run: of another machine. */
bool costdb_put_under(struct costdb *db, const struct db_subject *subject,
    db_id env, const struct sample *sample, const char *soft, struct err *err);

/* The same as of a time (ISO-8601). */
bool costdb_put_at(struct costdb *db, const struct db_subject *subject,
    db_id env, const struct sample *sample, const char *at_utc,
    struct err *err);

/* Make everything put so far durable, in one transaction. After an error it is
 * still pending and a later flush may succeed. */
bool costdb_flush(struct costdb *db, struct err *err);

/* Many lookups in a row, of one state of the database and several times as
 * fast. Nothing may be put or leased between the two; end it soon, for the log
 * grows as long as somebody reads. */
bool costdb_begin_lookups(struct costdb *db, struct err *err);
void costdb_end_lookups(struct costdb *db);

/* Everything known of a subject in an environment. */
bool costdb_lookup(struct costdb *db, const void *bytes, size_t n, db_id env,
    struct db_found *found, struct err *err);

/* How many attempts are known to be damaged; they count as if they were not
 * there. */
uint64_t costdb_damaged(const struct costdb *db);

/* The words and the limit of one attempt. */
bool costdb_detail(
    struct costdb *db, db_id attempt, struct db_found *f, struct err *err);

/* The same over environments, best first: of those with a price the ones of the
 * first rank, of these the one measured last, of these the first. *which says
 * which one; *which == n when none has. */
struct db_environments {
	const db_id *env; /* [n] */
	const uint32_t *rank; /* [n] ascending; equal: equally far off */
	uint32_t n;
};
bool costdb_lookup_any(struct costdb *db, const struct db_subject *subject,
    struct db_environments in, uint32_t *which, struct db_found *found,
    struct err *err);

/* How many attempts in an environment (DB_NO_ID: in any) say what they took,
 * and what they took together. */
bool costdb_span(struct costdb *db, db_id env, uint64_t *attempts, uint64_t *ns,
    struct err *err);

/* Is a subject there at all; and what the database has that is nearest to one it
 * lacks, by its bytes and hashes. */
enum db_near {
	DB_NEAR_NOTHING, /* no such operators */
	DB_NEAR_FAMILY, /* the same operators, other attributes */
	DB_NEAR_SKELETON, /* the same but for shapes */
	DB_NEAR_SAME, /* it is there, in other environments only */
};
bool costdb_has_subject(
    struct costdb *db, const void *bytes, size_t n, bool *has, struct err *err);
bool costdb_nearest(struct costdb *db, const struct db_subject *subject,
    enum db_near *near, const char **summary, struct arena *a, struct err *err);

/* All environments, by id. */
struct db_environment {
	db_id id;
	const char *hard;
};
bool costdb_environments(struct costdb *db, const struct db_environment **env,
    uint32_t *n, struct arena *a, struct err *err);

/* A model and the subjects that occur in it. */
struct db_occurrence {
	const struct db_subject *subject;
	uint32_t occurrences;
	const char *nodes; /* where, in the model's own names */
};
struct db_model {
	struct hash128 hash; /* of the whole graph, without names */
	const char *name;
	uint32_t nnodes;
	const struct db_occurrence *occurrence; /* [n] */
	uint32_t n;
};

/* The text of soft facts; "" for a row that is not there. */
bool costdb_conditions(struct costdb *db, db_id conditions, const char **soft,
    struct arena *a, struct err *err);

/* How many candidates are stored whose key begins with an earlier version. */
bool costdb_older_keys(
    struct costdb *db, uint8_t version, uint64_t *n, struct err *err);

/* A setting of the file's own; *value = NULL when there is none. */
bool costdb_meta_get(struct costdb *db, const char *key, const char **value,
    struct arena *a, struct err *err);
bool costdb_meta_put(
    struct costdb *db, const char *key, const char *value, struct err *err);

/* Is a model of this hash recorded? */
bool costdb_knows_model(
    struct costdb *db, struct hash128 hash, bool *yes, struct err *err);

/* Record where subjects occur; those the database has no row of are left out,
 * those recorded before stay. */
bool costdb_model(
    struct costdb *db, const struct db_model *model, struct err *err);

#endif
