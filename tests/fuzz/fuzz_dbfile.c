/* Database files nobody vouches for: opened as foreign, verified, listed and
 * merged. Whatever is in them, ours is whole afterwards. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "db/admin.h"
#include "tests/support/dbfile.h"
#include "tests/support/infile.h"

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
	struct costdb *db = dbfile_empty();
	uint64_t sum = 0, n = 0;

	notes_init(&notes, a);
	if (!costdb_verify(from, &notes, &n, &err))
		err_clear(&err);
	if (!costdb_visit(from, NULL, true, see, &sum, &err))
		err_clear(&err);
	if (!costdb_merge(db, from, &m, &notes, &err))
		err_clear(&err);
	if (dbfile_has_changed() && (!costdb_verify(db, &notes, &n, &err) || n))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *from;
	const char *theirs;
	struct arena a;

	dbfile_alone();
	arena_init(&a);
	theirs = dbfile_path("theirs", &a); /* and nothing beside it */
	infolder_put("theirs.db", data, size);
	if (costdb_open(&from, theirs, DB_FOREIGN, &a, &err)) {
		read_it(from, &a);
		costdb_abandon(from);
	}
	arena_release(&a);
	return 0;
}
