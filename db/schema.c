#include "db/schema.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/admin.h"
#include "db/sum_text.h"

#define ATTEMPT_FIGURES \
	" subject_id INTEGER NOT NULL REFERENCES subject," \
	" env_id INTEGER NOT NULL REFERENCES environment," \
	" conditions_id INTEGER REFERENCES conditions," \
	" run_id INTEGER REFERENCES run," \
	" outcome TEXT NOT NULL CHECK(outcome IN('ok','unsupported'," \
	"'wrong_result','timeout','crash','oom','noisy'))," \
	" n INTEGER NOT NULL CHECK(n>=0)," \
	" low_ns INTEGER NOT NULL CHECK(low_ns>=0)," \
	" median_ns INTEGER NOT NULL CHECK(median_ns>=low_ns)," \
	" high_ns INTEGER NOT NULL CHECK(high_ns>=median_ns)," \
	" min_ns INTEGER NOT NULL CHECK(min_ns>=0)," \
	" max_error REAL NOT NULL," \
	" span_ns INTEGER NOT NULL CHECK(span_ns>=0)," \
	" limit_ns INTEGER NOT NULL CHECK(limit_ns>=0)," \
	" detail TEXT NOT NULL, at_utc TEXT NOT NULL," \
	" retired INTEGER NOT NULL DEFAULT 0 CHECK(retired IN(0,1)),"
#define ATTEMPT_CHECK " CHECK(outcome<>'ok' OR (n>0 AND low_ns>0))"
#define ATTEMPT_COLUMNS \
	"measurement_id,uuid,subject_id,env_id,conditions_id,run_id,outcome,n," \
	"low_ns,median_ns,high_ns,min_ns,max_error,span_ns,limit_ns,detail," \
	"at_utc,retired,sum,cpu_ns"

/* STRICT refuses values of the wrong type; the CHECKs refuse figures that
 * cannot be. measurement is append-only: `retired` is the one column that ever
 * changes. */
