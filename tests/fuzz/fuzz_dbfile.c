/* Database files nobody vouches for: opened as foreign, verified, listed and
 * merged. Whatever is in them, ours is whole afterwards. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/admin.h"
#include "tests/support/dbfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
see(void *context, const struct db_row *row, struct err *err)
{
	uint64_t *sum = context;

	(void)err;
	*sum += row->low + strlen(row->summary) + strlen(row->hard);
	return true;
}

static void
read_it(struct costdb *from, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct db_merge m;
	struct notes notes;
	struct costdb *db;
	uint64_t sum = 0, n = 0;

	notes_init(&notes, a);
	if (!costdb_verify(from, &notes, &n, &err))
		err_clear(&err);
	if (!costdb_visit(from, NULL, true, see, &sum, &err))
		err_clear(&err);
	if (!costdb_open(&db, dbfile_path("ours", a), DB_WRITE, a, &err))
		abort();
	if (!costdb_merge(db, from, &m, &notes, &err))
		err_clear(&err);
	if (!costdb_verify(db, &notes, &n, &err) || n)
		abort();
	costdb_abandon(db);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *from;
	const char *theirs;
	struct arena a;
	FILE *f;

	arena_init(&a);
	theirs = dbfile_path("theirs", &a);
	f = fopen(theirs, "w");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
	if (costdb_open(&from, theirs, DB_FOREIGN, &a, &err)) {
		read_it(from, &a);
		costdb_abandon(from);
	}
	dbfile_remove(theirs);
	dbfile_remove(dbfile_path("ours", &a));
	arena_release(&a);
	return 0;
}
