#define _GNU_SOURCE
#include "db/journal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/clock.h"

/* Changing the journal mode needs the file alone for an instant and does not
 * wait by itself; processes that open a new database together take turns. */
bool
journal_use_log(struct costdb *db, struct err *err)
{
	uint64_t start = clock_ns();
	int rc;

	for (;;) {
		rc = sqlite3_exec(
		    db->h, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
		if ((rc & 0xff) != SQLITE_BUSY
		    || clock_ns() - start > BUSY_TIMEOUT_MS * 1000000ull)
			break;
		usleep(2000);
	}
	return rc == SQLITE_OK
	    || sql_fail(db, rc, "cannot use a write-ahead log", err);
}

/* TRUNCATE, for that syncs the end of a transaction; DELETE would not. */
void
journal_begin_bulk(struct costdb *db)
{
	(void)sqlite3_exec(
	    db->h, "PRAGMA journal_mode=TRUNCATE", NULL, NULL, NULL);
}

void
journal_end_bulk(struct costdb *db)
{
	(void)sqlite3_exec(db->h,
	    "PRAGMA journal_mode=DELETE; PRAGMA journal_mode=WAL", NULL, NULL,
	    NULL);
}

bool
journal_has_log(const char *path)
{
	char log[4096];
	struct stat st;

	return (size_t)snprintf(log, sizeof log, "%s-wal", path) < sizeof log
	    && stat(log, &st) == 0 && st.st_size > 0;
}

/* Its first byte is written when it is synced, before the file is touched. */
bool
journal_is_hot(const char *path)
{
	char journal[4096], first = 0;
	int fd;
	bool hot;

	if ((size_t)snprintf(journal, sizeof journal, "%s-journal", path)
	    >= sizeof journal)
		return false;
	fd = open(journal, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	hot = fd >= 0 && read(fd, &first, 1) == 1 && first != 0;
	if (fd >= 0)
		close(fd);
	return hot;
}

void
journal_roll_back(const char *path)
{
	sqlite3 *h = NULL;

	if (!journal_is_hot(path) || access(path, W_OK) != 0)
		return;
	if (sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE, NULL)
	    == SQLITE_OK) {
		sqlite3_busy_timeout(h, BUSY_TIMEOUT_MS);
		(void)sqlite3_exec(
		    h, "PRAGMA schema_version", NULL, NULL, NULL);
	}
	sqlite3_close(h);
}
