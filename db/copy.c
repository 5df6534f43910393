/* Copies: for backup, and to hand to others. */
#define _GNU_SOURCE
#include "db/admin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "db/sql.h"
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

/* `beside`: what the temporary file is named for. */
static bool
copy(struct costdb *db, const char *path, const char *beside, bool replace,
    struct err *err)
{
	char temporary[4096];

	if ((size_t)snprintf(temporary, sizeof temporary, "%s.tmp-%ld", beside,
	        (long)getpid())
	    >= sizeof temporary)
		return err_set(err, ERR_IO, "%s: path too long", path);
	stale_remove(beside);
	unlink(temporary); /* of an earlier process with our id */
	if (!vacuum_into(db, temporary, err) || !sync_file(temporary, err)) {
		unlink(temporary);
		return false;
	}
	/* link() refuses to replace what is there, rename() does it. */
	if ((replace ? rename(temporary, path) : link(temporary, path)) != 0) {
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
		unlink(temporary);
		return false;
	}
	unlink(temporary);
	return true;
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

const char *
costdb_library(void)
{
	return sqlite3_libversion();
}
