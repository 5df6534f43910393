/* Every input, output and allocation fault, one after the other, through
 * opening, writing, merging, migrating and collecting: a clean error or
 * success, the file whole afterwards, and nothing acknowledged lost. And kill
 * -9 at every such place: the same, and no file is left beside it.
 * dbfaults [STRIDE]: 1 tries every single place, the default every 9th. */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "db/admin.h"
#include "db/lease.h"
#include "tests/support/dbfile.h"
#include "tests/support/faultvfs.h"
#include "tests/support/scratch.h"

#define MAIN "faults-main.db"
#define OTHER "faults-other.db"
#define ROWS 20

/* What an operation was told is safe. */
struct acknowledged {
	uint32_t attempts;
	bool all; /* the operation said it succeeded */
};

static bool
put_rows(struct costdb *db, uint32_t first, uint32_t n, struct arena *a,
    struct err *err)
{
	db_id env;

	if (!costdb_environment(db, DBFILE_HARD, true, &env, err))
		return false;
	for (uint32_t i = first; i < first + n; i++) {
		struct db_subject s = dbfile_subject(i, a);
		struct sample x = dbfile_sample(1000 + i);

		if (!costdb_put(db, &s, env, &x, err))
			return false;
	}
	return true;
}

static bool
op_create(struct acknowledged *ack, struct arena *a, struct err *err)
{
	struct costdb *db;

	(void)ack;
	if (!costdb_open(&db, MAIN, DB_WRITE, a, err))
		return false;
	return costdb_close(db, err);
}

static bool
op_write(struct acknowledged *ack, struct arena *a, struct err *err)
{
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, MAIN, DB_WRITE, a, err))
		return false;
	ok = costdb_begin_run(db, "marq", "test", "kernel=6\n", err)
	    && put_rows(db, ROWS, ROWS, a, err) && costdb_flush(db, err);
	if (ok)
		ack->attempts += ROWS;
	costdb_abandon(db);
	return ok;
}

static bool
op_lease(struct acknowledged *ack, struct arena *a, struct err *err)
{
	struct db_subject s = dbfile_subject(77, a);
	struct lease_ask ask = {.subject = &s};
	struct costdb *db;
	db_id env;
	bool ok;

	(void)ack;
	if (!costdb_open(&db, MAIN, DB_WRITE, a, err))
		return false;
	ok = costdb_environment(db, DBFILE_HARD, true, &env, err)
	    && (ask.env = env, costdb_lease(db, &ask, 1, 1, err))
	    && costdb_lease_drop(db, err);
	costdb_abandon(db);
	return ok;
}

static bool
op_merge(struct acknowledged *ack, struct arena *a, struct err *err)
{
	struct costdb *db, *from;
	struct db_merge m;
	bool ok;

	if (!costdb_open(&db, MAIN, DB_WRITE, a, err))
		return false;
	ok = costdb_open(&from, OTHER, DB_FOREIGN, a, err);
	if (ok) {
		ok = costdb_merge(db, from, &m, NULL, err);
		costdb_abandon(from);
	}
	if (ok)
		ack->attempts += (uint32_t)m.added;
	costdb_abandon(db);
	return ok;
}

static bool
op_gc(struct acknowledged *ack, struct arena *a, struct err *err)
{
	struct db_gc gc = {.keep = 1};
	struct costdb *db;
	bool ok;

	(void)ack;
	if (!costdb_open(&db, MAIN, DB_WRITE, a, err))
		return false;
	ok = costdb_gc(db, &gc, err);
	costdb_abandon(db);
	return ok;
}

static bool
op_lookup(struct acknowledged *ack, struct arena *a, struct err *err)
{
	struct costdb *db;
	struct db_found f = {.attempts = 0};
	struct db_subject s = dbfile_subject(3, a);
	db_id env;
	bool ok;

	(void)ack;
	if (!costdb_open(&db, MAIN, DB_READ, a, err))
		return false;
	ok = costdb_environment(db, DBFILE_HARD, false, &env, err)
	    && costdb_lookup(db, s.bytes, s.n, env, &f, err);
	costdb_abandon(db);
	/* Whatever fails, a stored figure is never reported as missing. */
	if (ok && (f.attempts != 1 || f.ns != 1003)) {
		printf(
		    "lookup: %u attempts, %" PRIu64 " ns\n", f.attempts, f.ns);
		abort();
	}
	return ok;
}

enum prepared { NOTHING, CURRENT, OLD };

static const struct {
	const char *name;
	bool (*run)(struct acknowledged *ack, struct arena *a, struct err *e);
	enum prepared main;
} operations[] = {
    {"create", op_create, NOTHING},
    {"write", op_write, CURRENT},
    {"lease", op_lease, CURRENT},
    {"merge", op_merge, CURRENT},
    {"migrate", op_create, OLD},
    {"gc", op_gc, CURRENT},
    {"lookup", op_lookup, CURRENT},
};

static _Noreturn void
die(const char *operation, uint64_t at, const char *what)
{
	printf("%s, fault %" PRIu64 ": %s\n", operation, at, what);
	exit(1);
}

static void
make(const char *path, uint32_t first, bool old)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct costdb *db;
	sqlite3 *h;

	arena_init(&a);
	dbfile_remove(path);
	db = dbfile_open(path, DB_WRITE, &a);
	if (!put_rows(db, first, ROWS, &a, &err) || !costdb_close(db, &err))
		die(path, 0, err.text);
	if (old) {
		sqlite3_open(path, &h);
		sqlite3_exec(h,
		    "ALTER TABLE run DROP COLUMN merged_from;"
		    "PRAGMA user_version=1;",
		    NULL, NULL, NULL);
		sqlite3_close(h);
	}
	arena_release(&a);
}

