#include "tests/support/dbfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/sql.h"
#include "tests/support/pool.h"
#include "tests/support/scratch.h"

static void
must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->text);
	abort();
}

void
dbfile_remove(const char *path)
{
	static const char *const suffix[] = {"", "-wal", "-shm", "-journal"};
	char whole[4096];

	for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
		snprintf(whole, sizeof whole, "%s%s", path, suffix[i]);
		unlink(whole);
	}
}

const char *
dbfile_path(const char *name, struct arena *a)
{
	const char *path = scratch_path(arena_printf(a, "%s.db", name), a);

	dbfile_remove(path);
	return path;
}

struct costdb *
dbfile_open(const char *path, enum db_mode mode, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *db = NULL;

	must(costdb_open(&db, path, mode, a, &err), &err);
	return db;
}

void
dbfile_alone(void)
{
	static bool done;

	if (!done
	    && (sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) != SQLITE_OK
	        || sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK
	        || !pool_for_sqlite()))
		abort();
	done = true;
}

static bool changed;

static int
note_commit(void *context)
{
	(void)context;
	changed = true;
	return 0;
}

bool
dbfile_has_changed(void)
{
	return changed;
}

struct costdb *
dbfile_empty(void)
{
	static const char clear[] =
	    "PRAGMA foreign_keys=OFF; BEGIN; DELETE FROM measurement;"
	    "DELETE FROM model_subject; DELETE FROM model; DELETE FROM lease;"
	    "DELETE FROM retired; DELETE FROM run; DELETE FROM conditions;"
	    "DELETE FROM environment; DELETE FROM subject; DELETE FROM kin;"
	    "COMMIT;"
	    "PRAGMA foreign_keys=ON";
	static struct costdb *db;
	static struct arena a;
	struct err err = {.kind = ERR_NONE};

	if (!db) {
		arena_init(&a);
		db = dbfile_open(dbfile_path("empty", &a), DB_WRITE, &a);
		must(sql_exec(db, "PRAGMA synchronous=OFF", &err), &err);
		sqlite3_commit_hook(db->h, note_commit, NULL);
	}
	if (changed)
		must(sql_exec(db, clear, &err), &err);
	changed = false;
	return db;
}

struct db_subject
dbfile_subject(uint32_t number, struct arena *a)
{
	char *bytes = arena_printf(a, "subject number %u", number);
	uint32_t skeleton = number % 10;

	return (struct db_subject){
	    .bytes = bytes,
	    .n = strlen(bytes),
	    .kind = "candidate",
	    .skeleton = hash128(&skeleton, sizeof skeleton),
	    .family = hash128("family", 6),
	    .summary = arena_printf(a, "Relu number %u", number),
	};
}

struct sample
dbfile_sample(uint64_t ns)
{
	return (struct sample){
	    .outcome = OUTCOME_OK,
	    .n = 11,
	    .min = ns - ns / 50,
	    .low = ns,
	    .median = ns + ns / 100,
	    .high = ns + ns / 50,
	    .span_ns = 20000000,
	    .detail = "",
	};
}

db_id
dbfile_env(struct costdb *db, const char *hard)
{
	struct err err = {.kind = ERR_NONE};
	db_id env;

	must(costdb_environment(db, hard, true, &env, &err), &err);
	return env;
}
