/* Random databases put together in any order, directly or through exports, with
 * all but the newest collected at any time, before, in between or at the end: the
 * answers are the same, and those of the rule applied to the attempts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "db/admin.h"
#include "ir/base/order.h"
#include "tests/support/dbfile.h"
#include "tests/support/scratch.h"
#include "tests/support/support.h"

#define SUBJECTS 3u
#define ENVIRONMENTS 2u
#define ATTEMPTS 24u
#define SOURCES 3u
#define ORDERS 3u
#define KEEP 2u

/* One attempt of the universe, and which databases have it. */
struct fact_row {
	uint32_t subject, env, ns;
	enum outcome outcome;
	char utc[24];
	bool in[SOURCES]; /* a database that was copied has it too */
	bool retired[SOURCES];
};

struct universe {
	struct fact_row row[ATTEMPTS];
	struct rng r;
	uint64_t seed;
	struct arena a;
};

static const char *const hard[ENVIRONMENTS] = {
    "cpu.model=a\ntarget=fake\n", "cpu.model=b\ntarget=fake\n"};

static _Noreturn void
die(const struct universe *u, const char *what)
{
	printf("seed %" PRIu64 ": %s\n", u->seed, what);
	exit(1);
}

static void
must(const struct universe *u, bool ok, const struct err *err)
{
	if (!ok)
		die(u, err->text);
}

/* Times are distinct, so that newest means one thing to the model below; the
 * program itself settles ties by uuid. */
static void
make_universe(struct universe *u)
{
	for (uint32_t i = 0; i < ATTEMPTS; i++) {
		struct fact_row *x = &u->row[i];
		uint32_t kind = rng_below(&u->r, 10);

		*x = (struct fact_row){
		    .subject = rng_below(&u->r, SUBJECTS),
		    .env = rng_below(&u->r, ENVIRONMENTS),
		    .ns = 1000 + rng_below(&u->r, 1000),
		    .outcome = kind == 0 ? OUTCOME_WRONG
		        : kind == 1      ? OUTCOME_CRASH
		        : kind == 2      ? OUTCOME_NOISY
		                         : OUTCOME_OK,
		};
		snprintf(x->utc, sizeof x->utc, "20%02u-01-%02uT00:00:00Z",
		    rng_below(&u->r, 26), 1 + i);
		for (uint32_t s = 0; s < SOURCES; s++) {
			x->in[s] = rng_below(&u->r, 2);
			x->retired[s] = x->in[s] && rng_below(&u->r, 6) == 0;
		}
	}
}

static const char *
part_path(uint32_t s)
{
	static const char *const path[SOURCES] = {
	    "dbmerge-0.db", "dbmerge-1.db", "dbmerge-2.db"};

	return path[s];
}

/* The attempts get their uuids in one database; the sources are made of copies
 * of it with what they lack deleted by hand. */
static void
make_sources(struct universe *u)
{
	static const char all[] = "dbmerge-all.db";
	struct err err = {.kind = ERR_NONE};
	struct costdb *db;

	dbfile_remove(all);
	db = dbfile_open(all, DB_WRITE, &u->a);
	for (uint32_t i = 0; i < ATTEMPTS; i++) {
		struct fact_row *x = &u->row[i];
		struct db_subject s = dbfile_subject(x->subject, &u->a);
		struct sample sample = dbfile_sample(x->ns);

		sample.outcome = x->outcome;
		if (x->outcome == OUTCOME_WRONG || x->outcome == OUTCOME_CRASH)
			sample.n = 0,
			sample.low = sample.median = sample.high = sample.min =
			    0;
		must(u,
		    costdb_put_at(db, &s, dbfile_env(db, hard[x->env]), &sample,
		        x->utc, &err),
		    &err);
	}
	must(u, costdb_flush(db, &err), &err);
	for (uint32_t s = 0; s < SOURCES; s++) {
		dbfile_remove(part_path(s));
		must(u, costdb_copy(db, part_path(s), &err), &err);
	}
	costdb_abandon(db);
	dbfile_remove(all);
}

