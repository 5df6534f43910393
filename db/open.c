/* Opening and closing. */
#define _GNU_SOURCE
#include "db/db.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/journal.h"
#include "db/place.h"
#include "db/schema.h"
#include "db/sql.h"
#include "db/sum.h"
#include "ir/base/huge_blocks.h"
#include "ir/base/sanitized.h"
#include "ir/base/stale.h"

/* TUNING: no row of ours comes near; a foreign file's may try to. */
#define LARGEST_VALUE (1 << 24)

/* A handle belongs to one thread, so it needs no locks of its own. */
#define COMMON_FLAGS (SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX)

/* TUNING: of a new file; a row of a subject takes some 600 bytes, and merging takes
 * a fifth less time than by pages of 4 KiB. */
#define PAGE 16384
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
#define PAGE_BYTES TEXT_OF(PAGE)

static const char settings[] =
    "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"
    "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0;"
    "PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864;"
    "PRAGMA cache_size=-65536";

/* "file:" and the path with what a URI gives a meaning escaped. */
static const char *
immutable_uri(const char *path, struct arena *a)
{
	char *uri = arena_alloc(a, 3 * strlen(path) + 32), *at = uri;

	at += sprintf(at, "file:");
	for (; *path != '\0'; path++)
		if (strchr("%?#", *path))
			at += sprintf(at, "%%%02x", (unsigned char)*path);
		else
			*at++ = *path;
	strcpy(at, "?immutable=1");
	return uri;
}

static int
connect_read(struct costdb *db, struct arena *a)
{
	int flags = SQLITE_OPEN_READONLY | COMMON_FLAGS, rc;
	int64_t pages;
	struct err ignored = {.kind = ERR_NONE};

	journal_roll_back(db->path);
	rc = sqlite3_open_v2(db->path, &db->h, flags, NULL);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(db->h, BUSY_TIMEOUT_MS);
	if (sql_integer(db, "PRAGMA page_count", &pages, &ignored)
	    || journal_has_log(db->path) || journal_is_hot(db->path))
		return SQLITE_OK;
	/* A log-mode file in a read-only folder: there can be no writer. */
	rc = sqlite3_extended_errcode(db->h) & 0xff;
	if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY)
		return SQLITE_OK;
	sqlite3_close(db->h);
	return sqlite3_open_v2(
	    immutable_uri(db->path, a), &db->h, flags | SQLITE_OPEN_URI, NULL);
}

static int
connect_write(struct costdb *db)
{
	int rc = sqlite3_open_v2(db->path, &db->h,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | COMMON_FLAGS, NULL);

	if (rc == SQLITE_OK)
		sqlite3_busy_timeout(db->h, BUSY_TIMEOUT_MS);
	return rc;
}

/* TUNING: the first pages of all databases lie in a huge page: a second search reads 1 to
 * 3 MB, and a fault for every 4 KiB of that took a millisecond. */
#define PAGES_TOGETHER ((size_t)2 << 20)

static void
give_pages(void)
{
	void *pages = SANITIZED ? NULL : huge_pages_new(PAGES_TOGETHER);
	int header = 0, bytes;

	if (!pages)
		return;
	(void)sqlite3_config(SQLITE_CONFIG_PCACHE_HDRSZ, &header);
	bytes = (PAGE + header + 7) & ~7;
	(void)sqlite3_config(
	    SQLITE_CONFIG_PAGECACHE, pages, bytes, (int)PAGES_TOGETHER / bytes);
}

/* A count of all memory in use, which nobody asks for, takes a tenth of merging. */
static void
set_up(void)
{
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	give_pages();
}

