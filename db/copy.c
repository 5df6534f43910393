/* Copies: for backup, and to hand to others. */
#define _GNU_SOURCE
#include "db/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/sql.h"
#include "ir/base/file.h"
#include "ir/base/stale.h"

static bool
vacuum_into(struct costdb *db, const char *path, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->h, "VACUUM INTO ?1", -1, &s, NULL);

	if (rc == SQLITE_OK) {
		bind_text(s, 1, path);
		rc = sqlite3_step(s);
	}
	if (rc != SQLITE_DONE)
		sql_fail(db, rc, "cannot copy", err);
	sqlite3_finalize(s);
	return rc == SQLITE_DONE;
}

/* A temporary file and what SQLite keeps beside one. */
static void
discard(const char *temporary)
{
	static const char *const suffix[] = {"", "-journal", "-wal", "-shm"};
	char path[4096 + 16];

	for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
		snprintf(path, sizeof path, "%s%s", temporary, suffix[i]);
		unlink(path);
	}
}

/* `beside`: what the temporary file is named for. */
static bool
begin(char *temporary, size_t size, const char *beside, struct err *err)
{
	if ((size_t)snprintf(
	        temporary, size, "%s.tmp-%ld", beside, (long)getpid())
	    >= size)
		return err_set(err, ERR_IO, "%s: path too long", beside);
	stale_remove(beside);
	discard(temporary); /* of an earlier process with our id */
	return true;
}

static bool
sync_file(const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), why;
	bool ok = fd >= 0 && fsync(fd) == 0;

	why = errno;
	if (fd >= 0)
		close(fd);
	return ok || err_set(err, ERR_IO, "%s: %s", path, strerror(why));
}

static bool
publish(const char *temporary, const char *path, bool replace, struct err *err)
{
	return sync_file(temporary, err)
	    && (renameat2(AT_FDCWD, temporary, AT_FDCWD, path,
	            replace ? 0 : RENAME_NOREPLACE)
	            == 0
	        || err_set(err, ERR_IO, "%s: %s", path, strerror(errno)))
	    && file_sync_parent(path, err);
}

static bool
copy(struct costdb *db, const char *path, const char *beside, bool replace,
    struct err *err)
{
	char temporary[4096];
	bool ok;

	if (!begin(temporary, sizeof temporary, beside, err))
		return false;
	ok = vacuum_into(db, temporary, err)
	    && publish(temporary, path, replace, err);
	if (!ok)
		discard(temporary);
	return ok;
}

bool
costdb_copy(struct costdb *db, const char *path, struct err *err)
{
	return copy(db, path, path, false, err);
}

bool
costdb_copy_beside(struct costdb *db, const char *path, struct err *err)
{
	return copy(db, path, db->path, false, err);
}

bool
costdb_replace(struct costdb *db, const char *path, struct err *err)
{
	return copy(db, path, path, true, err);
}

/* All of it into the file itself: closing would not say that it failed. */
static bool
settle(struct costdb *db, struct err *err)
{
	int rc;

	if (!costdb_flush(db, err))
		return false;
	rc = sqlite3_wal_checkpoint_v2(
	    db->h, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	return rc == SQLITE_OK || sql_fail(db, rc, "cannot write", err);
}

bool
costdb_make(const char *path, bool replace,
    bool (*fill)(struct costdb *db, void *context, struct err *err),
    void *context, struct arena *a, struct err *err)
{
	char temporary[4096];
	struct costdb *db;
	bool ok;

	if (!begin(temporary, sizeof temporary, path, err))
		return false;
	ok = costdb_open(&db, temporary, DB_WRITE, a, err);
	if (ok) {
		ok = fill(db, context, err) && settle(db, err);
		if (ok)
			ok = costdb_close(db, err);
		else
			costdb_abandon(db);
	}
	ok = ok && publish(temporary, path, replace, err);
	discard(temporary);
	return ok;
}

const char *
costdb_library(void)
{
	return sqlite3_libversion();
}
