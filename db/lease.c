#define _GNU_SOURCE
#include "db/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/rows.h"
#include "db/sql.h"
#include "ir/base/clock.h"
#include "ir/base/procstat.h"

/* TUNING: longer than any batch of candidates takes; only a process that is
 * stopped, or one that cannot be seen from here, makes others wait this long. */
#define LEASE_NS UINT64_C(300000000000)

/* Time that no setting of the clock moves, suspended machines included. */
static uint64_t
boot_ns(void)
{
	return clock_read_ns(CLOCK_BOOTTIME);
}

static void
read_line(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

/* When a process started, in clock ticks since boot, so a pid used again is not
 * taken for the process that had it; 0 if it is gone. By its first thread, as all
 * see it: of a whole process qemu's user emulation tells the process itself another
 * time than it tells others. */
static unsigned long long
started(long pid)
{
	char text[PROCSTAT_BYTES], whose[64];

	snprintf(whose, sizeof whose, "%ld/task/%ld", pid, pid);
	return strtoull(procstat(whose, PROCSTAT_STARTED, text), NULL, 10);
}

/* Where pids mean what they mean to us: this boot, this pid namespace. */
static void
place_of_pids(char *text, size_t size)
{
	char boot[64], ns[64] = "";
	ssize_t n = readlink("/proc/self/ns/pid", ns, sizeof ns - 1);

	ns[n > 0 ? n : 0] = '\0';
	read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	snprintf(text, size, "%s %s", boot, ns);
}

static void
name_ourselves(struct costdb *db)
{
	char place[160];

	place_of_pids(place, sizeof place);
	snprintf(db->owner, sizeof db->owner, "%s %ld %llu", place,
	    (long)getpid(), started(getpid()));
}

/* Is the holder of a lease certainly gone? */
static bool
is_gone(const struct costdb *db, const char *owner)
{
	char place[160];
	size_t n;
	long pid;
	unsigned long long start;

	place_of_pids(place, sizeof place);
	n = strlen(place);
	if (strncmp(owner, place, n) != 0)
		/* Another boot of this machine is over; another container on
		 * it may be alive. */
		return strncmp(owner, place, 36) != 0;
	if (sscanf(owner + n, " %ld %llu", &pid, &start) != 2)
		return true;
	return strcmp(owner, db->owner) != 0 && started(pid) != start;
}

static bool
is_measured(struct costdb *db, db_id subject, const struct lease_ask *ask,
    bool *yes, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_IS_MEASURED, err);

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, subject);
	sqlite3_bind_int64(s, 2, ask->env);
	bind_u64(s, 3, ask->limit_ns);
	sqlite3_bind_int64(s, 4, ask->known);
	if (!sql_step(db, s, yes, err))
		return false;
	sqlite3_reset(s);
	return true;
}

static bool
is_free(struct costdb *db, db_id subject, db_id env, bool *yes, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_LEASE_GET, err);
	bool row;

	*yes = true;
	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, subject);
	sqlite3_bind_int64(s, 2, env);
	if (!sql_step(db, s, &row, err))
		return false;
	if (row)
		*yes = strcmp(column_text(s, 0), db->owner) == 0
		    || column_u64(s, 1) < boot_ns()
		    || is_gone(db, column_text(s, 0));
	sqlite3_reset(s);
	return true;
}

static bool
take(struct costdb *db, db_id subject, db_id env, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_LEASE_PUT, err);

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, subject);
	sqlite3_bind_int64(s, 2, env);
	bind_text(s, 3, db->owner);
	bind_u64(s, 4, boot_ns() + LEASE_NS);
	return sql_run(db, s, err);
}

static bool
lease_one(
    struct costdb *db, struct lease_ask *ask, bool may_take, struct err *err)
{
	const struct db_subject *subject = ask->subject;
	bool measured, free = false;
	db_id id;

	ask->lease = LEASE_HELD;
	if (!row_find_subject(db, subject->bytes, subject->n, &id, err)
	    || !is_measured(db, id, ask, &measured, err))
		return false;
	if (measured) {
		ask->lease = LEASE_DONE;
		return true;
	}
	if (!may_take)
		return true;
	if (!is_free(db, id, ask->env, &free, err))
		return false;
	if (!free)
		return true;
	ask->lease = LEASE_OURS;
	return row_subject(db, subject, &id, err)
	    && take(db, id, ask->env, err);
}

bool
costdb_lease(struct costdb *db, struct lease_ask *ask, uint32_t n, uint32_t max,
    struct err *err)
{
	uint32_t taken = 0;
	bool ok = true;

	/* What we have measured ourselves counts as measured. */
	if (!costdb_flush(db, err))
		return false;
	if (db->owner[0] == '\0')
		name_ourselves(db);
	if (!sql_begin(db, err))
		return false;
	for (uint32_t i = 0; ok && i < n; i++) {
		ok = lease_one(db, &ask[i], taken < max, err);
		taken += ok && ask[i].lease == LEASE_OURS;
	}
	return sql_end(db, ok, err);
}

static void
describe_holder(const char *owner, char text[LEASE_HOLDER_CHARS])
{
	char place[160];
	size_t n;
	long pid;

	place_of_pids(place, sizeof place);
	n = strlen(place);
	if (strncmp(owner, place, n) == 0
	    && sscanf(owner + n, " %ld", &pid) == 1)
		snprintf(text, LEASE_HOLDER_CHARS, "process %ld", pid);
	else
		snprintf(
		    text, LEASE_HOLDER_CHARS, "a process in another container");
}

bool
costdb_lease_holder(struct costdb *db, const struct lease_ask *ask,
    char holder[LEASE_HOLDER_CHARS], struct err *err)
{
	const struct db_subject *subject = ask->subject;
	sqlite3_stmt *s = sql_get(db, SQL_LEASE_GET, err);
	db_id id;
	bool row;

	holder[0] = '\0';
	if (!s || !row_find_subject(db, subject->bytes, subject->n, &id, err))
		return false;
	sqlite3_bind_int64(s, 1, id);
	sqlite3_bind_int64(s, 2, ask->env);
	if (!sql_step(db, s, &row, err))
		return false;
	if (row)
		describe_holder(column_text(s, 0), holder);
	sqlite3_reset(s);
	return true;
}

bool
costdb_lease_drop(struct costdb *db, struct err *err)
{
	sqlite3_stmt *s;
	bool ok;

	if (db->owner[0] == '\0')
		return true;
	if (!sql_begin(db, err))
		return false;
	s = sql_get(db, SQL_LEASE_DROP_ALL, err);
	ok = s != NULL;
	if (s) {
		bind_text(s, 1, db->owner);
		ok = sql_run(db, s, err);
	}
	return sql_end(db, ok, err);
}
