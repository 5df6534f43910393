/* db: merging, exporting, collecting, verifying, migrating; hostile files. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "db/admin.h"
#include "db/journal.h"
#include "db/schema.h"
#include "db/sql.h"
#include "ir/base/file.h"
#include "ir/base/limits.h"
#include "tests/support/dbfile.h"

struct fixture {
	struct arena a;
	struct err err;
	struct notes notes;
	const char *path, *other;
	struct costdb *db;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	arena_init(&f->a);
	notes_init(&f->notes, &f->a);
	f->path = dbfile_path("admin", &f->a);
	f->other = dbfile_path("other", &f->a);
	f->db = dbfile_open(f->path, DB_WRITE, &f->a);
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
	dbfile_remove(f->other);
	arena_release(&f->a);
	free(f);
	return 0;
}

static void
exec(const char *path, const char *sql)
{
	sqlite3 *h = NULL;
	char *words = NULL;

	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	if (sqlite3_exec(h, sql, NULL, NULL, &words) != SQLITE_OK)
		fail_msg("%s", words);
	sqlite3_close(h);
}

/* Attempts of subjects first .. first + n - 1, each of `ns` + its number. */
static void
fill(struct fixture *f, struct costdb *db, uint32_t first, uint32_t n,
    uint64_t ns)
{
	db_id env = dbfile_env(db, DBFILE_HARD);

	assert_true(costdb_begin_run(
	    db, "marq", "marq search x.onnx", "kernel=6\n", &f->err));
	for (uint32_t i = first; i < first + n; i++) {
		struct db_subject s = dbfile_subject(i, &f->a);
		struct sample x = dbfile_sample(ns + i);

		assert_true(costdb_put(db, &s, env, &x, &f->err));
	}
	assert_true(costdb_flush(db, &f->err));
}

static struct db_merge
merge(struct fixture *f, const char *from)
{
	struct costdb *source = dbfile_open(from, DB_FOREIGN, &f->a);
	struct db_merge m;
	bool ok = costdb_merge(f->db, source, &m, &f->notes, &f->err);

	if (!ok)
		print_error("%s\n", f->err.text);
	costdb_abandon(source);
	assert_true(ok);
	return m;
}

static uint64_t
attempts(struct fixture *f)
{
	struct db_stat s;

	assert_true(costdb_stat(f->db, &s, &f->err));
	return s.attempts;
}

static void
merging_twice_adds_nothing(void **state)
{
	struct fixture *f = *state;
	struct costdb *other = dbfile_open(f->other, DB_WRITE, &f->a);
	struct db_merge m;
	struct db_found found;
	struct db_subject s = dbfile_subject(150, &f->a);

	fill(f, f->db, 0, 100, 1000);
	fill(f, other, 50, 150, 1000);
	assert_true(costdb_close(other, &f->err));
	m = merge(f, f->other);
	assert_int_equal(m.added, 150);
	assert_int_equal(m.conflicts, 0);
	m = merge(f, f->other);
	assert_int_equal(m.added, 0);
	assert_int_equal(m.known, 150);
	assert_int_equal(attempts(f), 250);
	assert_true(costdb_lookup(f->db, s.bytes, s.n,
	    dbfile_env(f->db, DBFILE_HARD), &found, &f->err));
	assert_int_equal(found.ns, 1150);
	/* And the other way round nothing is lost either. */
	assert_true(costdb_close(f->db, &f->err));
	f->db = dbfile_open(f->other, DB_WRITE, &f->a);
	m = merge(f, f->path);
	assert_int_equal(m.added, 100);
	assert_int_equal(attempts(f), 250);
}

static void
no_subject_beyond_the_limit_is_merged(void **state)
{
	struct fixture *f = *state;
	struct costdb *other = dbfile_open(f->other, DB_WRITE, &f->a);
	const db_id env = dbfile_env(other, DBFILE_HARD);
	const size_t most = limit_of(LIMIT_DB_SUBJECT);
	struct db_merge m;

	for (size_t over = 0; over < 2; over++) {
		struct db_subject s = dbfile_subject((uint32_t)over, &f->a);
		struct sample x = dbfile_sample(1000);

		s.bytes = arena_alloc(&f->a, most + over);
		s.n = most + over;
		assert_true(costdb_put(other, &s, env, &x, &f->err));
	}
	assert_true(costdb_close(other, &f->err));
	m = merge(f, f->other);
	assert_int_equal(m.added, 1);
	assert_int_equal(m.rejected, 1);
}

