/* Chosen plans against single libraries, eager order and ONNX Runtime, executed
 * interleaved in one run:
 * bench_mix [--db FILE] [--threads N] [--seconds S] [--ort PYTHON] MODEL... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/contest.h"
#include "bench/common/peer.h"
#include "costmodel/machine.h"
#include "exec/worst_region.h"
#include "ir/base/clock.h"
#include "ir/base/order.h"

#ifndef MARQ_SOURCE_DIR
#define MARQ_SOURCE_DIR "."
#endif

static const struct contender contenders[] = {
    {"oneDNN nhwc", "dnnl", LAYOUT_NHWC, false, NULL, NULL},
    {"oneDNN blocked", "dnnl", LAYOUT_BLK16, false, NULL, NULL},
    {"oneDNN plain", "dnnl", LAYOUT_PLAIN, false, NULL, NULL},
    {"XNNPACK", "xnnpack", -1, true, NULL, NULL},
    {"OpenBLAS", "blas", -1, true, NULL, NULL},
    {"eager, all", NULL, -1, true, "eager", NULL},
    {"oneDNN, searched", "dnnl", -1, true, NULL, NULL},
    {"all but native", NULL, -1, true, NULL, "native"},
    {"all, searched", NULL, -1, true, NULL, NULL},
    {"all, again (A/A)", NULL, -1, true, NULL, NULL},
};

#define NPLANS (sizeof contenders / sizeof *contenders)
#define NSINGLE 5 /* the first are single (library, layout) */
#define CHOSEN (NPLANS - 2) /* "all, searched" */
#define AGAIN (NPLANS - 1)
#define PEER NPLANS
#define N (NPLANS + 1)
#define ROUNDS_MAX 40
#define ROUNDS_MIN 5
#define RUNS_MAX 16
/* TUNING: contenders predicted this many times slower than the best take part
 * in the first rounds only. */
#define HOPELESS 2

struct options {
	const char *db, *ort; /* ort: a Python; NULL: none asked for */
	uint32_t threads;
	uint64_t budget_ns; /* of running one model */
};

struct entry {
	struct plan plan;
	struct executor *executor;
	bool has_plan;
	uint32_t rounds;
	cost_ns round[ROUNDS_MAX]; /* median of a round's runs */
	double ratio[ROUNDS_MAX]; /* to "all, searched" in the same round */
};

struct bench {
	const struct options *o;
	struct contest contest;
	struct entry entry[N];
	struct peer peer;
	struct record *record; /* of the chosen plan's steps */
	struct profile seen; /* their medians */
};

/* ---- running ---- */

/* About as long for all models: a round of one contender is 40 ms. */
static uint32_t
runs_for(const struct bench *b)
{
	cost_ns one = b->entry[CHOSEN].plan.cost;
	uint64_t runs = UINT64_C(40000000) / (one ? one : 1);

	return runs < 3 ? 3 : runs > 15 ? 15 : (uint32_t)runs;
}

/* The median of undisturbed runs (of all, when none was). */
static bool
run_plan(struct bench *b, uint32_t who, uint32_t runs, cost_ns *median,
    struct err *err)
{
	struct entry *e = &b->entry[who];
	cost_ns took[RUNS_MAX], kept[RUNS_MAX];
	struct contest *c = &b->contest;
	uint32_t n = 0;

	if (!executor_run(e->executor, c->in, c->out, err)) /* warms up */
		return false;
	for (uint32_t i = 0; i < runs; i++) {
		long before = machine_preemptions();
		cost_ns start = clock_ns();

		if (!executor_run(e->executor, c->in, c->out, err))
			return false;
		took[i] = clock_ns() - start;
		if (machine_preemptions() != before)
			continue;
		kept[n++] = took[i];
		if (who == CHOSEN)
			record_steps(b->record, e->executor);
	}
	*median = n ? cost_median(kept, n) : cost_median(took, runs);
	return true;
}

static bool
run_peer(struct bench *b, uint32_t runs, cost_ns *median)
{
	cost_ns kept[RUNS_MAX], all[RUNS_MAX];
	int64_t took[RUNS_MAX];
	uint32_t n = 0;

	if (!peer_run(&b->peer, runs, took))
		return false;
	for (uint32_t i = 0; i < runs; i++) {
		all[i] = (cost_ns)(took[i] < 0 ? -took[i] : took[i]);
		if (took[i] >= 0)
			kept[n++] = all[i];
	}
	*median = n ? cost_median(kept, n) : cost_median(all, runs);
	return true;
}

static bool
takes_part(const struct bench *b, uint32_t who, uint32_t round)
{
	const struct entry *e = &b->entry[who];

	if (who == PEER)
		return b->peer.pid > 0;
	return e->has_plan
	    && (round < ROUNDS_MIN
	        || e->plan.cost < HOPELESS * b->entry[CHOSEN].plan.cost);
}

