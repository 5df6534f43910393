/* kill -9 at random instants, several writers on one database: no corruption,
 * no acknowledged attempt lost, none counted twice.
 * dbkill [ROUNDS [WRITERS]]: the default is a taste. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "db/admin.h"
#include "db/lease.h"
#include "tests/support/dbfile.h"
#include "tests/support/scratch.h"
#include "tests/support/support.h"

#define PATH "kill-test.db"
#define PER_ROUND 400 /* subjects; more than a round gets through */
#define AT_ONCE 24
#define WRITERS_MAX 16

/* Shared with the writers: what a flush that returned true made safe. */
static uint8_t *acknowledged;

static void
die(uint32_t round, const char *what)
{
	printf("round %u: %s\n", round, what);
	exit(1);
}

static void
must(bool ok, const struct err *err)
{
	if (ok)
		return;
	printf("%s\n", err->text);
	_exit(1);
}

/* Lease a few subjects of the round, "measure" them, store them. */
static bool
work(struct costdb *db, db_id env, uint32_t first, struct rng *r)
{
	struct db_subject subject[AT_ONCE];
	struct lease_ask ask[AT_ONCE];
	struct err err = {.kind = ERR_NONE};
	uint32_t number[AT_ONCE];
	struct arena a;
	bool any = false;

	arena_init(&a);
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		number[i] = first + rng_below(r, PER_ROUND);
		subject[i] = dbfile_subject(number[i], &a);
		ask[i] = (struct lease_ask){.subject = &subject[i], .env = env};
	}
	must(costdb_lease(db, ask, AT_ONCE, 6, &err), &err);
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		struct sample x = dbfile_sample(1000 + number[i]);
		bool twice = false;

		for (uint32_t k = 0; k < i; k++)
			twice |= number[k] == number[i];
		if (ask[i].lease != LEASE_OURS || twice)
			continue;
		must(costdb_put(db, &subject[i], env, &x, &err), &err);
		any = true;
	}
	must(costdb_flush(db, &err), &err);
	for (uint32_t i = 0; i < AT_ONCE; i++)
		if (ask[i].lease == LEASE_OURS)
			acknowledged[number[i]] = 1;
	arena_release(&a);
	return any;
}

static _Noreturn void
writer(uint32_t first, uint64_t seed)
{
	struct rng r = rng_seeded(seed);
	struct arena a;
	struct costdb *db;
	db_id env;

	arena_init(&a);
	db = dbfile_open(PATH, DB_WRITE, &a);
	env = dbfile_env(db, DBFILE_HARD);
	for (;;)
		work(db, env, first, &r);
}

struct seen {
	uint32_t first;
	uint16_t count[PER_ROUND];
	uint64_t others; /* of earlier rounds */
};

static bool
see(void *context, const struct db_row *row, struct err *err)
{
	struct seen *s = context;
	uint32_t number;

	(void)err;
	if (sscanf(row->summary, "Relu number %u", &number) != 1)
		return false;
	if (number >= s->first && number < s->first + PER_ROUND)
		s->count[number - s->first]++;
	else
		s->others++;
	return true;
}

/* Everything acknowledged is there once; nothing is there twice. */
static uint64_t
check(uint32_t round, uint32_t first, bool deep)
{
	struct err err = {.kind = ERR_NONE};
	struct seen seen = {.first = first};
	uint64_t findings = 0, stored = 0;
	struct costdb *db;
	struct notes notes;
	struct arena a;

	arena_init(&a);
	notes_init(&notes, &a);
	db = dbfile_open(PATH, DB_WRITE, &a);
	must(costdb_visit(db, NULL, true, see, &seen, &err), &err);
	if (deep)
		must(costdb_verify(db, &notes, &findings, &err), &err);
	if (findings)
		die(round, notes.text[0]);
	for (uint32_t i = 0; i < PER_ROUND; i++) {
		stored += seen.count[i];
		if (seen.count[i] > 1)
			die(round, "a subject was measured twice");
		if (acknowledged[first + i] && seen.count[i] == 0)
			die(round, "an acknowledged attempt is lost");
	}
	costdb_abandon(db);
	arena_release(&a);
	return stored;
}

static void
run_round(uint32_t round, uint32_t first, uint32_t writers, struct rng *r)
{
	pid_t pid[WRITERS_MAX];
	int status;

	for (uint32_t i = 0; i < writers; i++) {
		pid[i] = fork();
		if (pid[i] == 0)
			writer(first, rng_next(r) + i);
	}
	/* One after the other, at instants that have nothing to do with what
	 * they are doing. */
	for (uint32_t i = 0; i < writers; i++) {
		usleep(2000 + rng_below(r, 60000 / writers));
		kill(pid[i], SIGKILL);
	}
	for (uint32_t i = 0; i < writers; i++) {
		waitpid(pid[i], &status, 0);
		if (!WIFSIGNALED(status))
			die(round, "a writer failed before it was killed");
	}
}

int
main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 25;
	uint32_t writers = argc > 2 ? (uint32_t)atoi(argv[2]) : 4;
	struct rng r = rng_seeded(rounds);
	uint64_t stored = 0, acked = 0;
	size_t bytes = (size_t)rounds * PER_ROUND;

	if (writers < 1 || writers > WRITERS_MAX || rounds < 1)
		return 2;
	acknowledged = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (acknowledged == MAP_FAILED)
		return 2;
	scratch_enter();
	for (uint32_t round = 0; round < rounds; round++) {
		uint32_t first = round * PER_ROUND;

		run_round(round, first, writers, &r);
		stored += check(round, first,
		    rounds < 100 || round % 50 == 0 || round + 1 == rounds);
	}
	for (size_t i = 0; i < bytes; i++)
		acked += acknowledged[i];
	printf("%" PRIu64 " attempts stored, %" PRIu64 " acknowledged, by %u "
	       "writers\n",
	    stored, acked, writers);
	if (acked == 0)
		die(rounds, "no writer got anywhere");
	printf("%u passed, 0 failed\n", rounds);
	return 0;
}
