/* Collecting garbage: what deletes rows, in one place. */
#include "db/admin.h"

#include <stdio.h>

#include "db/sql.h"

/* The rows to go, worked out before anything is touched, so that a dry run
 * counts exactly what the real one deletes. ?1: attempts kept of each subject
 * and environment (0: all); ?2: older ones go (null: none).
 * The newest N are the same whatever is merged, retired or collected in between:
 * newest is by the time an attempt was made, retired ones take their places
 * like others, and a wrong result never goes, for one that was retired might come
 * back with an older copy as one that was not. Figures of the newest attempt
 * that counts are never dropped for age alone. */
static const char doomed[] =
    "CREATE TEMP TABLE doomed AS SELECT measurement_id FROM"
    " (SELECT measurement_id,retired,outcome,at_utc,row_number() OVER"
    " (PARTITION BY subject_id,env_id ORDER BY at_utc DESC,uuid DESC) AS rank,"
    "row_number() OVER (PARTITION BY subject_id,env_id,retired"
    " ORDER BY at_utc DESC,uuid DESC) AS of_kind FROM measurement)"
    " WHERE outcome<>'wrong_result' AND ((?1>0 AND rank>?1)"
    " OR (?2 IS NOT NULL AND at_utc<?2 AND retired=0 AND of_kind>1))";

/* Retired ones that stay lose all but their place: neither they nor an older
 * copy of them may count again. */
#define TO_EMPTY \
	" WHERE retired=1 AND (n>0 OR detail<>'' OR span_ns>0" \
	" OR run_id IS NOT NULL OR conditions_id IS NOT NULL)"

static const char doomed_subjects[] =
    "CREATE TEMP TABLE doomed_subject AS SELECT subject_id FROM subject s"
    " WHERE NOT EXISTS(SELECT 1 FROM measurement m"
    " WHERE m.subject_id=s.subject_id AND NOT EXISTS"
    " (SELECT 1 FROM doomed d WHERE d.measurement_id=m.measurement_id))"
    " AND NOT EXISTS(SELECT 1 FROM lease l WHERE l.subject_id=s.subject_id)";

static const char doomed_environments[] =
    "CREATE TEMP TABLE doomed_environment AS SELECT env_id FROM environment"
    " WHERE env_id NOT IN (SELECT env_id FROM measurement WHERE"
    " measurement_id NOT IN (SELECT measurement_id FROM doomed))"
    " AND env_id NOT IN (SELECT env_id FROM lease)";

static const char deletion[] =
    "DELETE FROM measurement WHERE measurement_id IN"
    " (SELECT measurement_id FROM doomed);"
    "UPDATE measurement SET outcome=CASE outcome WHEN 'ok' THEN 'noisy'"
    " ELSE outcome END,n=0,low_ns=0,median_ns=0,high_ns=0,min_ns=0,"
    "cpu_ns=0,max_error=0,span_ns=0,limit_ns=0,detail='',run_id=NULL,"
    "conditions_id=NULL,sum=NULL" TO_EMPTY ";"
    "DELETE FROM model_subject WHERE subject_id IN"
    " (SELECT subject_id FROM doomed_subject);"
    "DELETE FROM subject WHERE subject_id IN"
    " (SELECT subject_id FROM doomed_subject);"
    "DELETE FROM meta WHERE k='" META_OLDER_KEYS "'"
    " AND EXISTS(SELECT 1 FROM doomed_subject);"
    "DELETE FROM kin WHERE EXISTS(SELECT 1 FROM doomed_subject);"
    "INSERT OR IGNORE INTO kin SELECT skeleton,family,min(summary)"
    " FROM subject WHERE EXISTS(SELECT 1 FROM doomed_subject)"
    " GROUP BY skeleton,family;"
    "DELETE FROM environment WHERE env_id IN"
    " (SELECT env_id FROM doomed_environment);"
    "DELETE FROM run WHERE run_id NOT IN"
    " (SELECT run_id FROM measurement WHERE run_id IS NOT NULL);"
    "DELETE FROM conditions WHERE conditions_id NOT IN"
    " (SELECT conditions_id FROM measurement"
    " WHERE conditions_id IS NOT NULL);"
    "DELETE FROM model WHERE model_id NOT IN"
    " (SELECT model_id FROM model_subject);";

