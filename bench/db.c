/* The tuning database under load: many writers, large merges, the warm lookup
 * of a large model. bench_db [writers|merge|lookup] [N]; all three without. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "bench/common/scratch.h"
#include "costmodel/machine_facts.h"
#include "costmodel/measure.h"
#include "costmodel/pricer.h"
#include "db/admin.h"
#include "ir/base/clock.h"

static struct db_subject
subject_of(uint32_t number, char bytes[32])
{
	snprintf(bytes, 32, "subject %u", number);
	return (struct db_subject){
	    .bytes = bytes,
	    .n = strlen(bytes),
	    .kind = "candidate",
	    .summary = bytes,
	};
}

/* ---- many writers ---- */

struct tally {
	uint64_t transactions, worst_ns;
};

static void
write_for(
    const char *path, uint64_t ns, uint32_t rows, uint32_t who, struct tally *t)
{
	struct err err = {.kind = ERR_NONE};
	struct sample x = {
	    .n = 11, .low = 1000, .median = 1010, .high = 1020, .min = 990};
	uint64_t start = clock_ns();
	struct arena a;
	struct costdb *db;
	db_id env;

	arena_init(&a);
	must(costdb_open(&db, path, DB_WRITE, &a, &err), &err);
	must(costdb_environment(db, "target=bench\n", true, &env, &err), &err);
	for (uint32_t i = 0; clock_ns() - start < ns; i++) {
		uint64_t began = clock_ns(), took;

		for (uint32_t k = 0; k < rows; k++) {
			char bytes[32];
			struct db_subject s =
			    subject_of(who * 10000000 + i * rows + k, bytes);

			must(costdb_put(db, &s, env, &x, &err), &err);
		}
		must(costdb_flush(db, &err), &err);
		took = clock_ns() - began;
		t->transactions++;
		if (took > t->worst_ns)
			t->worst_ns = took;
	}
	must(costdb_close(db, &err), &err);
	arena_release(&a);
}

static void
bench_writers(uint32_t writers, uint32_t rows)
{
	const char *path = "bench-writers.db";
	struct tally *t = mmap(NULL, writers * sizeof *t,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct tally sum = {0, 0};
	uint64_t start, ns;

	remove_db(path);
	start = clock_ns();
	for (uint32_t i = 0; i < writers; i++)
		if (fork() == 0) {
			write_for(path, UINT64_C(4000000000), rows, i, &t[i]);
			_exit(0);
		}
	for (uint32_t i = 0; i < writers; i++) {
		int status;

		wait(&status);
		if (status != 0)
			exit(1);
	}
	ns = clock_ns() - start;
	for (uint32_t i = 0; i < writers; i++) {
		sum.transactions += t[i].transactions;
		if (t[i].worst_ns > sum.worst_ns)
			sum.worst_ns = t[i].worst_ns;
	}
	printf("%2u writers, %3u rows a transaction: %.0f transactions/s, "
	       "%.0f rows/s, worst wait %.2f s\n",
	    writers, rows, (double)sum.transactions * 1e9 / (double)ns,
	    (double)(sum.transactions * rows) * 1e9 / (double)ns,
	    (double)sum.worst_ns / 1e9);
	munmap(t, writers * sizeof *t);
	remove_db(path);
}

/* ---- large merges ---- */

static const char fill_sql[] =
    "BEGIN;"
    "INSERT INTO environment(hard) VALUES('target=a\n'),('target=b\n');"
    "WITH RECURSIVE c(i) AS (SELECT %u UNION ALL SELECT i+1 FROM c"
    " WHERE i<%u)"
    " INSERT INTO subject(hash,bytes,kind,skeleton,family,summary)"
    " SELECT randomblob(16),CAST(printf('subject %%d %%0300d',i,i) AS BLOB),"
    "'candidate',zeroblob(16),zeroblob(16),'number '||i FROM c;"
    "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c"
    " WHERE i<%u)"
    " INSERT INTO measurement(uuid,subject_id,env_id,outcome,n,low_ns,"
    "median_ns,high_ns,min_ns,max_error,span_ns,limit_ns,detail,at_utc)"
    " SELECT randomblob(16),1+i/10,1+i%%2,'ok',11,1000+i%%50,1060,1070,990,"
    "0.0,20000000,0,'','2026-01-01T00:00:00Z' FROM c;"
    "COMMIT;";

static void
make_large(const char *path, uint32_t first, uint32_t rows)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct costdb *db;
	sqlite3 *h;
	char *sql, *words = NULL;

	arena_init(&a);
	remove_db(path);
	must(costdb_open(&db, path, DB_WRITE, &a, &err), &err);
	must(costdb_close(db, &err), &err);
	sql =
	    arena_printf(&a, fill_sql, first, first + rows / 10 - 1, rows - 1);
	if (sqlite3_open(path, &h) != SQLITE_OK
	    || sqlite3_exec(h, sql, NULL, NULL, &words) != SQLITE_OK) {
		fprintf(stderr, "%s\n", words ? words : "cannot open");
		exit(1);
	}
	sqlite3_close(h);
	arena_release(&a);
}