static bool
run_round(struct bench *b, uint32_t round, uint32_t runs, struct err *err)
{
	cost_ns chosen;

	for (uint32_t k = 0; k < N; k++) {
		uint32_t who = (k + round) % N;
		struct entry *e = &b->entry[who];
		cost_ns *median = &e->round[e->rounds];
		bool ok = true;

		if (!takes_part(b, who, round))
			continue;
		machine_urgent(who != PEER);
		if (who != PEER)
			ok = run_plan(b, who, runs, median, err);
		else if (!run_peer(b, runs, median))
			return err_set(err, ERR_IO, "ONNX Runtime ended");
		machine_urgent(false);
		if (!ok)
			return false;
	}
	chosen = b->entry[CHOSEN].round[round];
	for (uint32_t who = 0; who < N; who++) {
		struct entry *e = &b->entry[who];

		if (!takes_part(b, who, round))
			continue;
		e->ratio[e->rounds] =
		    (double)e->round[e->rounds] / (double)chosen;
		e->rounds++;
	}
	return true;
}

static bool
run_all(struct bench *b, struct err *err)
{
	const uint32_t runs = runs_for(b);
	uint32_t core[CORES_MAX], ncores = machine_cores(core);
	cost_ns began = clock_ns();
	bool ok = true;

	machine_pin(&core[ncores - b->o->threads], b->o->threads);
	for (uint32_t r = 0; ok && r < ROUNDS_MAX; r++) {
		if (r >= ROUNDS_MIN && clock_ns() - began > b->o->budget_ns)
			break;
		ok = run_round(b, r, runs, err);
	}
	machine_pin(core, ncores);
	if (ok)
		record_settle(b->record, &b->seen);
	return ok;
}

/* ---- the table ---- */

static void
print_row(struct entry *e, const char *name, bool predicts)
{
	uint32_t n = e->rounds;
	double ms, predicted = (double)e->plan.cost / 1e6;

	ms = (double)cost_median(e->round, n) / 1e6;
	qsort(e->ratio, n, sizeof *e->ratio, by_double);
	printf("| %s | ", name);
	if (predicts)
		printf("%.3f | %.3f | %+.1f", predicted, ms,
		    100 * (predicted - ms) / ms);
	else
		printf("| %.3f | ", ms);
	printf(" | %.3f [%.3f .. %.3f] |\n", 1 / e->ratio[n / 2],
	    1 / e->ratio[3 * n / 4], 1 / e->ratio[n / 4]);
}

/* Which region a prediction beyond 5 % owes most to. */
static double
print_worst_region(const struct bench *b)
{
	const struct entry *e = &b->entry[CHOSEN];
	const struct plan *p = &e->plan;
	double measured = (double)e->round[e->rounds / 2];
	double off = ((double)p->cost - measured) / measured;
	const struct candidate *c;
	struct worst_region m;

	if (off < ERROR_WORTH_NAMING && off > -ERROR_WORTH_NAMING)
		return off;
	m = worst_region_find(p, &b->seen);
	printf("\nprediction off by %+.1f %%, most in ", 100 * off);
	if (m.region == p->nregions) {
		printf("the conversions");
	} else {
		c = &p->candidates
		         ->candidate[p->composite[m.composite].candidate];
		printf("region %u (%s; '%s' %s: %.1f us predicted, %.1f "
		       "measured)",
		    (unsigned)m.region,
		    p->mix->target[p->region[m.region].target].text,
		    node_label(p->graph, c->node[0], b->contest.arena),
		    c->implementation_name,
		    (double)p->composite[m.composite].cost / 1e3,
		    (double)b->seen.composite[m.composite] / 1e3);
	}
	printf(": %.1f us predicted, %.1f measured\n",
	    (double)m.predicted / 1e3, (double)m.measured / 1e3);
	return off;
}

static double
print_table(struct bench *b, const char *path)
{
	const struct pricer_counts *n = &b->contest.counts;
	double best = 0, off, ratio;

	printf("\n### %s, %u thread%s\n\n%u candidates, %u distinct: %u "
	       "probed at, %u measured (and %u conversions) in %.1f s\n\n",
	    path, (unsigned)b->o->threads, b->o->threads == 1 ? "" : "s",
	    (unsigned)b->contest.candidates.n, (unsigned)n->candidates,
	    (unsigned)n->probed, (unsigned)n->measured_candidates,
	    (unsigned)(n->measured - n->measured_candidates),
	    (double)b->contest.pricing_ns / 1e9);
	puts("| contender | predicted ms | measured ms | error % | chosen / "
	     "this [IQR] |\n|---|---|---|---|---|");
	for (uint32_t i = 0; i < NPLANS; i++) {
		struct entry *e = &b->entry[i];

		if (!e->has_plan) {
			printf("| %s | no cover | | | |\n", contenders[i].name);
			continue;
		}
		print_row(e, contenders[i].name, true);
		ratio = 1 / e->ratio[e->rounds / 2];
		if (i < NSINGLE && ratio > best)
			best = ratio;
	}
	if (b->entry[PEER].rounds)
		print_row(&b->entry[PEER], b->peer.name, false);
	else
		printf("\nONNX Runtime: SKIPPED: %s\n", b->peer.name);
	printf("\nchosen / best single (library, layout): %.3f\n", best);
	off = print_worst_region(b);
	fflush(stdout);
	return off;
}