static void
copy_file(const char *from, const char *to)
{
	char block[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;

	while ((n = fread(block, 1, sizeof block, in)) > 0)
		fwrite(block, 1, n, out);
	fclose(in);
	fclose(out);
}

static void
remove_backups(void)
{
	glob_t found;

	if (glob(MAIN ".v*", 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			dbfile_remove(found.gl_pathv[i]);
	globfree(&found);
}

/* The state before an operation, from files made once. */
static void
prepare(enum prepared main)
{
	dbfile_remove(MAIN);
	remove_backups();
	if (main == CURRENT)
		copy_file("faults-current.db", MAIN);
	if (main == OLD)
		copy_file("faults-old.db", MAIN);
}

/* Without faults the file must open, be whole, and have what was promised. */
static void
check(const char *name, uint64_t at, const struct acknowledged *ack,
    enum prepared main, const char *error)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *db;
	struct db_stat stat;
	struct notes notes;
	struct arena a;
	uint64_t n;

	arena_init(&a);
	notes_init(&notes, &a);
	if (!costdb_open(&db, MAIN, DB_WRITE, &a, &err))
		die(name, at, err.text);
	if (!costdb_verify(db, &notes, &n, &err)
	    || !costdb_stat(db, &stat, &err))
		die(name, at, err.text);
	if (n) {
		printf("after: %s\n", error);
		die(name, at, notes.text[0]);
	}
	if (stat.attempts < (main == NOTHING ? 0 : ROWS) + ack->attempts)
		die(name, at, "acknowledged attempts are lost");
	if (stat.attempts > 2 * ROWS)
		die(name, at, "attempts were counted twice");
	costdb_abandon(db);
	arena_release(&a);
}

/* One fault; true when the operation went through without meeting it. */
static bool
try_one(size_t op, enum fault kind, uint64_t at, bool on)
{
	struct acknowledged ack = {0, false};
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	bool ok, fired;

	arena_init(&a);
	prepare(operations[op].main);
	faults_arm(kind, at, on);
	ok = operations[op].run(&ack, &a, &err);
	fired = faults_disarm();
	if (!fired && !ok)
		die(operations[op].name, at, err.text);
	if (!ok && (err.kind == ERR_NONE || err.text[0] == '\0'))
		die(operations[op].name, at, "failed without saying why");
	check(operations[op].name, at, &ack, operations[op].main, err.text);
	arena_release(&a);
	return !fired;
}

/* Killed at its call number `at` on files; true when it ended before. */
static bool
kill_one(size_t op, uint64_t at)
{
	struct acknowledged ack = {0, false};
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	glob_t found;
	int status;
	pid_t pid;

	arena_init(&a);
	prepare(operations[op].main);
	pid = fork();
	if (pid == 0) {
		faults_arm(FAULT_KILL, at, false);
		_exit(operations[op].run(&ack, &a, &err) ? 0 : 1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die(operations[op].name, at, "no process to be killed");
	if (!WIFSIGNALED(status) && WEXITSTATUS(status) != 0)
		die(operations[op].name, at, "failed before it was killed");
	check(operations[op].name, at, &ack, operations[op].main, "a kill");
	if (glob("*.tmp-*", 0, NULL, &found) == 0)
		die(operations[op].name, at, found.gl_pathv[0]);
	arena_release(&a);
	return !WIFSIGNALED(status);
}

static uint64_t
kill_everywhere(void)
{
	uint64_t killed = 0;

	for (size_t op = 0; op < sizeof operations / sizeof *operations; op++) {
		uint64_t at = 1;

		while (!kill_one(op, at))
			at++;
		printf("%s: kills: %" PRIu64 " places\n", operations[op].name,
		    at - 1);
		killed += at - 1;
	}
	return killed;
}

int
main(int argc, char **argv)
{
	static const struct {
		enum fault kind;
		bool on;
		const char *name;
	} faults[] = {
	    {FAULT_IO, false, "one I/O error"},
	    {FAULT_IO, true, "I/O errors from here on"},
	    {FAULT_FULL, true, "disk full from here on"},
	    {FAULT_SHORT, false, "one short write"},
	    {FAULT_MEMORY, false, "one failed allocation"},
	    {FAULT_MEMORY, true, "no memory from here on"},
	};
	uint64_t stride = argc > 1 ? strtoull(argv[1], NULL, 10) : 9;
	uint64_t tried = 0;

	scratch_enter();
	faults_install();
	make("faults-current.db", 0, false);
	make("faults-old.db", 0, true);
	make(OTHER, ROWS, false);
	for (size_t op = 0; op < sizeof operations / sizeof *operations; op++)
		for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
			uint64_t step =
			    faults[f].kind == FAULT_MEMORY ? stride * 7 : 1;
			uint64_t at = 1;

			if (stride <= 1)
				step = 1;
			while (!try_one(op, faults[f].kind, at, faults[f].on)) {
				tried++;
				at += step;
			}
			printf("%s: %s: %" PRIu64 " places\n",
			    operations[op].name, faults[f].name, at - 1);
		}
	tried += kill_everywhere();
	printf("%" PRIu64 " passed, 0 failed\n", tried);
	return 0;
}