static const char tables[] =
    "CREATE TABLE meta(k TEXT PRIMARY KEY, v TEXT NOT NULL)"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE subject(subject_id INTEGER PRIMARY KEY,"
    " hash BLOB NOT NULL CHECK(length(hash)=16),"
    " bytes BLOB NOT NULL CHECK(length(bytes)>0),"
    " kind TEXT NOT NULL CHECK(kind IN('candidate','conversion')),"
    " skeleton BLOB NOT NULL CHECK(length(skeleton)=16),"
    " family BLOB NOT NULL CHECK(length(family)=16),"
    " summary TEXT NOT NULL) STRICT;"
    "CREATE INDEX subject_hash ON subject(hash);"
    "CREATE INDEX subject_skeleton ON subject(skeleton);"
    "CREATE INDEX subject_family ON subject(family);"
    "CREATE TABLE environment(env_id INTEGER PRIMARY KEY,"
    " hard TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE conditions(conditions_id INTEGER PRIMARY KEY,"
    " soft TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE run(run_id INTEGER PRIMARY KEY,"
    " uuid BLOB NOT NULL UNIQUE CHECK(length(uuid)=16),"
    " tool TEXT NOT NULL, command TEXT NOT NULL, host TEXT NOT NULL,"
    " started_utc TEXT NOT NULL) STRICT;"
    "CREATE TABLE measurement(measurement_id INTEGER PRIMARY KEY,"
    " uuid BLOB NOT NULL UNIQUE CHECK(length(uuid)=16)," ATTEMPT_FIGURES
        ATTEMPT_CHECK ") STRICT;"
    "CREATE INDEX measurement_lookup ON measurement(subject_id,env_id,retired,"
    "measurement_id,outcome,low_ns,high_ns,n,at_utc);"
    "CREATE TABLE lease(subject_id INTEGER NOT NULL REFERENCES subject,"
    " env_id INTEGER NOT NULL REFERENCES environment,"
    " owner TEXT NOT NULL, until_ns INTEGER NOT NULL,"
    " tries INTEGER NOT NULL DEFAULT 1,"
    " PRIMARY KEY(subject_id,env_id)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE model(model_id INTEGER PRIMARY KEY,"
    " hash BLOB NOT NULL UNIQUE CHECK(length(hash)=16),"
    " name TEXT NOT NULL, nodes INTEGER NOT NULL,"
    " first_utc TEXT NOT NULL) STRICT;"
    "CREATE TABLE model_subject(model_id INTEGER NOT NULL REFERENCES model,"
    " subject_id INTEGER NOT NULL REFERENCES subject,"
    " occurrences INTEGER NOT NULL CHECK(occurrences>0),"
    " nodes TEXT NOT NULL, PRIMARY KEY(model_id,subject_id))"
    " STRICT, WITHOUT ROWID;";

/* An attempt is found by what it is about, its uuid among the few of that: rows of
 * subjects that are new go to the end of the one index, however their uuids lie.
 * Without that, and with an index entry for each subject's near relations, filling
 * indexes is most of what merging takes. */
#define ATTEMPTS_BY_SUBJECT \
	"DROP TRIGGER IF EXISTS measurement_changed;" \
	"DROP TRIGGER IF EXISTS environment_changed;" \
	"DROP TRIGGER IF EXISTS subject_changed;" \
	"DROP TABLE IF EXISTS attempt;" \
	"CREATE TABLE attempt(measurement_id INTEGER PRIMARY KEY," \
	" uuid BLOB NOT NULL CHECK(length(uuid)=16)," ATTEMPT_FIGURES \
	" sum INTEGER, cpu_ns INTEGER NOT NULL DEFAULT 0," ATTEMPT_CHECK \
	") STRICT;" \
	"INSERT INTO attempt(" ATTEMPT_COLUMNS ")" \
	" SELECT " ATTEMPT_COLUMNS " FROM measurement" \
	" ORDER BY measurement_id;" \
	"DROP TABLE measurement; ALTER TABLE attempt RENAME TO measurement;" \
	"CREATE UNIQUE INDEX measurement_lookup" \
	" ON measurement(subject_id,env_id,uuid);" TRIGGER_ON_ATTEMPT \
	";" TRIGGER_ON_ENVIRONMENT ";" TRIGGER_ON_SUBJECT ";"

/* Integers are compared several times as fast as blobs; bytes decide anyhow. */
#define KEYS_OF_SUBJECTS \
	"UPDATE subject SET key=hash_key(hash);" \
	"DROP INDEX IF EXISTS subject_hash;" \
	"CREATE INDEX subject_hash ON subject(key);"

/* A subject may differ from others in its shapes, or be of the same operators alone:
 * of those that do not differ otherwise the first in order is enough to be named. */
#define KIN_OF_SUBJECTS \
	"CREATE TABLE IF NOT EXISTS kin(" \
	"skeleton BLOB NOT NULL CHECK(length(skeleton)=16)," \
	" family BLOB NOT NULL CHECK(length(family)=16)," \
	" summary TEXT NOT NULL, PRIMARY KEY(skeleton,family))" \
	" STRICT, WITHOUT ROWID;" \
	"CREATE INDEX IF NOT EXISTS kin_family ON kin(family);" \
	"INSERT OR IGNORE INTO kin SELECT skeleton,family,min(summary)" \
	" FROM subject GROUP BY skeleton,family;" \
	"DROP INDEX IF EXISTS subject_skeleton;" \
	"DROP INDEX IF EXISTS subject_family;"

/* migration[v] brings version v to v + 1; a new file is a version 1 file
 * brought forward, so both are the same to the byte. */
static const char *const migration[SCHEMA_VERSION] = {
    [1] = "ALTER TABLE run ADD COLUMN merged_from TEXT NOT NULL DEFAULT ''",
    /* Attempts that are gone and must not come back. */
    [2] = "CREATE TABLE IF NOT EXISTS retired(uuid BLOB PRIMARY KEY"
          " CHECK(length(uuid)=16)) STRICT, WITHOUT ROWID",
    /* Checksums. The index was wider than what lookups could do with. */
    [3] = "UPDATE measurement SET sum=(SELECT " SUM_OF_ROW
          " FROM measurement m JOIN subject s USING(subject_id)"
          " JOIN environment e USING(env_id)"
          " WHERE m.measurement_id=measurement.measurement_id"
          " AND s.hash IS bytes_hash(s.bytes));"
          "DROP INDEX IF EXISTS measurement_lookup;"
          "CREATE INDEX measurement_lookup ON measurement(subject_id,env_id);"
          "DROP TRIGGER IF EXISTS measurement_changed;"
          "DROP TRIGGER IF EXISTS environment_changed;"
          "DROP TRIGGER IF EXISTS subject_changed;" TRIGGER_ON_ATTEMPT
          ";" TRIGGER_ON_ENVIRONMENT ";" TRIGGER_ON_SUBJECT,
    /* Processor time, which is no part of the checksum: nothing is decided by
     * it. */
    [4] = "",
    [5] = "PRAGMA ignore_check_constraints=ON;" ATTEMPTS_BY_SUBJECT
        KEYS_OF_SUBJECTS KIN_OF_SUBJECTS "PRAGMA ignore_check_constraints=OFF",
};

/* A file may say that it is older than it is; adding a column twice fails. */
static const struct {
	int64_t version;
	const char *is_there, *add;
} column[] = {
    {3,
        "SELECT count(*) FROM pragma_table_info('measurement')"
        " WHERE name='sum'",
        "ALTER TABLE measurement ADD COLUMN sum INTEGER"},
    {4,
        "SELECT count(*) FROM pragma_table_info('measurement')"
        " WHERE name='cpu_ns'",
        "ALTER TABLE measurement ADD COLUMN cpu_ns INTEGER NOT NULL"
        " DEFAULT 0"},
    {5,
        "SELECT count(*) FROM pragma_table_info('subject')"
        " WHERE name='key'",
        "ALTER TABLE subject ADD COLUMN key INTEGER NOT NULL DEFAULT 0"},
};

static bool
add_columns(struct costdb *db, int64_t version, struct err *err)
{
	int64_t there;

	for (size_t i = 0; i < sizeof column / sizeof *column; i++) {
		if (column[i].version != version)
			continue;
		if (!sql_integer(db, column[i].is_there, &there, err)
		    || (!there && !sql_exec(db, column[i].add, err)))
			return false;
	}
	return true;
}

static bool
bring_forward(struct costdb *db, int64_t version, struct err *err)
{
	char sql[160];

	for (; version < SCHEMA_VERSION; version++)
		if (!add_columns(db, version, err)
		    || !sql_exec(db, migration[version], err))
			return false;
	snprintf(sql, sizeof sql,
	    "PRAGMA application_id=%d; PRAGMA user_version=%d;"
	    "INSERT OR REPLACE INTO meta(k,v) VALUES('min_reader','%d')",
	    SCHEMA_APPLICATION, SCHEMA_VERSION, SCHEMA_VERSION);
	return sql_exec(db, sql, err);
}

/* A newer file says which programs may still read it. */
static bool
may_read_newer(struct costdb *db, bool *may, struct err *err)
{
	int64_t min_reader;

	if (!sql_integer(db,
	        "SELECT CAST(v AS INTEGER) FROM meta WHERE k='min_reader'",
	        &min_reader, err))
		return false;
	*may = min_reader > 0 && min_reader <= SCHEMA_VERSION;
	return true;
}

static bool
newer(struct costdb *db, int64_t version, enum schema_state *state,
    struct err *err)
{
	bool may = false;

	if (!may_read_newer(db, &may, err))
		return false;
	if (!may || db->mode == DB_WRITE)
		return err_set(err, ERR_DB,
		    "%s: written by a newer marq (schema %lld, this program "
		    "writes %d%s)",
		    db->path, (long long)version, SCHEMA_VERSION,
		    may ? " and may only read this one" : "");
	*state = SCHEMA_NEWER;
	return true;
}

/* What a file says it is. */
struct header {
	int64_t application, version, tables;
};

/* All of one moment: another process may be creating the file. */
static bool
read_header(struct costdb *db, struct header *h, struct err *err)
{
	struct err ignored = {.kind = ERR_NONE};
	bool ok;

	if (!sql_exec(db, "SAVEPOINT header", err))
		return false;
	ok = sql_integer(db, "PRAGMA application_id", &h->application, err)
	    && sql_integer(db, "PRAGMA user_version", &h->version, err)
	    && sql_integer(
	        db, "SELECT count(*) FROM sqlite_schema", &h->tables, err);
	return sql_exec(db, "RELEASE header", ok ? err : &ignored) && ok;
}

bool
schema_state(struct costdb *db, enum schema_state *state, struct err *err)
{
	struct header h;

	if (!read_header(db, &h, err))
		return false;
	if (h.application == 0 && h.version == 0 && h.tables == 0) {
		*state = SCHEMA_EMPTY;
		return true;
	}
	if (h.application != SCHEMA_APPLICATION)
		return err_set(err, ERR_DB,
		    "%s: an SQLite file of another application (id 0x%08llx), "
		    "not a tuning database",
		    db->path, (unsigned long long)h.application & 0xffffffffu);
	if (h.version > SCHEMA_VERSION)
		return newer(db, h.version, state, err);
	if (h.version < 1)
		return err_set(err, ERR_DB, "%s: schema %lld never existed",
		    db->path, (long long)h.version);
	*state = h.version < SCHEMA_VERSION ? SCHEMA_OLDER : SCHEMA_CURRENT;
	return true;
}

bool
schema_create(struct costdb *db, struct err *err)
{
	enum schema_state state = SCHEMA_EMPTY;
	bool ok;

	if (!sql_begin(db, err))
		return false;
	ok = schema_state(db, &state, err);
	if (ok && state == SCHEMA_EMPTY)
		ok = sql_exec(db, tables, err) && bring_forward(db, 1, err);
	return sql_end(db, ok, err);
}

/* A backup that is there is whole (costdb_copy links it into place), and of
 * this very second: another process is migrating the same file. */
static bool
backup(struct costdb *db, int64_t version, struct err *err)
{
	char utc[24], path[4096];

	utc_now(utc);
	if ((size_t)snprintf(path, sizeof path, "%s.v%lld-%s", db->path,
	        (long long)version, utc)
	    >= sizeof path)
		return err_set(err, ERR_IO, "%s: path too long", db->path);
	return access(path, F_OK) == 0 || costdb_copy_beside(db, path, err)
	    || err_in(err, "backup before migrating");
}

bool
schema_migrate(struct costdb *db, struct err *err)
{
	int64_t version;
	bool ok = true;

	if (!sql_integer(db, "PRAGMA user_version", &version, err)
	    || !backup(db, version, err) || !sql_begin(db, err))
		return false;
	/* Another process may have come first. */
	ok = sql_integer(db, "PRAGMA user_version", &version, err)
	    && bring_forward(db, version, err);
	return sql_end(db, ok, err);
}