static void
thin_source(struct universe *u, uint32_t s)
{
	struct err err = {.kind = ERR_NONE};
	struct db_gc gc = {.keep = 0};
	sqlite3 *h;
	char sql[160];

	sqlite3_open(part_path(s), &h);
	for (uint32_t i = 0; i < ATTEMPTS; i++) {
		const struct fact_row *x = &u->row[i];

		if (x->in[s] && !x->retired[s])
			continue;
		snprintf(sql, sizeof sql,
		    x->in[s]
		        ? "UPDATE measurement SET retired=1 WHERE "
		          "measurement_id=%u"
		        : "DELETE FROM measurement WHERE measurement_id=%u",
		    i + 1);
		sqlite3_exec(h, sql, NULL, NULL, NULL);
	}
	sqlite3_close(h);
	gc.keep = rng_below(&u->r, 2) ? KEEP + rng_below(&u->r, 2) : 0;
	if (rng_below(&u->r, 2)) {
		struct costdb *db = dbfile_open(part_path(s), DB_WRITE, &u->a);

		must(u, costdb_gc(db, &gc, &err), &err);
		costdb_abandon(db);
	}
}

/* ---- one order ---- */

static void
export_import(struct universe *u, struct costdb *from, struct costdb *to,
    const char *file)
{
	struct err err = {.kind = ERR_NONE};
	struct db_merge m;
	FILE *f = fopen(file, "w+");

	must(u, costdb_export(from, f, NULL, &err), &err);
	rewind(f);
	must(u, costdb_import(to, f, file, &m, NULL, &err), &err);
	fclose(f);
	unlink(file);
}

static void
take_source(struct universe *u, struct costdb *to, uint32_t s)
{
	struct err err = {.kind = ERR_NONE};
	bool by_text = rng_below(&u->r, 2);
	struct costdb *from =
	    dbfile_open(part_path(s), by_text ? DB_READ : DB_FOREIGN, &u->a);
	struct db_merge m;

	if (by_text)
		export_import(u, from, to, "dbmerge.jsonl");
	else
		must(u, costdb_merge(to, from, &m, NULL, &err), &err);
	costdb_abandon(from);
}

static struct costdb *
merge_in_some_order(struct universe *u, const char *path)
{
	struct err err = {.kind = ERR_NONE};
	struct db_gc collect = {.keep = 0};
	struct costdb *db;
	uint32_t order[SOURCES], when = rng_below(&u->r, SOURCES + 1);

	for (uint32_t s = 0; s < SOURCES; s++)
		order[s] = s;
	for (uint32_t s = SOURCES; s-- > 1;) {
		uint32_t k = rng_below(&u->r, s + 1), kept = order[s];

		order[s] = order[k];
		order[k] = kept;
	}
	dbfile_remove(path);
	db = dbfile_open(path, DB_WRITE, &u->a);
	for (uint32_t s = 0; s <= SOURCES; s++) {
		collect.keep = s == when ? KEEP : 0;
		if (s == when || rng_below(&u->r, 2))
			must(u, costdb_gc(db, &collect, &err), &err);
		if (s == SOURCES)
			break;
		take_source(u, db, order[s]);
		if (rng_below(&u->r, 3) == 0)
			take_source(u, db, order[rng_below(&u->r, s + 1)]);
	}
	return db;
}

/* ---- what must come out ---- */

static int
newest_first(const void *a, const void *b)
{
	const struct fact_row *const *x = a, *const *y = b;

	return strcmp((*y)->utc, (*x)->utc);
}

static bool
is_retired(const struct fact_row *x)
{
	bool retired = false;

	for (uint32_t s = 0; s < SOURCES; s++)
		retired |= x->retired[s];
	return retired;
}

static uint32_t
keep_counting(const struct fact_row **list, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!is_retired(list[i]))
			list[kept++] = list[i];
	return kept;
}

