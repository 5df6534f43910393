/* Imports: JSON lines nobody vouches for into an empty database; whatever they
 * say, it is whole afterwards. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/admin.h"
#include "tests/support/dbfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	dbfile_alone();
	arena_init(&a);
	notes_init(&notes, &a);
	db = dbfile_empty();
	if (!costdb_import(db, f, "fuzz", &m, &notes, &err)
	    && err.text[0] == '\0')
		abort();
	if (dbfile_has_changed()
	    && (!costdb_verify(db, &notes, &n, &later) || n))
		abort();
	fclose(f);
	arena_release(&a);
	return 0;
}