static bool
connect(struct costdb *db, struct arena *a, struct err *err)
{
	struct stat st;
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int rc;

	pthread_once(&once, set_up);
	if (db->mode != DB_WRITE && stat(db->path, &st) != 0)
		return err_set(err, ERR_IO, "%s: %s", db->path,
		    errno == ENOENT ? "no such database" : strerror(errno));
	if (stat(db->path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, ERR_IO, "%s: not a regular file", db->path);
	if (db->mode == DB_WRITE && !place_check(db->path, err))
		return false;
	rc = db->mode == DB_WRITE ? connect_write(db) : connect_read(db, a);
	if (rc != SQLITE_OK)
		return sql_fail(db, rc, "cannot open", err);
	if (sum_register(db->h) != SQLITE_OK)
		return sql_fail(db, SQLITE_NOMEM, "cannot open", err);
	sqlite3_limit(db->h, SQLITE_LIMIT_LENGTH, LARGEST_VALUE);
	sqlite3_db_config(db->h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->h, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db->h, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	return sql_exec(db, settings, err);
}

/* What merging and saving ask of a file of others, which may be of any version:
 * nothing of later schemas is among it. */
static bool
is_asked_of_others(enum statement s)
{
	switch (s) {
	case SQL_BEGIN_READING:
	case SQL_ENV_LIST:
	case SQL_CONDITIONS_GET:
	case SQL_RUN_GET:
	case SQL_SUBJECT_GET:
	case SQL_ATTEMPTS_INDEX:
	case SQL_MODEL_LIST:
	case SQL_MODEL_SUBJECTS:
		return true;
	default:
		return false;
	}
}

static bool
is_relied_on(const struct costdb *db, enum statement s)
{
	/* As those for a row, and long. */
	if (s == SQL_SUBJECT_ADD_MANY || s == SQL_MEASUREMENT_MERGE_MANY)
		return false;
	if (db->mode == DB_FOREIGN)
		return is_asked_of_others(s);
	return db->mode == DB_WRITE || sql_only_reads(s);
}

/* What this program relies on, asked of a file that has the right header: a
 * statement fails to compile where a table or column is missing. An older file
 * is only ever read. */
static bool
has_our_tables(struct costdb *db, struct err *err)
{
	for (int i = 0; i < NSTATEMENT; i++) {
		enum statement s = (enum statement)i;

		if (is_relied_on(db, s) && !sql_get(db, s, err))
			return false;
	}
	return true;
}

static bool
make_current(struct costdb *db, struct err *err)
{
	enum schema_state state;

	if (!schema_state(db, &state, err))
		return false;
	if (db->mode != DB_WRITE) {
		if (state == SCHEMA_EMPTY)
			return err_set(err, ERR_DB,
			    "%s: empty, not a tuning database", db->path);
		if (state == SCHEMA_OLDER && db->mode == DB_READ)
			return err_set(err, ERR_DB,
			    "%s: an older schema; 'marq db migrate' brings it "
			    "forward",
			    db->path);
		return true;
	}
	stale_remove(db->path);
	if ((state == SCHEMA_EMPTY
	        && !sql_exec(db, "PRAGMA page_size=" PAGE_BYTES, err))
	    || !journal_use_log(db, err))
		return false;
	if (state == SCHEMA_EMPTY)
		return schema_create(db, err);
	return state != SCHEMA_OLDER || schema_migrate(db, err);
}

/* TUNING: so much is looked through in 7 ms, so always; more only
 * where the last to write did not close the file. */
#define ALWAYS_CHECKED ((off_t)1 << 20)

/* Foreign files are looked at by who opens them. */
static bool
check_once(struct costdb *db, bool unclean, struct err *err)
{
	struct stat st;

	if (db->mode == DB_FOREIGN
	    || (!unclean && stat(db->path, &st) == 0
	        && st.st_size > ALWAYS_CHECKED))
		return true;
	return sum_check(db, err);
}

bool
costdb_open(struct costdb **out, const char *path, enum db_mode mode,
    struct arena *a, struct err *err)
{
	struct costdb *db = arena_new(a, struct costdb, 1);
	bool unclean = journal_has_log(path) || journal_is_hot(path);

	db->path = arena_str(a, path);
	db->mode = mode;
	arena_init(&db->queue);
	if (connect(db, a, err) && make_current(db, err)
	    && has_our_tables(db, err) && check_once(db, unclean, err)) {
		*out = db;
		return true;
	}
	costdb_abandon(db);
	return false;
}

void
costdb_abandon(struct costdb *db)
{
	for (int s = 0; s < NSTATEMENT; s++)
		sqlite3_finalize(db->stmt[s]);
	sqlite3_close(db->h);
	keyset_clear(&db->keys);
	arena_release(&db->queue);
	db->h = NULL;
}

bool
costdb_close(struct costdb *db, struct err *err)
{
	bool ok = costdb_flush(db, err);

	costdb_abandon(db);
	return ok;
}

const char *
costdb_path(const struct costdb *db)
{
	return db->path;
}