/* The rule in plain words: of the newest KEEP those that nobody retired, and a
 * wrong result that nobody retired outweighs everything. */
static struct db_found
expected(const struct universe *u, uint32_t subject, uint32_t env)
{
	const struct fact_row *list[ATTEMPTS];
	struct db_found f = {.attempts = 0};
	uint64_t good[ATTEMPTS];
	uint32_t n = 0, ngood = 0, nok = 0;
	bool wrong = false;

	for (uint32_t i = 0; i < ATTEMPTS; i++) {
		const struct fact_row *x = &u->row[i];
		bool there = false, retired = is_retired(x);

		for (uint32_t s = 0; s < SOURCES; s++)
			there |= x->in[s];
		if (x->subject != subject || x->env != env || !there)
			continue;
		wrong |= x->outcome == OUTCOME_WRONG && !retired;
		list[n++] = x;
	}
	if (n > 1)
		qsort(list, n, sizeof *list, newest_first);
	n = keep_counting(list, n < KEEP ? n : KEEP);
	for (uint32_t i = 0; i < n; i++)
		nok += list[i]->outcome == OUTCOME_OK;
	for (uint32_t i = 0; i < n; i++)
		if (list[i]->outcome == (nok ? OUTCOME_OK : OUTCOME_NOISY))
			good[ngood++] = list[i]->ns;
	f.attempts = n;
	f.outcome = wrong ? OUTCOME_WRONG
	    : nok         ? OUTCOME_OK
	    : ngood       ? OUTCOME_NOISY
	                  : OUTCOME_CRASH;
	if (ngood && !wrong) {
		qsort(good, ngood, sizeof *good, by_u64);
		f.ns = good[(ngood - 1) / 2];
	}
	if (wrong && f.attempts == 0)
		f.attempts = 1;
	return f;
}

static void
check(struct universe *u, struct costdb *db)
{
	struct err err = {.kind = ERR_NONE};

	for (uint32_t s = 0; s < SUBJECTS; s++)
		for (uint32_t e = 0; e < ENVIRONMENTS; e++) {
			struct db_subject subject = dbfile_subject(s, &u->a);
			struct db_found want = expected(u, s, e), got;
			char text[128];
			db_id env;

			must(u,
			    costdb_environment(db, hard[e], false, &env, &err)
			        && costdb_lookup(db, subject.bytes, subject.n,
			            env, &got, &err),
			    &err);
			if (!want.attempts && !got.attempts)
				continue;
			if (want.outcome == got.outcome && want.ns == got.ns
			    && (want.attempts > 0) == (got.attempts > 0))
				continue;
			snprintf(text, sizeof text,
			    "subject %u, environment %u: %s %" PRIu64
			    " ns, not %s %" PRIu64 " ns",
			    s, e, costdb_outcome_word(got.outcome), got.ns,
			    costdb_outcome_word(want.outcome), want.ns);
			die(u, text);
		}
}

static void
one_case(uint64_t seed)
{
	struct universe u = {.seed = seed, .r = rng_seeded(seed)};

	arena_init(&u.a);
	make_universe(&u);
	make_sources(&u);
	for (uint32_t s = 0; s < SOURCES; s++)
		thin_source(&u, s);
	for (uint32_t o = 0; o < ORDERS; o++) {
		struct costdb *db = merge_in_some_order(&u, "dbmerge.db");

		check(&u, db);
		costdb_abandon(db);
	}
	dbfile_remove("dbmerge.db");
	for (uint32_t s = 0; s < SOURCES; s++)
		dbfile_remove(part_path(s));
	arena_release(&u.a);
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 12;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	scratch_enter();
	for (uint64_t seed = first; seed < first + n; seed++)
		one_case(seed);
	printf("%" PRIu64 " universes of %u attempts in %u databases, %u "
	       "orders each: same answers\n",
	    n, ATTEMPTS, SOURCES, ORDERS);
	return 0;
}