/* ---- one model ---- */

static void
open_peer(struct bench *b, const char *path)
{
	static char script[] = MARQ_SOURCE_DIR "/bench/runtime_peer.py";
	static char runtime[] = "ort";
	char threads[16], cores[CORES_MAX * 8] = "", *argv[7];
	uint32_t core[CORES_MAX], ncores = machine_cores(core), n = 0;
	size_t at = 0;

	snprintf(b->peer.name, sizeof b->peer.name, "not asked for (--ort)");
	if (!b->o->ort)
		return;
	snprintf(threads, sizeof threads, "%u", (unsigned)b->o->threads);
	for (uint32_t i = 1; i <= b->o->threads; i++)
		at += (size_t)snprintf(cores + at, sizeof cores - at, "%s%u",
		    i > 1 ? "," : "", (unsigned)core[ncores - i]);
	argv[n++] = (char *)(uintptr_t)b->o->ort;
	argv[n++] = script;
	argv[n++] = runtime;
	argv[n++] = (char *)(uintptr_t)path;
	argv[n++] = threads;
	argv[n++] = cores;
	argv[n] = NULL;
	peer_open(&b->peer, argv);
}

static bool
open_entries(struct bench *b, struct err *err)
{
	const struct executor_options o = {.threads = b->o->threads};

	for (uint32_t i = 0; i < NPLANS; i++) {
		struct entry *e = &b->entry[i];

		if (e->has_plan
		    && !executor_open(
		        &e->executor, &e->plan, &o, b->contest.arena, err))
			return err_in(err, "%s", contenders[i].name);
	}
	return true;
}

static bool
run_model(struct bench *b, const char *path, double *off, struct err *err)
{
	struct contest *c = &b->contest;
	bool ok;

	if (!contest_open(c, path, b->o->db, b->o->threads, err))
		return false;
	for (uint32_t i = 0; i < NPLANS; i++)
		if (!contest_plan(c, &contenders[i], &b->entry[i].plan,
		        &b->entry[i].has_plan, err))
			return false;
	if (!contest_priced(c, err))
		return false;
	b->record = record_new(&b->entry[CHOSEN].plan, c->arena);
	ok = open_entries(b, err);
	for (uint32_t i = 0; ok && i < NPLANS; i++)
		ok = !b->entry[i].has_plan
		    || contest_check(
		        c, contenders[i].name, b->entry[i].executor, err);
	if (ok) {
		open_peer(b, path);
		ok = run_all(b, err);
	}
	if (ok)
		*off = print_table(b, path);
	for (uint32_t i = 0; i < NPLANS; i++)
		if (b->entry[i].executor)
			executor_close(b->entry[i].executor);
	peer_close(&b->peer);
	return ok;
}

static bool
option(struct options *o, const char *name, const char *value)
{
	if (strcmp(name, "--db") == 0)
		o->db = value;
	else if (strcmp(name, "--ort") == 0)
		o->ort = value;
	else if (strcmp(name, "--threads") == 0)
		o->threads = (uint32_t)atoi(value);
	else if (strcmp(name, "--seconds") == 0)
		o->budget_ns = (uint64_t)(atof(value) * 1e9);
	else
		return false;
	return true;
}

int
main(int argc, char **argv)
{
	struct options o = {.threads = 1, .budget_ns = UINT64_C(20000000000)};
	static struct bench b;
	double off[64] = {0};
	uint32_t n = 0;
	int status = 0;

	machine_clean_environment(argv, false);
	for (int i = 1; i < argc; i++) {
		struct err err = {.kind = ERR_NONE};
		struct arena arena;

		if (i + 1 < argc && option(&o, argv[i], argv[i + 1])) {
			i++;
			continue;
		}
		b = (struct bench){.o = &o};
		arena_init(&arena);
		b.contest.arena = &arena;
		if (run_model(&b, argv[i], &off[n], &err)) {
			off[n] = off[n] < 0 ? -off[n] : off[n];
			n += n < 63;
		} else {
			fprintf(
			    stderr, "bench_mix: %s: %s\n", argv[i], err.text);
			status = 1;
		}
		contest_close(&b.contest);
		arena_release(&arena);
	}
	qsort(off, n, sizeof *off, by_double);
	if (n)
		printf("\npredictions of %u models: off by %.1f %% (median), "
		       "%.1f %% (worst)\n",
		    (unsigned)n, 100 * off[n / 2], 100 * off[n - 1]);
	return status;
}