static void
figures_that_disagree_are_reported_and_kept(void **state)
{
	struct fixture *f = *state;
	struct costdb *other = dbfile_open(f->other, DB_WRITE, &f->a);
	struct db_merge m;

	fill(f, f->db, 0, 10, 1000);
	fill(f, other, 8, 10, 3000);
	assert_true(costdb_close(other, &f->err));
	m = merge(f, f->other);
	assert_int_equal(m.conflicts, 2);
	assert_int_equal(f->notes.n, 2);
	assert_non_null(strstr(f->notes.text[0], "3008..3068 ns there"));
	assert_non_null(strstr(f->notes.text[0], "1008..1028 ns here"));
	assert_int_equal(attempts(f), 20);
}

static void
retiring_travels_with_a_merge(void **state)
{
	struct fixture *f = *state;
	struct costdb *other = dbfile_open(f->other, DB_WRITE, &f->a);
	struct db_where where = {.subject = "number 3"};
	struct db_merge m;
	uint64_t n;

	fill(f, other, 0, 10, 1000);
	assert_true(costdb_close(other, &f->err));
	merge(f, f->other);
	other = dbfile_open(f->other, DB_WRITE, &f->a);
	assert_true(costdb_invalidate(other, &where, true, &n, &f->err));
	assert_int_equal(n, 1);
	assert_true(costdb_invalidate(other, &where, false, &n, &f->err));
	assert_int_equal(n, 1);
	assert_true(costdb_close(other, &f->err));
	m = merge(f, f->other);
	assert_int_equal(m.added, 0);
	assert_int_equal(m.retired, 1);
}

static void
an_export_comes_back_whole(void **state)
{
	struct fixture *f = *state;
	struct db_merge m;
	struct db_stat s, t;
	struct costdb *copy;
	FILE *text = tmpfile();

	fill(f, f->db, 0, 100, 1000);
	assert_true(costdb_stat(f->db, &s, &f->err));
	assert_true(costdb_export(f->db, text, &f->notes, &f->err));
	copy = dbfile_open(f->other, DB_WRITE, &f->a);
	for (int round = 0; round < 2; round++) {
		rewind(text);
		if (!costdb_import(copy, text, "text", &m, &f->notes, &f->err))
			fail_msg("%s", f->err.text);
		assert_int_equal(m.added, round ? 0 : 100);
		assert_int_equal(m.rejected, 0);
	}
	assert_true(costdb_stat(copy, &t, &f->err));
	assert_int_equal(s.attempts, t.attempts);
	assert_int_equal(s.subjects, t.subjects);
	assert_int_equal(s.environments, t.environments);
	assert_int_equal(s.runs, t.runs);
	costdb_abandon(copy);
	fclose(text);
}

