/* Looking for damage, ours or done on purpose. */
#include "db/admin.h"

#include <stdio.h>
#include <string.h>

#include "db/facts.h"
#include "db/rows.h"
#include "db/schema.h"
#include "db/sql.h"
#include "db/sum_text.h"

/* TUNING: findings spelled out; all are counted. */
#define FINDINGS_NAMED 20

struct db_check {
	struct costdb *db;
	struct notes *findings;
	uint64_t n;
};

static void
find(struct db_check *c, const char *text)
{
	if (c->n++ < FINDINGS_NAMED)
		notes_add(c->findings, "%s", text);
}

/* Every row of a query is a finding, its first column the text. */
static bool
rows_are_findings(struct db_check *c, const char *sql, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(c->db->h, sql, -1, &s, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *text = column_text(s, 0);

		if (strcmp(text, "ok") != 0 && !sql_failure_in(text))
			find(c, text);
		rc = sql_failure_in(text);
	}
	sqlite3_finalize(s);
	if (rc == SQLITE_DONE)
		return true;
	/* Too damaged to be read to the end is a finding as well. */
	if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB) {
		find(c, sqlite3_errmsg(c->db->h));
		return true;
	}
	return sql_fail(c->db, rc, "cannot verify", err);
}

static bool
hashes_match(struct db_check *c, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(c->db->h,
	    "SELECT subject_id,hash,bytes FROM subject", -1, &s, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const void *hash = sqlite3_column_blob(s, 1);
		const void *bytes = sqlite3_column_blob(s, 2);
		struct hash128 h =
		    hash128(bytes, (size_t)sqlite3_column_bytes(s, 2));
		char text[80];

		rc = SQLITE_OK;
		if (hash && sqlite3_column_bytes(s, 1) == sizeof h.byte
		    && memcmp(hash, h.byte, sizeof h.byte) == 0)
			continue;
		snprintf(text, sizeof text, "subject %lld: not its hash",
		    (long long)sqlite3_column_int64(s, 0));
		find(c, text);
	}
	sqlite3_finalize(s);
	if (rc == SQLITE_DONE || (rc & 0xff) == SQLITE_CORRUPT)
		return true;
	return sql_fail(c->db, rc, "cannot verify", err);
}

/* What CHECKs would have refused, had the rows come through this program. */
static const char impossible[] =
    "SELECT 'attempt '||measurement_id||': impossible figures' FROM measurement"
    " WHERE outcome NOT IN('ok','unsupported','wrong_result','timeout','crash',"
    "'oom','noisy') OR n<0 OR low_ns<0 OR median_ns<low_ns OR high_ns<median_ns"
    " OR (outcome='ok' AND (n=0 OR low_ns=0))";

static const char future[] =
    "SELECT 'attempt '||measurement_id||': taken in the future ('||at_utc||')'"
    " FROM measurement WHERE at_utc>strftime('%Y-%m-%dT%H:%M:%SZ','now',"
    "'+1 day')";

static const char twice[] =
    "SELECT 'subject '||max(subject_id)||': is there '||count(*)||' times'"
    " FROM subject GROUP BY hash,bytes HAVING count(*)>1";

/* Of files of this schema or a later one: what is found by them is found. */
#define NOT_ITS_KEY \
	"SELECT 'subject '||subject_id||': not its key' FROM subject" \
	" WHERE key IS NOT hash_key(hash)"
#define WITHOUT_KIN \
	"SELECT 'subject '||subject_id||': without its kin' FROM subject s" \
	" WHERE NOT EXISTS(SELECT 1 FROM kin k WHERE k.skeleton=s.skeleton" \
	" AND k.family=s.family AND k.summary<=s.summary)"
#define NOT_ITS_SUM \
	"SELECT 'attempt '||m.measurement_id||': not its checksum'" DAMAGED_ROWS

/* What older files lack is not asked of them. */
static const struct {
	const char *table, *column, *findings;
} later[] = {
    {"measurement", "sum", NOT_ITS_SUM},
    {"subject", "key", NOT_ITS_KEY},
    {"kin", "summary", WITHOUT_KIN},
};

