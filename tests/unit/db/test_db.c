/* db: attempts in and figures out, environments, leases, what is refused. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "db/db.h"
#include "db/facts.h"
#include "db/lease.h"
#include "db/place.h"
#include "tests/support/dbfile.h"
#include "tests/support/scratch.h"

struct fixture {
	struct arena a;
	struct err err;
	const char *path;
	struct costdb *db;
	db_id env;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	arena_init(&f->a);
	f->path = dbfile_path("unit", &f->a);
	f->db = dbfile_open(f->path, DB_WRITE, &f->a);
	f->env = dbfile_env(f->db, DBFILE_HARD);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	if (f->db)
		costdb_abandon(f->db);
	dbfile_remove(f->path);
	arena_release(&f->a);
	free(f);
	return 0;
}

static void
put(struct fixture *f, uint32_t number, const struct sample *sample)
{
	struct db_subject s = dbfile_subject(number, &f->a);

	assert_true(costdb_put(f->db, &s, f->env, sample, &f->err));
}

static struct db_found
look(struct fixture *f, uint32_t number)
{
	struct db_subject s = dbfile_subject(number, &f->a);
	struct db_found found;

	assert_true(
	    costdb_lookup(f->db, s.bytes, s.n, f->env, &found, &f->err));
	return found;
}

static void
reopen(struct fixture *f)
{
	assert_true(costdb_close(f->db, &f->err));
	f->db = dbfile_open(f->path, DB_WRITE, &f->a);
}

static void
exec(const char *path, const char *sql)
{
	sqlite3 *h = NULL;

	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(h);
}

static void
price_is_the_median_of_attempts(void **state)
{
	static const uint64_t low[] = {500, 100, 110, 120, 105};
	struct fixture *f = *state;
	struct db_found found;

	for (int i = 0; i < 5; i++)
		put(f, 1,
		    &(struct sample){
		        .n = 3,
		        .low = low[i],
		        .median = low[i],
		        .high = low[i] + 1,
		    });
	assert_int_equal(look(f, 1).attempts, 0); /* not durable yet */
	assert_true(costdb_flush(f->db, &f->err));
	found = look(f, 1);
	assert_int_equal(found.attempts, 5);
	assert_int_equal(found.outcome, OUTCOME_OK);
	assert_int_equal(found.ns, 110);
	assert_int_equal(found.low, 100);
	assert_int_equal(found.high, 501);
	assert_int_equal(found.n, 15);
	assert_int_equal(look(f, 2).attempts, 0);
	reopen(f);
	assert_int_equal(look(f, 1).ns, 110);
}

static void
failures_are_outcomes(void **state)
{
	struct fixture *f = *state;
	struct sample crash = {.outcome = OUTCOME_CRASH, .detail = "signal 11"};
	struct sample wrong = {.outcome = OUTCOME_WRONG, .detail = "off by 3"};
	struct sample good = dbfile_sample(1000);
	struct sample noisy = dbfile_sample(700);

	noisy.outcome = OUTCOME_NOISY;
	put(f, 1, &crash);
	put(f, 2, &good);
	put(f, 2, &wrong);
	put(f, 3, &crash);
	put(f, 3, &good);
	put(f, 4, &noisy);
	put(f, 5, &noisy);
	put(f, 5, &good);
	assert_true(costdb_flush(f->db, &f->err));
	assert_int_equal(look(f, 1).outcome, OUTCOME_CRASH);
	assert_string_equal(look(f, 1).detail, "signal 11");
	assert_int_equal(look(f, 2).outcome, OUTCOME_WRONG);
	assert_string_equal(look(f, 2).detail, "off by 3");
	assert_int_equal(look(f, 3).outcome, OUTCOME_OK);
	assert_int_equal(look(f, 4).outcome, OUTCOME_NOISY);
	assert_int_equal(look(f, 5).ns, 1000);
}