static void
malformed_lines_are_named(void **state)
{
	static const struct {
		const char *line, *words;
	} bad[] = {
	    {"", "empty"},
	    {"[]", "'schema' is missing"},
	    {"{\"schema\":\"marq.db/9\"}", "marq.db/9"},
	    {"{\"schema\":\"marq.db/1\"}\n{\"nonsense\":1}", ":2: none"},
	    {"{\"schema\":\"marq.db/1\"}\n{\"attempt\":\"zz\"}", "hexadecimal"},
	    {"{\"schema\":\"marq.db/1\"}\n{\"attempt\":\"00\"}", "16"},
	    {"{\"schema\":\"marq.db/1\"}\n{\"attempt\":"
	     "\"00112233445566778899aabbccddeeff\",\"subject\":7}",
	        "no subject 7"},
	    {"{\"schema\":\"marq.db/1\"}\n{\"environment\":1,"
	     "\"hard\":\"b=1\\na=2\"}",
	        "canonical"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		FILE *text = tmpfile();
		struct db_merge m;

		fputs(bad[i].line, text);
		rewind(text);
		assert_false(
		    costdb_import(f->db, text, "x", &m, &f->notes, &f->err));
		if (!strstr(f->err.text, bad[i].words))
			fail_msg("%zu: %s", i, f->err.text);
		err_clear(&f->err);
		fclose(text);
	}
	assert_int_equal(attempts(f), 0);
}

static void
rows_that_cannot_be_are_rejected(void **state)
{
	struct fixture *f = *state;
	struct costdb *other = dbfile_open(f->other, DB_WRITE, &f->a);
	struct db_merge m;

	fill(f, other, 0, 10, 1000);
	assert_true(costdb_close(other, &f->err));
	exec(f->other,
	    "PRAGMA ignore_check_constraints=1;"
	    "UPDATE measurement SET low_ns=0 WHERE measurement_id=1;"
	    "UPDATE measurement SET outcome='great' WHERE measurement_id=2;"
	    "UPDATE measurement SET at_utc='2999-01-01T00:00:00Z'"
	    " WHERE measurement_id=3;"
	    "UPDATE measurement SET at_utc='yesterday' WHERE measurement_id=4;"
	    "UPDATE measurement SET high_ns=-5 WHERE measurement_id=5;"
	    "UPDATE measurement SET max_error=9e999 WHERE measurement_id=6;"
	    "UPDATE measurement SET env_id=77 WHERE measurement_id=7;"
	    "UPDATE subject SET kind='other' WHERE subject_id=8;");
	m = merge(f, f->other);
	assert_int_equal(m.added, 2);
	assert_int_equal(m.rejected, 8);
}

static bool
trusted(struct fixture *f, const char *words)
{
	struct costdb *db;
	bool ok = costdb_open(&db, f->other, DB_FOREIGN, &f->a, &f->err);

	if (ok) {
		ok = costdb_trust(db, &f->err);
		costdb_abandon(db);
	}
	if (!ok && !strstr(f->err.text, words))
		print_error("%s\n", f->err.text);
	ok = ok || !strstr(f->err.text, words);
	err_clear(&f->err);
	return ok;
}

static void
files_that_compute_are_not_read(void **state)
{
	static const char *const sql[] = {
	    "CREATE VIEW v AS SELECT 1",
	    "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END",
	    "CREATE VIRTUAL TABLE t USING fts5(x)",
	    "ALTER TABLE run ADD COLUMN g TEXT AS (tool||'x')",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof sql / sizeof *sql; i++) {
		dbfile_remove(f->other);
		costdb_abandon(dbfile_open(f->other, DB_WRITE, &f->a));
		assert_true(trusted(f, ""));
		exec(f->other, sql[i]);
		assert_false(trusted(f, "computed"));
	}
	dbfile_remove(f->other);
	costdb_abandon(dbfile_open(f->other, DB_WRITE, &f->a));
	exec(f->other,
	    "DROP TABLE measurement; CREATE VIEW measurement AS SELECT 1");
	assert_false(trusted(f, "measurement"));
}

static bool
is_noted(const struct fixture *f, const char *words)
{
	for (uint32_t i = 0; i < f->notes.n; i++)
		if (strstr(f->notes.text[i], words))
			return true;
	return false;
}

static void
verify_finds_what_was_broken(void **state)
{
	struct fixture *f = *state;
	uint64_t n;

	fill(f, f->db, 0, 10, 1000);
	assert_true(costdb_verify(f->db, &f->notes, &n, &f->err));
	assert_int_equal(n, 0);
	assert_true(costdb_close(f->db, &f->err));
	exec(f->path,
	    "PRAGMA ignore_check_constraints=1;"
	    "UPDATE subject SET bytes=x'00' WHERE subject_id=2;"
	    "UPDATE measurement SET low_ns=0 WHERE measurement_id=1;"
	    "DELETE FROM subject WHERE subject_id=3;"
	    "UPDATE subject SET key=0 WHERE subject_id=4;"
	    "DELETE FROM kin WHERE skeleton="
	    "(SELECT skeleton FROM subject WHERE subject_id=5);");
	f->db = dbfile_open(f->path, DB_FOREIGN, &f->a);
	assert_true(costdb_verify(f->db, &f->notes, &n, &f->err));
	assert_in_range(n, 5, 7);
	assert_true(is_noted(f, "subject 4: not its key"));
	assert_true(is_noted(f, "subject 5: without its kin"));
}

static void
garbage_is_counted_before_it_goes(void **state)
{
	struct fixture *f = *state;
	struct db_where where = {.subject = "number 19"};
	struct db_gc gc = {.keep = 2, .dry_run = true};
	struct db_stat s;
	uint64_t n;

	for (int i = 0; i < 4; i++)
		fill(f, f->db, 0, 20, 1000);
	assert_true(costdb_invalidate(f->db, &where, false, &n, &f->err));
	assert_int_equal(n, 4);
	assert_true(costdb_gc(f->db, &gc, &f->err));
	assert_int_equal(gc.attempts, 20 * 2);
	assert_int_equal(gc.emptied, 2);
	assert_int_equal(gc.subjects, 0);
	assert_int_equal(attempts(f), 80);
	gc.dry_run = false;
	assert_true(costdb_gc(f->db, &gc, &f->err));
	assert_true(costdb_stat(f->db, &s, &f->err));
	assert_int_equal(s.attempts, 40);
	assert_int_equal(s.retired, 2);
	assert_int_equal(s.subjects, 20);
	assert_int_equal(s.runs, 2);
	assert_true(costdb_verify(f->db, &f->notes, &n, &f->err));
	assert_int_equal(n, 0);
}

static void
a_copy_stands_alone(void **state)
{
	struct fixture *f = *state;
	struct costdb *copy;
	struct db_stat s;

	fill(f, f->db, 0, 100, 1000);
	assert_true(costdb_copy(f->db, f->other, &f->err));
	assert_int_not_equal(
	    access(arena_printf(&f->a, "%s-wal", f->other), F_OK), 0);
	copy = dbfile_open(f->other, DB_READ, &f->a);
	assert_true(costdb_stat(copy, &s, &f->err));
	assert_int_equal(s.attempts, 100);
	costdb_abandon(copy);
	assert_false(costdb_copy(f->db, f->other, &f->err));
	assert_int_equal(f->err.kind, ERR_IO);
	err_clear(&f->err);
}

/* A file as version 1 of the program left it. */
static void
make_old(struct fixture *f)
{
	struct costdb *old = dbfile_open(f->other, DB_WRITE, &f->a);

	fill(f, old, 0, 10, 1000);
	assert_true(costdb_close(old, &f->err));
	exec(f->other,
	    "ALTER TABLE run DROP COLUMN merged_from; PRAGMA user_version=1;"
	    "UPDATE meta SET v='1' WHERE k='min_reader'");
}

static void
older_files_are_brought_forward_with_a_backup(void **state)
{
	struct fixture *f = *state;
	struct costdb *db;
	struct db_stat s;
	struct db_merge m;
	glob_t found;

	make_old(f);
	assert_false(costdb_open(&db, f->other, DB_READ, &f->a, &f->err));
	assert_non_null(strstr(f->err.text, "marq db migrate"));
	err_clear(&f->err);
	m = merge(f, f->other); /* an old file can be merged as it is */
	assert_int_equal(m.added, 10);
	db = dbfile_open(f->other, DB_WRITE, &f->a);
	assert_true(costdb_stat(db, &s, &f->err));
	assert_int_equal(s.schema, SCHEMA_VERSION);
	assert_int_equal(s.attempts, 10);
	assert_true(costdb_close(db, &f->err));
	assert_int_equal(
	    glob(arena_printf(&f->a, "%s.v1-*", f->other), 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	db = dbfile_open(found.gl_pathv[0], DB_FOREIGN, &f->a);
	assert_true(costdb_stat(db, &s, &f->err));
	assert_int_equal(s.schema, 1);
	assert_int_equal(s.attempts, 10);
	costdb_abandon(db);
	dbfile_remove(found.gl_pathv[0]);
	globfree(&found);
}

static int64_t
integer(const char *path, const char *sql)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *h = NULL;
	int64_t n;

	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &s, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(h);
	return n;
}

/* As the last program of schema 5 wrote it. */
static void
make_version_5(struct fixture *f)
{
	const char *source = getenv("MARQ_SOURCE"), *sql;
	size_t n;

	if (!source)
		skip(); /* run by hand, elsewhere */
	assert_true(file_read(&sql, &n,
	    arena_printf(&f->a, "%s/tests/unit/db/version5.sql", source),
	    LIMIT_DB_LINE, &f->a, &f->err));
	exec(f->other, sql);
}

static void
a_file_of_version_5_loses_nothing(void **state)
{
	static const char kin[] = "SELECT count(*) FROM kin",
	                  kinds[] = "SELECT count(*) FROM (SELECT DISTINCT"
	                            " skeleton,family FROM subject)",
	                  indexes[] = "SELECT count(*) FROM"
	                              " pragma_index_list('measurement')",
	                  without[] = "SELECT count(*) FROM measurement"
	                              " WHERE sum IS NULL";
	struct fixture *f = *state;
	struct costdb *db;
	struct db_merge m;
	struct db_stat s;
	uint64_t n;

	make_version_5(f);
	m = merge(f, f->other); /* as it is */
	assert_int_equal(m.added, 6);
	db = dbfile_open(f->other, DB_WRITE, &f->a);
	assert_true(costdb_stat(db, &s, &f->err));
	assert_int_equal(s.schema, SCHEMA_VERSION);
	assert_int_equal(s.attempts, 6);
	assert_int_equal(s.retired, 1);
	assert_true(costdb_verify(db, &f->notes, &n, &f->err));
	assert_int_equal(n, 0);
	assert_true(costdb_close(db, &f->err));
	assert_int_equal(integer(f->other, kin), integer(f->other, kinds));
	assert_int_equal(integer(f->path, kin), integer(f->path, kinds));
	assert_int_equal(integer(f->other, indexes), 1);
	assert_int_equal(integer(f->other, without), 0);
	m = merge(f, f->other); /* brought forward */
	assert_int_equal(m.known, 6);
	assert_int_equal(m.rejected, 0);
}

/* What one file adds another one may have too, before anything is stored. */
static void
files_merged_together_add_each_attempt_once(void **state)
{
	struct fixture *f = *state;
	struct costdb *other = dbfile_open(f->other, DB_WRITE, &f->a);
	uint64_t n;

	for (int i = 0; i < 3; i++)
		fill(f, other, 0, 70, 1000);
	assert_true(costdb_close(other, &f->err));
	assert_true(costdb_merge_begin(f->db, &f->err));
	assert_int_equal(merge(f, f->other).added, 210);
	assert_int_equal(merge(f, f->other).known, 210);
	assert_true(costdb_merge_end(f->db, true, &f->err));
	assert_int_equal(attempts(f), 210);
	assert_true(costdb_verify(f->db, &f->notes, &n, &f->err));
	assert_int_equal(n, 0);
	assert_int_equal(integer(f->path, "SELECT count(*) FROM subject"), 70);
}

/* Somebody who is killed while merging leaves a journal; who only reads could not
 * roll it back. */
static void
what_a_killed_merge_left_is_rolled_back(void **state)
{
	struct fixture *f = *state;
	struct costdb *other = dbfile_open(f->other, DB_WRITE, &f->a);
	struct costdb *db;
	pid_t pid;

	fill(f, f->db, 0, 10, 1000);
	assert_true(costdb_close(f->db, &f->err));
	f->db = NULL;
	fill(f, other, 0, 2000, 1000);
	assert_true(costdb_close(other, &f->err));
	pid = fork();
	if (pid == 0) {
		f->db = dbfile_open(f->path, DB_WRITE, &f->a);
		if (!costdb_merge_begin(f->db, &f->err)
		    || !sql_exec(f->db, "PRAGMA cache_size=4", &f->err))
			_exit(1);
		merge(f, f->other); /* pages are written */
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(journal_is_hot(f->path));
	db = dbfile_open(f->path, DB_READ, &f->a);
	f->db = db;
	assert_int_equal(attempts(f), 10);
	assert_false(journal_is_hot(f->path));
}

static void
merging_with_itself_is_refused(void **state)
{
	struct fixture *f = *state;
	struct costdb *self = dbfile_open(f->path, DB_FOREIGN, &f->a);
	struct db_merge m;

	assert_false(costdb_merge(f->db, self, &m, &f->notes, &f->err));
	assert_int_equal(f->err.kind, ERR_USAGE);
	err_clear(&f->err);
	costdb_abandon(self);
}

/* SQLite's checks tell both as text. */
static void
what_cannot_be_read_is_no_damage(void **state)
{
	(void)state;
	assert_int_equal(sql_failure_in("*** in database main ***\n"
	                                "Main freelist: failed to get page 5"),
	    SQLITE_IOERR_READ);
	assert_int_equal(
	    sql_failure_in("Tree 2 page 2: unable to get the page. "
	                   "error code=266"),
	    SQLITE_IOERR_READ);
	assert_int_equal(sql_failure_in("Tree 2 page 2: unable to get the "
	                                "page. error code=11"),
	    0);
	assert_int_equal(sql_failure_in("wrong # of entries in index i"), 0);
	assert_int_equal(sql_failure_in("ok"), 0);
}

int
main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_cannot_be_read_is_no_damage),
	    T(merging_twice_adds_nothing),
	    T(no_subject_beyond_the_limit_is_merged),
	    T(figures_that_disagree_are_reported_and_kept),
	    T(retiring_travels_with_a_merge),
	    T(an_export_comes_back_whole),
	    T(malformed_lines_are_named),
	    T(rows_that_cannot_be_are_rejected),
	    T(files_that_compute_are_not_read),
	    T(verify_finds_what_was_broken),
	    T(garbage_is_counted_before_it_goes),
	    T(a_copy_stands_alone),
	    T(older_files_are_brought_forward_with_a_backup),
	    T(a_file_of_version_5_loses_nothing),
	    T(files_merged_together_add_each_attempt_once),
	    T(what_a_killed_merge_left_is_rolled_back),
	    T(merging_with_itself_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
