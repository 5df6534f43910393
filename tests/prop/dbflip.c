/* One bit of a database falls over, anywhere: no lookup gives another price than
 * before, and what is missing is said, when the file is opened or by the count of
 * damaged attempts. What can be saved of it, and what merging takes of it, has the
 * right prices, too, and a merge that succeeds accounts for every attempt.
 * prop_dbflip [FLIPS [FIRST SEED]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/admin.h"
#include "tests/support/dbfile.h"
#include "tests/support/scratch.h"
#include "tests/support/support.h"

#define SUBJECTS 400u

struct flip {
	uint64_t seed;
	uint8_t *whole; /* [n] the file as it should be */
	size_t n;
	struct arena a; /* of one flip */
};

struct flip_tally {
	uint64_t refused, missing, saved, nothing, merged;
};

static const char original[] = "dbflip.db", damaged[] = "dbflip-damaged.db",
                  repaired[] = "dbflip-repaired.db";

static _Noreturn void
die(const struct flip *f, const char *what)
{
	printf("seed %" PRIu64 ": %s\n", f->seed, what);
	exit(1);
}

static uint64_t
price_of(uint32_t subject)
{
	return 1000 + 37 * subject;
}

static void
read_whole(struct flip *f)
{
	FILE *file = fopen(original, "rb");

	fseek(file, 0, SEEK_END);
	f->n = (size_t)ftell(file);
	rewind(file);
	f->whole = malloc(f->n);
	if (fread(f->whole, 1, f->n, file) != f->n)
		die(f, "cannot read");
	fclose(file);
}

static void
make_original(struct flip *f)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct costdb *db;

	arena_init(&a);
	dbfile_remove(original);
	db = dbfile_open(original, DB_WRITE, &a);
	for (uint32_t i = 0; i < SUBJECTS; i++) {
		struct db_subject s = dbfile_subject(i, &a);
		struct sample x = dbfile_sample(price_of(i));

		x.low = price_of(i);
		if (!costdb_put(db, &s, dbfile_env(db, DBFILE_HARD), &x, &err))
			die(f, err.text);
	}
	if (!costdb_close(db, &err))
		die(f, err.text);
	read_whole(f);
	arena_release(&a);
}

static void
write_damaged(const struct flip *f)
{
	struct rng r = rng_seeded(f->seed);
	uint64_t bit = rng_next(&r) % (f->n * 8);
	FILE *file;

	dbfile_remove(damaged);
	file = fopen(damaged, "wb");
	f->whole[bit / 8] ^= (uint8_t)(1u << bit % 8);
	if (fwrite(f->whole, 1, f->n, file) != f->n)
		die(f, "cannot write");
	f->whole[bit / 8] ^= (uint8_t)(1u << bit % 8);
	fclose(file);
}

/* How many prices are not there; a wrong one ends it all. */
static uint64_t
look(struct flip *f, struct costdb *db)
{
	uint64_t missing = 0;

	for (uint32_t i = 0; i < SUBJECTS; i++) {
		struct db_subject s = dbfile_subject(i, &f->a);
		struct err err = {.kind = ERR_NONE};
		struct db_found found = {.attempts = 0};
		db_id env = DB_NO_ID;

		if (!costdb_environment(db, DBFILE_HARD, false, &env, &err)
		    || env == DB_NO_ID
		    || !costdb_lookup(db, s.bytes, s.n, env, &found, &err)
		    || found.attempts == 0 || found.outcome != OUTCOME_OK)
			missing++;
		else if (found.ns != price_of(i))
			die(f, "a wrong price");
	}
	return missing;
}

static void
repair(struct flip *f, struct flip_tally *t)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *from, *to;
	struct db_merge count;
	struct notes notes;
	uint64_t lost;

	notes_init(&notes, &f->a);
	if (!costdb_open(&from, damaged, DB_FOREIGN, &f->a, &err)) {
		t->nothing++;
		return;
	}
	dbfile_remove(repaired);
	to = dbfile_open(repaired, DB_WRITE, &f->a);
	if (!costdb_salvage(to, from, &count, &lost, &notes, &err))
		die(f, err.text);
	costdb_abandon(from);
	if (look(f, to) != SUBJECTS - count.added)
		die(f, "what was saved is not there");
	t->saved += count.added;
	costdb_abandon(to);
	dbfile_remove(repaired);
}

static void
merge(struct flip *f, struct flip_tally *t)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *from, *to;
	struct db_merge count;
	struct notes notes;

	notes_init(&notes, &f->a);
	if (!costdb_open(&from, damaged, DB_FOREIGN, &f->a, &err))
		return;
	dbfile_remove(repaired);
	to = dbfile_open(repaired, DB_WRITE, &f->a);
	if (costdb_merge(to, from, &count, &notes, &err)) {
		t->merged++;
		if (count.added + count.rejected != SUBJECTS)
			die(f, "merging loses attempts in silence");
	}
	costdb_abandon(from);
	if (look(f, to) != SUBJECTS - count.added)
		die(f, "what was merged is not there");
	costdb_abandon(to);
	dbfile_remove(repaired);
}

static void
one_flip(struct flip *f, struct flip_tally *t)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *db;
	uint64_t missing;

	arena_init(&f->a);
	write_damaged(f);
	if (!costdb_open(&db, damaged, DB_READ, &f->a, &err)) {
		t->refused++;
		repair(f, t);
	} else {
		missing = look(f, db);
		if (missing > 0 && costdb_damaged(db) == 0)
			die(f, "prices are missing and nothing is said");
		t->missing += missing;
		costdb_abandon(db);
	}
	merge(f, t);
	arena_release(&f->a);
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 300;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct flip f = {.seed = 0};
	struct flip_tally t = {0};

	scratch_enter();
	make_original(&f);
	for (f.seed = first; f.seed < first + n; f.seed++)
		one_flip(&f, &t);
	printf(
	    "%" PRIu64 " flips in a file of %zu bytes and %u prices: no wrong "
	    "price, %" PRIu64 " prices missing and said, %" PRIu64
	    " files refused (of which repair saved %.1f prices each, %" PRIu64
	    " not at all), %" PRIu64 " merged\n",
	    n, f.n, SUBJECTS, t.missing, t.refused,
	    t.refused ? (double)t.saved / (double)t.refused : 0, t.nothing,
	    t.merged);
	free(f.whole);
	return 0;
}
