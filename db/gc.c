/* Collecting garbage: what deletes rows, in one place. */
#include "db/admin.h"

#include "db/sql.h"

/* The rows to go, worked out before anything is touched, so that a dry run
 * counts exactly what the real one deletes. ?1: attempts kept of each subject
 * and environment (0: all); ?2: older ones go (null: none). Figures of the
 * newest attempt are never dropped for age alone, and the newest wrong result
 * never. Newest is by the time it was made: what was merged last may be old. */
static const char doomed[] =
    "CREATE TEMP TABLE doomed AS SELECT measurement_id,uuid,retired FROM"
    " (SELECT measurement_id,uuid,retired,outcome,at_utc,row_number() OVER"
    " (PARTITION BY subject_id,env_id,retired"
    " ORDER BY at_utc DESC,uuid DESC) AS rank,row_number() OVER"
    " (PARTITION BY subject_id,env_id,retired,outcome"
    " ORDER BY at_utc DESC,uuid DESC) AS of_outcome FROM measurement)"
    " WHERE retired=1 OR ((of_outcome>1 OR outcome<>'wrong_result')"
    " AND ((?1>0 AND rank>?1) OR (?2 IS NOT NULL AND at_utc<?2 AND rank>1)))";

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

/* What was retired stays so when an older copy is merged. */
static const char deletion[] =
    "INSERT OR IGNORE INTO retired(uuid) SELECT uuid FROM doomed"
    " WHERE retired=1;"
    "DELETE FROM measurement WHERE measurement_id IN"
    " (SELECT measurement_id FROM doomed);"
    "DELETE FROM model_subject WHERE subject_id IN"
    " (SELECT subject_id FROM doomed_subject);"
    "DELETE FROM subject WHERE subject_id IN"
    " (SELECT subject_id FROM doomed_subject);"
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
	int64_t attempts, subjects, environments;

	if (!sql_integer(db, "SELECT count(*) FROM doomed", &attempts, err)
	    || !sql_integer(
	        db, "SELECT count(*) FROM doomed_subject", &subjects, err)
	    || !sql_integer(db, "SELECT count(*) FROM doomed_environment",
	        &environments, err))
		return false;
	gc->attempts = (uint64_t)attempts;
	gc->subjects = (uint64_t)subjects;
	gc->environments = (uint64_t)environments;
	return true;
}

bool
costdb_gc(struct costdb *db, struct db_gc *gc, struct err *err)
{
	bool ok;

	/* References are right by construction here, and checking each deleted
	 * row against tables without an index for it takes forever. */
	if (!sql_exec(db, "PRAGMA foreign_keys=OFF", err)
	    || !sql_begin(db, err))
		return false;
	ok = list_doomed(db, gc, err) && count_doomed(db, gc, err)
	    && (gc->dry_run || sql_exec(db, deletion, err))
	    && sql_exec(db, forget, err);
	ok = sql_end(db, ok, err);
	if (ok && !gc->dry_run)
		ok = sql_exec(db, "VACUUM", err);
	return sql_exec(
	           db, "PRAGMA foreign_keys=ON", ok ? err : &(struct err){0})
	    && ok;
}