static void
near_misses_are_told_apart(void **state)
{
	struct fixture *f = *state;
	struct sample good = dbfile_sample(1000);
	struct db_subject s;
	enum db_near near;
	const char *summary;

	put(f, 1, &good);
	assert_true(costdb_flush(f->db, &f->err));
	s = dbfile_subject(1, &f->a);
	assert_true(costdb_nearest(f->db, &s, &near, &summary, &f->a, &f->err));
	assert_int_equal(near, DB_NEAR_SAME);
	s = dbfile_subject(11, &f->a);
	assert_true(costdb_nearest(f->db, &s, &near, &summary, &f->a, &f->err));
	assert_int_equal(near, DB_NEAR_SKELETON);
	assert_string_equal(summary, "Relu number 1");
	s = dbfile_subject(2, &f->a);
	assert_true(costdb_nearest(f->db, &s, &near, &summary, &f->a, &f->err));
	assert_int_equal(near, DB_NEAR_FAMILY);
	s.family = hash128("other", 5);
	assert_true(costdb_nearest(f->db, &s, &near, &summary, &f->a, &f->err));
	assert_int_equal(near, DB_NEAR_NOTHING);
}

static void
environments_do_not_mix(void **state)
{
	struct fixture *f = *state;
	struct db_subject s = dbfile_subject(1, &f->a);
	struct sample x = dbfile_sample(1000), y = dbfile_sample(2000);
	db_id other = dbfile_env(f->db, "cpu.model=other\ntarget=fake\n");
	db_id both[2] = {other, f->env};
	static const uint32_t rank[2] = {0, 1};
	struct db_found found;
	uint32_t which;

	assert_int_not_equal(other, f->env);
	assert_int_equal(dbfile_env(f->db, DBFILE_HARD), f->env);
	assert_true(costdb_put(f->db, &s, f->env, &x, &f->err));
	assert_true(costdb_flush(f->db, &f->err));
	assert_true(costdb_lookup(f->db, s.bytes, s.n, other, &found, &f->err));
	assert_int_equal(found.attempts, 0);
	assert_true(costdb_lookup_any(f->db, &s,
	    (struct db_environments){both, rank, 2}, &which, &found, &f->err));
	assert_int_equal(which, 1);
	assert_int_equal(found.ns, 1000);
	assert_true(costdb_put(f->db, &s, other, &y, &f->err));
	assert_true(costdb_flush(f->db, &f->err));
	assert_true(costdb_lookup_any(f->db, &s,
	    (struct db_environments){both, rank, 2}, &which, &found, &f->err));
	assert_int_equal(which, 0);
	assert_int_equal(found.ns, 2000);
}

/* Lookups of one state of the database remember whom they asked for last: subjects in turn,
 * some of which nobody knows, in more environments than are remembered. */
static void
lookups_in_a_row_are_lookups(void **state)
{
	struct fixture *f = *state;
	db_id env[80];
	struct db_found found;

	for (uint32_t e = 0; e < 80; e++) {
		char hard[32];

		snprintf(hard, sizeof hard, "number=%u\n", (unsigned)e);
		env[e] = dbfile_env(f->db, hard);
	}
	for (uint32_t i = 0; i < 80; i += 5)
		for (uint32_t e = 0; e <= i; e++) {
			struct db_subject s = dbfile_subject(i, &f->a);
			struct sample x = dbfile_sample(1000 + 100 * i + e);

			for (uint32_t k = 0; k <= e % 2; k++)
				assert_true(
				    costdb_put(f->db, &s, env[e], &x, &f->err));
		}
	assert_true(costdb_flush(f->db, &f->err));
	for (int turn = 0; turn < 2; turn++) {
		if (turn == 0)
			assert_true(costdb_begin_lookups(f->db, &f->err));
		for (uint32_t i = 0; i < 80; i++)
			for (uint32_t e = 0; e < 80; e++) {
				struct db_subject s = dbfile_subject(i, &f->a);
				const bool there = i % 5 == 0 && e <= i;

				assert_true(costdb_lookup(f->db, s.bytes, s.n,
				    env[e], &found, &f->err));
				assert_int_equal(
				    found.attempts, there ? 1 + e % 2 : 0);
				if (there)
					assert_int_equal(
					    found.ns, 1000 + 100 * i + e);
			}
		costdb_end_lookups(f->db);
	}
}