static void
merge_one(struct costdb *db, const char *path, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *from;
	struct db_merge m;
	uint64_t start = clock_ns();

	must(costdb_open(&from, path, DB_FOREIGN, a, &err), &err);
	must(costdb_merge(db, from, &m, NULL, &err), &err);
	costdb_abandon(from);
	printf("  %s: %.1f s: %" PRIu64 " added, %" PRIu64 " known, %" PRIu64
	       " rejected\n",
	    path, (double)(clock_ns() - start) / 1e9, m.added, m.known,
	    m.rejected);
}

static void
bench_merge(uint32_t rows)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;
	struct costdb *db;

	arena_init(&a);
	make_large("bench-a.db", 0, rows);
	make_large("bench-b.db", rows / 20, rows);
	remove_db("bench-merged.db");
	must(costdb_open(&db, "bench-merged.db", DB_WRITE, &a, &err), &err);
	printf("merging two databases of %u attempts, twice:\n", rows);
	for (int round = 0; round < 2; round++) {
		merge_one(db, "bench-a.db", &a);
		merge_one(db, "bench-b.db", &a);
	}
	must(costdb_close(db, &err), &err);
	remove_db("bench-a.db");
	remove_db("bench-b.db");
	remove_db("bench-merged.db");
	arena_release(&a);
}

/* ---- warm lookups ----
 * The measurer defined here takes the place of the real one in this program,
 * so that filling the database takes no measuring. */

struct measurer {
	int nothing;
};
static struct measurer the_measurer;

uint32_t
measurer_workers(uint32_t workers, uint32_t threads)
{
	(void)threads;
	return workers ? workers : 1;
}

bool
measurer_open(struct measurer **m, const struct measure_options *o,
    struct arena *a, struct err *err)
{
	(void)o, (void)a, (void)err;
	*m = &the_measurer;
	return true;
}

bool
measurer_run(struct measurer *m, const struct measure_job *job, uint32_t n,
    void (*done)(void *context, uint32_t job, const struct sample *r),
    void *context, struct err *err)
{
	struct sample r = {.n = 11,
	    .low = 1000000000,
	    .median = 1000000000,
	    .high = 1000000000,
	    .min = 1000000000};

	(void)m, (void)job, (void)err;
	for (uint32_t i = 0; i < n; i++)
		done(context, i, &r);
	return true;
}

void
measurer_set_deadline(struct measurer *m, uint64_t deadline_ns)
{
	(void)m, (void)deadline_ns;
}

void
measurer_close(struct measurer *m)
{
	(void)m;
}

void
measure_environment(struct buf *b, uint32_t threads)
{
	buf_printf(b, "cpu.model=bench\nthreads=%u\n", threads);
}

static const struct rule rules[] = {{.name = "bench.conv"}};
static const struct target_kind kind = {
    .name = "bench", .rule = rules, .nrules = 1, .source = PRICE_MEASURED};

#define IMPLEMENTATIONS 5

static const char *const implementation[IMPLEMENTATIONS] = {
    "direct/nhwc", "direct/blk16", "winograd/blk16", "gemm/nhwc", "gemm/plain"};