static bool
later_columns_match(struct db_check *c, struct err *err)
{
	char sql[128];
	int64_t there;

	for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
		snprintf(sql, sizeof sql,
		    "SELECT count(*) FROM pragma_table_info('%s')"
		    " WHERE name='%s'",
		    later[i].table, later[i].column);
		if (!sql_integer(c->db, sql, &there, err)
		    || (there && !rows_are_findings(c, later[i].findings, err)))
			return false;
	}
	return true;
}

static const char dangling[] =
    "SELECT 'dangling reference from '||\"table\"||' to '||parent"
    " FROM pragma_foreign_key_check";

bool
costdb_verify(
    struct costdb *db, struct notes *findings, uint64_t *n, struct err *err)
{
	struct db_check c = {.db = db, .findings = findings};
	bool ok = rows_are_findings(&c, "PRAGMA integrity_check", err)
	    && rows_are_findings(&c, dangling, err)
	    && rows_are_findings(&c, impossible, err)
	    && rows_are_findings(&c, future, err)
	    && rows_are_findings(&c, twice, err) && later_columns_match(&c, err)
	    && hashes_match(&c, err);

	*n = c.n;
	return ok;
}

/* Tables and plain indexes, nothing that computes or runs: views, triggers but
 * our own, virtual tables and generated columns could be made to. */
static bool
only_plain_objects(struct costdb *db, struct err *err)
{
	int64_t odd;

	if (!sql_integer(db,
	        "SELECT count(*) FROM sqlite_schema WHERE (type NOT IN('table',"
	        "'index') AND NOT(type='trigger' AND sql IN('" TRIGGER_ON_ATTEMPT
	        "','" TRIGGER_ON_ENVIRONMENT "','" TRIGGER_ON_SUBJECT
	        "'))) OR sql LIKE 'CREATE VIRTUAL%'",
	        &odd, err))
		return false;
	if (odd == 0
	    && !sql_integer(db,
	        "SELECT count(*) FROM sqlite_schema t,"
	        " pragma_table_xinfo(t.name) x WHERE t.type='table'"
	        " AND x.hidden<>0",
	        &odd, err))
		return false;
	if (odd)
		return err_set(err, ERR_DB,
		    "%s: has %lld views, triggers, virtual tables or computed "
		    "columns; a tuning database has none",
		    db->path, (long long)odd);
	return true;
}

/* Of the table named; of all where none is. */
static bool
pages_are_whole(struct costdb *db, const char *table, struct err *err)
{
	char sql[64];
	sqlite3_stmt *s = NULL;
	const char *text;
	bool whole = false;
	int rc;

	snprintf(
	    sql, sizeof sql, "PRAGMA quick_check(%s)", table ? table : "1");
	rc = sqlite3_prepare_v2(db->h, sql, -1, &s, NULL);
	if (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		text = column_text(s, 0);
		whole = strcmp(text, "ok") == 0;
		if (sql_failure_in(text))
			sql_fail(db, sql_failure_in(text), "cannot check", err);
		else if (!whole)
			err_set(err, ERR_DB, "%s: damaged: %s", db->path, text);
	} else {
		sql_fail(db, rc, "cannot check", err);
	}
	sqlite3_finalize(s);
	return whole;
}

bool
costdb_trust(struct costdb *foreign, struct err *err)
{
	return only_plain_objects(foreign, err)
	    && pages_are_whole(foreign, NULL, err);
}

bool
costdb_trust_plain(struct costdb *foreign, bool *all, struct err *err)
{
	/* All but measurement, and subject, which is never read in order. */
	static const char *const table[] = {"meta", "environment", "conditions",
	    "run", "retired", "model", "model_subject", "kin"};
	int64_t version, sums;

	*all = false;
	if (!only_plain_objects(foreign, err)
	    || !sql_integer(foreign, "PRAGMA user_version", &version, err)
	    || !sql_integer(foreign,
	        "SELECT count(*) FROM pragma_table_info('measurement')"
	        " WHERE name='sum'",
	        &sums, err))
		return false;
	*all = version < SCHEMA_VERSION || sums == 0;
	if (*all)
		return pages_are_whole(foreign, NULL, err);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!pages_are_whole(foreign, table[i], err))
			return false;
	return true;
}