/* Few attempts are read at once and put in order here, many by the database. */
static void
the_newest_attempt_says_why_it_failed(void **state)
{
	struct fixture *f = *state;
	struct sample crash = {.outcome = OUTCOME_CRASH};

	for (uint32_t n = 3; n <= 30; n += 27)
		for (uint32_t i = 0; i < n; i++) {
			snprintf(crash.detail, sizeof crash.detail, "number %u",
			    (unsigned)i);
			put(f, n, &crash);
		}
	assert_true(costdb_close(f->db, &f->err));
	exec(f->path,
	    "UPDATE measurement SET at_utc='2000-01-01T00:00:0'||"
	    "CASE detail WHEN 'number 1' THEN '2Z' WHEN 'number 2' THEN '1Z'"
	    " ELSE '0Z' END");
	f->db = dbfile_open(f->path, DB_WRITE, &f->a);
	assert_int_equal(look(f, 3).attempts, 3);
	assert_string_equal(look(f, 3).detail, "number 1");
	assert_string_equal(look(f, 3).at_utc, "2000-01-01T00:00:02Z");
	assert_int_equal(look(f, 30).attempts, 30);
	assert_string_equal(look(f, 30).detail, "number 1");
}

/* What older programs did not know makes their figures compatible at best, a
 * core that is another one makes them another machine's. */
static void
facts_that_came_later_are_compatible(void **state)
{
	struct fixture *f = *state;
	static const char now[] =
	    "cpu.core=0x41/0xd0c/0x3/1\nhost_build=aa\nlibm=2.36\n";

	assert_int_equal(
	    facts_compare("", now, &f->a).relation, FACTS_COMPATIBLE);
	assert_int_equal(facts_compare("cpu.core=0x41/0xd08/0x0/3\n"
	                               "host_build=aa\nlibm=2.36\n",
	                     now, &f->a)
	                     .relation,
	    FACTS_OTHER);
	assert_int_equal(facts_compare(now, "", &f->a).relation, FACTS_OTHER);
}

/* Environments equally far off: the one measured last, whatever the order of
 * their rows. */
static void
newest_of_equally_near_ones_counts(void **state)
{
	struct fixture *f = *state;
	struct db_subject s = dbfile_subject(1, &f->a);
	struct sample old = dbfile_sample(1000), new = dbfile_sample(3000);
	static const uint32_t rank[3] = {0, 0, 1};
	db_id env[3] = {
	    f->env, dbfile_env(f->db, "a=2\n"), dbfile_env(f->db, "a=3\n")};
	struct db_found found;
	uint32_t which;

	assert_true(costdb_put_at(
	    f->db, &s, env[1], &new, "2026-10-01T00:00:00Z", &f->err));
	assert_true(costdb_put_at(
	    f->db, &s, env[0], &old, "2026-01-01T00:00:00Z", &f->err));
	assert_true(costdb_put_at(
	    f->db, &s, env[2], &new, "2026-10-01T00:00:00Z", &f->err));
	assert_true(costdb_flush(f->db, &f->err));
	for (int turn = 0; turn < 2; turn++) {
		assert_true(costdb_lookup_any(f->db, &s,
		    (struct db_environments){env, rank, 3}, &which, &found,
		    &f->err));
		assert_int_equal(found.ns, 3000);
		assert_int_equal(which, turn == 0);
		env[0] = env[1];
		env[1] = f->env;
	}
}

