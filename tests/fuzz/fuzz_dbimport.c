/* Imports: JSON lines nobody vouches for into a database in memory of its own
 * process; whatever they say, the database is whole afterwards. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "db/admin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *
scratch_path(void)
{
	static char path[64];

	snprintf(path, sizeof path, "/dev/shm/marq-fuzz-import-%ld.db",
	    (long)getpid());
	return path;
}

static void
remove_scratch(void)
{
	char beside[80];

	unlink(scratch_path());
	snprintf(beside, sizeof beside, "%s-wal", scratch_path());
	unlink(beside);
	snprintf(beside, sizeof beside, "%s-shm", scratch_path());
	unlink(beside);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE}, later = {.kind = ERR_NONE};
	struct db_merge m;
	struct notes notes;
	struct costdb *db;
	struct arena a;
	uint64_t n = 0;
	FILE *f;

	if (size == 0 || !(f = fmemopen((void *)(uintptr_t)data, size, "r")))
		return 0;
	arena_init(&a);
	notes_init(&notes, &a);
	remove_scratch();
	if (!costdb_open(&db, scratch_path(), DB_WRITE, &a, &err))
		abort();
	if (!costdb_import(db, f, "fuzz", &m, &notes, &err)
	    && err.text[0] == '\0')
		abort();
	if (!costdb_verify(db, &notes, &n, &later) || n)
		abort();
	costdb_abandon(db);
	fclose(f);
	remove_scratch();
	arena_release(&a);
	return 0;
}