/* A chain of convolutions, `distinct` different ones over and over. */
static struct graph *
make_model(struct arena *a, uint32_t nodes, uint32_t distinct)
{
	struct graph *g = graph_new(a, "bench");
	static const float zero;
	value_id last = VALUE_NONE;

	for (uint32_t i = 0; i < nodes; i++) {
		int64_t *dim = arena_new(a, int64_t, 8);
		struct type type = {.kind = TYPE_TENSOR,
		    .dtype = DT_FLOAT,
		    .rank = 4,
		    .dim = dim};
		struct tensor *w = arena_new(a, struct tensor, 1);
		value_id *port = arena_new(a, value_id, 3);
		int64_t size = 8 + i % distinct;

		memcpy(dim, (int64_t[]){1, 8, size, size, 8, 8, 1, 1},
		    8 * sizeof *dim);
		*w = tensor_fill(DT_FLOAT, 4, dim + 4, &zero);
		port[0] = i ? last : graph_add_value(g, "x", &type);
		port[1] = graph_add_constant(g, "w", w);
		port[2] = last = graph_add_value(g, "y", &type);
		graph_add_node(g,
		    &(struct node){.op = OP_CONV,
		        .op_type = "Conv",
		        .domain = "",
		        .name = "",
		        .opset = 13,
		        .ninputs = 2,
		        .noutputs = 1,
		        .input = port,
		        .output = port + 2});
	}
	return g;
}

static struct candidates
make_candidates(struct arena *a, const struct graph *g)
{
	uint32_t n = g->nnodes * IMPLEMENTATIONS;
	struct candidate *c = arena_new(a, struct candidate, n);

	for (uint32_t i = 0; i < n; i++) {
		node_id *node = arena_new(a, node_id, 1);
		struct port *port = arena_new(a, struct port, 2);
		const struct node *of = &g->node[i / IMPLEMENTATIONS];

		*node = i / IMPLEMENTATIONS;
		port[0] = (struct port){of->input[0], FORMAT_PLAIN};
		port[1] = (struct port){of->output[0], FORMAT_PLAIN};
		c[i] = (struct candidate){
		    .implementation_name = implementation[i % IMPLEMENTATIONS],
		    .nnodes = 1,
		    .node = node,
		    .ninputs = 1,
		    .noutputs = 1,
		    .input = port,
		    .output = port + 1};
	}
	return (struct candidates){.candidate = c, .n = n};
}

static void
bench_lookup(uint32_t nodes, uint32_t distinct)
{
	static const struct target target = {.kind = &kind, .text = "bench"};
	struct pricer_options o = {.db = "bench-lookup.db", .measure = true};
	struct mix mix = {.target = &target, .n = 1};
	struct err err = {.kind = ERR_NONE};
	struct candidates c;
	struct arena a;
	struct graph *g;
	uint32_t *all;

	arena_init(&a);
	remove_db(o.db);
	formats_init(&mix.formats);
	g = make_model(&a, nodes, distinct);
	c = make_candidates(&a, g);
	all = arena_new(&a, uint32_t, c.n);
	for (uint32_t i = 0; i < c.n; i++)
		all[i] = i;
	for (int round = 0; round < 3; round++) {
		struct arena scratch;
		struct prices prices;
		struct pricer *p;
		uint64_t start = clock_ns(), opened, begun,
		         cpu = clock_cpu_ns();

		arena_init(&scratch);
		must(pricer_open(&p, g, &mix, &c, &o, &scratch, &err), &err);
		opened = clock_ns();
		must(pricer_begin(p, &prices, &err), &err);
		begun = clock_ns();
		if (round == 0)
			must(pricer_price(p, all, c.n, &err), &err);
		else
			printf("%u nodes, %u candidates, %u distinct keys: "
			       "keys %.1f ms, lookups %.1f ms (%u hits); "
			       "%.1f ms of processor time\n",
			    nodes, c.n, prices.nkeys,
			    (double)(opened - start) / 1e6,
			    (double)(begun - opened) / 1e6,
			    pricer_counts(p).exact,
			    (double)(clock_cpu_ns() - cpu) / 1e6);
		must(pricer_close(p, &err), &err);
		arena_release(&scratch);
	}
	remove_db(o.db);
	arena_release(&a);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	uint32_t n = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
	bool all = strcmp(what, "all") == 0;

	if (all || strcmp(what, "lookup") == 0) {
		bench_lookup(n ? n : 4000, 200);
		bench_lookup(n ? n : 4000, n ? n : 4000);
	}
	if (all || strcmp(what, "writers") == 0) {
		bench_writers(1, 1);
		bench_writers(n ? n : 16, 1);
		bench_writers(n ? n : 16, 100);
	}
	if (all || strcmp(what, "merge") == 0)
		bench_merge(n ? n : 1000000);
	return 0;
}