static void
facts_are_sorted_and_compared(void **state)
{
	struct fixture *f = *state;
	const char *now = facts_canonical(
	    "target=dnnl\nlib.version=2.6.3\ncpu.model=x\n\nthreads=1", &f->a);
	struct facts_gap gap;

	assert_string_equal(
	    now, "cpu.model=x\nlib.version=2.6.3\ntarget=dnnl\nthreads=1\n");
	assert_string_equal(facts_canonical("a=1\na=2\n", &f->a), "a=2\n");
	assert_string_equal(facts_get(now, "threads", &f->a), "1");
	assert_null(facts_get(now, "thread", &f->a));
	assert_int_equal(facts_compare(now, now, &f->a).relation, FACTS_SAME);
	gap = facts_compare("cpu.model=x\nlib.version=2.6.1\ntarget=dnnl\n"
	                    "threads=1\n",
	    now, &f->a);
	assert_int_equal(gap.relation, FACTS_COMPATIBLE);
	assert_int_equal(gap.n, 1);
	assert_string_equal(gap.why, "lib.version: 2.6.1 -> 2.6.3");
	assert_int_equal(facts_compare("lib=1.2.3\nlib_build=aa\n",
	                     "lib=1.2.9\nlib_build=bb\n", &f->a)
	                     .relation,
	    FACTS_COMPATIBLE);
	assert_int_equal(
	    facts_compare("build=fast\n", "build=slow\n", &f->a).relation,
	    FACTS_STALE);
	gap = facts_compare("cpu.model=x\nlib.version=2.5.3\ntarget=dnnl\n"
	                    "threads=2\n",
	    now, &f->a);
	assert_int_equal(gap.relation, FACTS_STALE);
	assert_int_equal(gap.n, 2);
	assert_string_equal(
	    gap.why, "lib.version: 2.5.3 -> 2.6.3, threads: 2 -> 1");
	assert_int_equal(
	    facts_compare("target=dnnl\n", now, &f->a).relation, FACTS_OTHER);
}

/* A process that opens the file once the other end of go is closed. */
static pid_t
opens_when_told(const struct fixture *f, int go[2])
{
	pid_t child = fork();
	struct costdb *db;
	struct arena a;
	struct err err = {.kind = ERR_NONE};
	char none;

	if (child != 0)
		return child;
	close(go[1]);
	arena_init(&a);
	if (read(go[0], &none, 1) != 0
	    || !costdb_open(&db, f->path, DB_WRITE, &a, &err)) {
		fprintf(stderr, "%s\n", err.text);
		_exit(1);
	}
	_exit(0);
}

/* Whoever is not first may find it not yet there, empty or made, and never another
 * application's. */
static void
processes_create_a_file_together(void **state)
{
	enum { TOGETHER = 10, ROUNDS = 100 };
	struct fixture *f = *state;
	pid_t child[TOGETHER];
	int go[2], status;

	costdb_abandon(f->db);
	f->db = NULL;
	for (int round = 0; round < ROUNDS; round++) {
		dbfile_remove(f->path);
		assert_int_equal(pipe(go), 0);
		for (int i = 0; i < TOGETHER; i++)
			child[i] = opens_when_told(f, go);
		close(go[0]);
		close(go[1]);
		for (int i = 0; i < TOGETHER; i++) {
			waitpid(child[i], &status, 0);
			assert_int_equal(status, 0);
		}
	}
}

