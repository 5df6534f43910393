/* Database files nobody vouches for: opened as foreign, verified, listed and
 * merged. Whatever is in them, ours is whole afterwards. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/admin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *
path_of(const char *what)
{
	static char path[4][80];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof path[0], "/dev/shm/marq-fuzz-%s-%ld.db", what,
	    (long)getpid());
	return p;
}

static void
remove_db(const char *what)
{
	static const char *const suffix[] = {"", "-wal", "-shm", "-journal"};
	char whole[100];

	for (int i = 0; i < 4; i++) {
		snprintf(whole, sizeof whole, "%s%s", path_of(what), suffix[i]);
		unlink(whole);
	}
}

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
	if (!costdb_open(&db, path_of("ours"), DB_WRITE, a, &err))
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
	struct arena a;
	FILE *f;

	remove_db("theirs");
	remove_db("ours");
	f = fopen(path_of("theirs"), "w");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
	arena_init(&a);
	if (costdb_open(&from, path_of("theirs"), DB_FOREIGN, &a, &err)) {
		read_it(from, &a);
		costdb_abandon(from);
	}
	remove_db("theirs");
	remove_db("ours");
	arena_release(&a);
	return 0;
}
