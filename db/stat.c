#include "db/admin.h"

#include <stdio.h>
#include <sys/stat.h>

#include "db/rows.h"
#include "db/sql.h"

static bool
count(struct costdb *db, const char *sql, uint64_t *out, struct err *err)
{
	int64_t n;

	if (!sql_integer(db, sql, &n, err))
		return false;
	*out = n < 0 ? 0 : (uint64_t)n;
	return true;
}

static bool
count_outcomes(struct costdb *db, struct db_stat *out, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->h,
	    "SELECT outcome,count(*),min(at_utc),max(at_utc) FROM measurement"
	    " WHERE retired=0 GROUP BY outcome",
	    -1, &s, NULL);
	char *oldest = out->oldest_utc, *newest = out->newest_utc;

	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		enum outcome o = outcome_find(column_text(s, 0));
		const char *low = column_text(s, 2), *high = column_text(s, 3);

		rc = SQLITE_OK;
		if (o == NOUTCOME)
			continue;
		out->by_outcome[o] = column_u64(s, 1);
		if (!oldest[0] || sqlite3_stricmp(low, oldest) < 0)
			snprintf(oldest, sizeof out->oldest_utc, "%s", low);
		if (!newest[0] || sqlite3_stricmp(high, newest) > 0)
			snprintf(newest, sizeof out->newest_utc, "%s", high);
	}
	if (rc != SQLITE_DONE)
		sql_fail(db, rc, "cannot read", err);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE;
}

static uint64_t
bytes_of(const char *path, const char *suffix)
{
	char whole[4096];
	struct stat st;

	snprintf(whole, sizeof whole, "%s%s", path, suffix);
	return stat(whole, &st) == 0 ? (uint64_t)st.st_size : 0;
}

bool
costdb_stat(struct costdb *db, struct db_stat *out, struct err *err)
{
	*out = (struct db_stat){.subjects = 0};
	out->file_bytes = bytes_of(db->path, "");
	out->log_bytes = bytes_of(db->path, "-wal");
	return count(db, "SELECT count(*) FROM subject", &out->subjects, err)
	    && count(
	        db, "SELECT count(*) FROM environment", &out->environments, err)
	    && count(db, "SELECT count(*) FROM run", &out->runs, err)
	    && count(db, "SELECT count(*) FROM model", &out->models, err)
	    && count(db, "SELECT count(*) FROM lease", &out->leases, err)
	    && count(
	        db, "SELECT count(*) FROM measurement", &out->attempts, err)
	    && count(db, "SELECT count(*) FROM measurement WHERE retired=1",
	        &out->retired, err)
	    && count(db, "PRAGMA user_version", &out->schema, err)
	    && count_outcomes(db, out, err);
}