static void
what_is_leased_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct db_subject s[3];
	struct lease_ask ask[3];
	struct sample good = dbfile_sample(1000);
	int pipes[2], ours[2], status;
	pid_t child;
	char byte, name[64], holder[LEASE_HOLDER_CHARS];

	for (uint32_t i = 0; i < 3; i++) {
		s[i] = dbfile_subject(i, &f->a);
		ask[i] = (struct lease_ask){.subject = &s[i], .env = f->env};
	}
	costdb_abandon(f->db);
	f->db = NULL;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(pipe(ours), 0);
	child = fork();
	if (child == 0) {
		struct costdb *db = dbfile_open(f->path, DB_WRITE, &f->a);

		close(ours[1]);
		if (!costdb_lease(db, ask, 3, 2, &f->err)
		    || write(pipes[1], "x", 1) != 1)
			_exit(1);
		_exit(read(ours[0], &byte, 1) != 0); /* as long as we live */
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	f->db = dbfile_open(f->path, DB_WRITE, &f->a);
	assert_true(costdb_lease(f->db, ask, 3, 3, &f->err));
	assert_int_equal(ask[0].lease, LEASE_HELD);
	assert_int_equal(ask[1].lease, LEASE_HELD);
	assert_int_equal(ask[2].lease, LEASE_OURS);
	snprintf(name, sizeof name, "process %ld", (long)child);
	assert_true(costdb_lease_holder(f->db, &ask[0], holder, &f->err));
	assert_string_equal(holder, name);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	/* The dead hold nothing. */
	assert_true(costdb_lease(f->db, ask, 3, 1, &f->err));
	assert_int_equal(ask[0].lease, LEASE_OURS);
	assert_int_equal(ask[1].lease, LEASE_HELD); /* max was 1 */
	put(f, 0, &good);
	assert_true(costdb_lease(f->db, ask, 3, 3, &f->err));
	assert_int_equal(ask[0].lease, LEASE_DONE);
	assert_int_equal(ask[1].lease, LEASE_OURS);
	/* Who knows one attempt waits for another. */
	ask[0].known = 1;
	assert_true(costdb_lease(f->db, ask, 1, 1, &f->err));
	assert_int_equal(ask[0].lease, LEASE_OURS);
	put(f, 0, &good);
	assert_true(costdb_lease(f->db, ask, 1, 1, &f->err));
	assert_int_equal(ask[0].lease, LEASE_DONE);
	assert_true(costdb_lease_drop(f->db, &f->err));
	assert_true(costdb_lease_holder(f->db, &ask[1], holder, &f->err));
	assert_string_equal(holder, "");
	close(pipes[0]);
	close(pipes[1]);
}

static void
a_timeout_counts_up_to_its_limit(void **state)
{
	struct fixture *f = *state;
	struct db_subject s = dbfile_subject(0, &f->a);
	struct lease_ask ask = {.subject = &s, .env = f->env, .limit_ns = 500};
	struct sample x = {.outcome = OUTCOME_TIMEOUT, .limit_ns = 500};

	put(f, 0, &x);
	assert_true(costdb_lease(f->db, &ask, 1, 1, &f->err));
	assert_int_equal(ask.lease, LEASE_DONE);
	ask.limit_ns = 501;
	assert_true(costdb_lease(f->db, &ask, 1, 1, &f->err));
	assert_int_equal(ask.lease, LEASE_OURS);
	reopen(f);
	assert_int_equal(look(f, 0).outcome, OUTCOME_TIMEOUT);
	assert_int_equal(look(f, 0).limit_ns, 500);
}

static bool
refused(struct fixture *f, const char *path, enum db_mode mode,
    enum err_kind kind, const char *words)
{
	struct costdb *db;
	bool opened = costdb_open(&db, path, mode, &f->a, &f->err), right;

	if (opened) {
		costdb_abandon(db);
		return false;
	}
	right = f->err.kind == kind && strstr(f->err.text, words);
	if (!right)
		print_error("kind %d: %s\n", (int)f->err.kind, f->err.text);
	err_clear(&f->err);
	return right;
}

static void
strangers_are_refused(void **state)
{
	struct fixture *f = *state;
	const char *path = dbfile_path("strange", &f->a);
	FILE *text;

	assert_true(refused(f, "no/such.db", DB_READ, ERR_IO, "no such"));
	assert_true(refused(f, ".", DB_WRITE, ERR_IO, "regular"));
	exec(path, "CREATE TABLE t(x); PRAGMA application_id=77");
	assert_true(refused(f, path, DB_WRITE, ERR_DB, "another application"));
	assert_true(refused(f, path, DB_READ, ERR_DB, "another application"));
	dbfile_remove(path);
	text = fopen(path, "w");
	for (int i = 0; i < 1000; i++)
		fprintf(text, "this is no database\n");
	fclose(text);
	assert_true(refused(f, path, DB_WRITE, ERR_DB, "not a database"));
	dbfile_remove(path);
	fclose(fopen(path, "w"));
	assert_true(refused(f, path, DB_READ, ERR_DB, "empty"));
	dbfile_remove(path);
	assert_true(costdb_close(f->db, &f->err));
	f->db = NULL;
	exec(f->path, "PRAGMA user_version=99");
	assert_true(refused(f, f->path, DB_WRITE, ERR_DB, "newer marq"));
	exec(f->path, "UPDATE meta SET v='99' WHERE k='min_reader'");
	assert_true(refused(f, f->path, DB_READ, ERR_DB, "newer marq"));
	exec(f->path, "UPDATE meta SET v='1' WHERE k='min_reader'");
	f->db = dbfile_open(f->path, DB_READ, &f->a);
	assert_int_equal(look(f, 1).attempts, 0);
}