static const char forget[] = "DROP TABLE IF EXISTS temp.doomed;"
                             "DROP TABLE IF EXISTS temp.doomed_subject;"
                             "DROP TABLE IF EXISTS temp.doomed_environment;";

static bool
list_doomed(struct costdb *db, const struct db_gc *gc, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->h, doomed, -1, &s, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(s, 1, gc->keep);
		bind_text(s, 2, gc->before_utc);
		rc = sqlite3_step(s);
	}
	if (rc != SQLITE_DONE)
		sql_fail(db, rc, "cannot list what to collect", err);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE
	    && sql_exec(db,
	        "CREATE INDEX temp.doomed_id ON doomed(measurement_id)", err)
	    && sql_exec(db, doomed_subjects, err)
	    && sql_exec(db, doomed_environments, err);
}

static bool
count_doomed(struct costdb *db, struct db_gc *gc, struct err *err)
{
	int64_t attempts, emptied, subjects, environments;

	if (!sql_integer(db, "SELECT count(*) FROM doomed", &attempts, err)
	    || !sql_integer(db,
	        "SELECT count(*) FROM measurement" TO_EMPTY
	        " AND measurement_id NOT IN (SELECT measurement_id FROM doomed)",
	        &emptied, err)
	    || !sql_integer(
	        db, "SELECT count(*) FROM doomed_subject", &subjects, err)
	    || !sql_integer(db, "SELECT count(*) FROM doomed_environment",
	        &environments, err))
		return false;
	gc->attempts = (uint64_t)attempts;
	gc->emptied = (uint64_t)emptied;
	gc->subjects = (uint64_t)subjects;
	gc->environments = (uint64_t)environments;
	return true;
}

/* 0: all. */
static bool
kept_so_far(struct costdb *db, uint32_t *keep, struct err *err)
{
	int64_t n;

	if (!sql_integer(db,
	        "SELECT CAST(v AS INTEGER) FROM meta WHERE k='gc_keep'", &n,
	        err))
		return false;
	*keep = n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
	return true;
}

/* How many a file keeps from now on: what is merged into it later must not
 * bring back what went. The least ever asked for, as more are gone. */
static bool
keep_from_now_on(struct costdb *db, uint32_t keep, struct err *err)
{
	char text[16];
	uint32_t before;

	if (keep == 0)
		return true;
	if (!kept_so_far(db, &before, err))
		return false;
	snprintf(
	    text, sizeof text, "%u", before && before < keep ? before : keep);
	return costdb_meta_put(db, "gc_keep", text, err);
}

static bool
collect(struct costdb *db, struct db_gc *gc, struct err *err)
{
	return list_doomed(db, gc, err) && count_doomed(db, gc, err)
	    && (gc->dry_run
	        || (sql_exec(db, deletion, err)
	            && keep_from_now_on(db, gc->keep, err)))
	    && sql_exec(db, forget, err);
}

/* References are right by construction here, and checking each deleted row
 * against tables without an index for it takes forever. */
static bool
collect_unchecked(struct costdb *db, struct db_gc *gc, struct err *err)
{
	bool ok;

	if (!sql_exec(db, "PRAGMA foreign_keys=OFF", err))
		return false;
	ok = sql_begin(db, err) && sql_end(db, collect(db, gc, err), err);
	return sql_exec(
	           db, "PRAGMA foreign_keys=ON", ok ? err : &(struct err){0})
	    && ok;
}

bool
costdb_gc(struct costdb *db, struct db_gc *gc, struct err *err)
{
	return collect_unchecked(db, gc, err)
	    && (gc->dry_run || sql_exec(db, "VACUUM", err));
}

bool
costdb_gc_again(struct costdb *db, struct err *err)
{
	struct db_gc gc = {.keep = 0};

	return kept_so_far(db, &gc.keep, err)
	    && (gc.keep == 0 || collect_unchecked(db, &gc, err));
}