static void
a_read_only_folder_will_do_for_reading(void **state)
{
	struct fixture *f = *state;
	struct sample good = dbfile_sample(1000);
	const char *folder = scratch_path("ro", &f->a);
	const char *path = arena_printf(&f->a, "%s/x.db", folder);
	const char *moved = f->path;

	put(f, 1, &good);
	assert_true(costdb_close(f->db, &f->err));
	assert_int_equal(mkdir(folder, 0777), 0);
	assert_int_equal(rename(moved, path), 0);
	assert_int_equal(chmod(folder, 0555), 0);
	f->db = dbfile_open(path, DB_READ, &f->a);
	assert_int_equal(look(f, 1).ns, 1000);
	costdb_abandon(f->db);
	f->db = NULL;
	chmod(folder, 0777);
	dbfile_remove(path);
	rmdir(folder);
}

static void
network_file_systems_are_known(void **state)
{
	(void)state;
	assert_string_equal(place_network_name(0x6969), "NFS");
	assert_string_equal(place_network_name(0xff534d42), "CIFS");
	assert_string_equal(place_network_name(0x0bd00bd0), "Lustre");
	assert_null(place_network_name(0xef53)); /* ext4 */
	assert_null(place_network_name(0x01021994)); /* tmpfs */
}

/* What was counted is remembered where many are, and only what is new is read. */
static void
older_keys_are_counted_once(void **state)
{
	struct fixture *f = *state;
	const struct sample sample = dbfile_sample(1000);
	const char *kept;
	uint64_t n;

	for (uint32_t i = 0; i < 1500; i++)
		put(f, i, &sample);
	assert_true(costdb_flush(f->db, &f->err));
	exec(f->path,
	    "UPDATE subject SET bytes=CAST(x'00'||bytes AS BLOB)"
	    " WHERE subject_id<=100 AND kind='candidate'");
	for (int i = 0; i < 2; i++) {
		assert_true(costdb_older_keys(f->db, 1, &n, &f->err));
		assert_int_equal(n, 100);
	}
	assert_true(
	    costdb_meta_get(f->db, "older_keys", &kept, &f->a, &f->err));
	assert_string_equal(kept, "1 1500 100");
	put(f, 2000, &sample);
	assert_true(costdb_flush(f->db, &f->err));
	exec(f->path,
	    "UPDATE subject SET bytes=CAST(x'00'||bytes AS BLOB)"
	    " WHERE subject_id>1500");
	assert_true(costdb_older_keys(f->db, 1, &n, &f->err));
	assert_int_equal(n, 101);
	/* another version is another question */
	assert_true(costdb_older_keys(f->db, 0, &n, &f->err));
	assert_int_equal(n, 0);
}

int
main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(price_is_the_median_of_attempts),
	    T(failures_are_outcomes),
	    T(near_misses_are_told_apart),
	    T(environments_do_not_mix),
	    T(newest_of_equally_near_ones_counts),
	    T(lookups_in_a_row_are_lookups),
	    T(the_newest_attempt_says_why_it_failed),
	    T(facts_that_came_later_are_compatible),
	    T(facts_are_sorted_and_compared),
	    T(processes_create_a_file_together),
	    T(what_is_leased_is_left_alone),
	    T(a_timeout_counts_up_to_its_limit),
	    T(strangers_are_refused),
	    T(a_read_only_folder_will_do_for_reading),
	    T(older_keys_are_counted_once),
	    cmocka_unit_test(network_file_systems_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
