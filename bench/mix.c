/* Chosen plans against single libraries and eager order, executed interleaved
 * in one run: bench_mix [--db FILE] [--rounds N] MODEL.onnx... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "costmodel/machine.h"
#include "costmodel/pricer.h"
#include "costmodel/trial.h"
#include "exec/compare.h"
#include "exec/executor.h"
#include "ir/base/clock.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "plan/solve.h"
#include "targets/host/host.h"

/* Who takes part: candidates of one kind (NULL: all), convolutions of one
 * layout (-1: any), a searcher. Host helps everybody. */
struct contender {
	const char *name, *kind;
	int layout;
	bool winograd;
	const char *searcher;
};

static const struct contender contenders[] = {
    {"oneDNN nhwc", "dnnl", LAYOUT_NHWC, false, "exact"},
    {"oneDNN blocked", "dnnl", LAYOUT_BLK16, false, "exact"},
    {"oneDNN plain", "dnnl", LAYOUT_PLAIN, false, "exact"},
    {"XNNPACK", "xnnpack", -1, true, "exact"},
    {"OpenBLAS", "blas", -1, true, "exact"},
    {"eager, all", NULL, -1, true, "eager"},
    {"oneDNN, searched", "dnnl", -1, true, "exact"},
    {"all, searched", NULL, -1, true, "exact"},
    {"all, again (A/A)", NULL, -1, true, "exact"},
};

#define N (sizeof contenders / sizeof *contenders)
#define BEST_SINGLE 5 /* the first five are single (library, layout) */
#define ROUNDS_MAX 64

struct entry {
	const struct contender *who;
	struct plan plan;
	struct executor *executor;
	bool has_plan;
	cost_ns round[ROUNDS_MAX]; /* median of a round's runs */
	double ratio[ROUNDS_MAX]; /* to oneDNN nhwc in the same round */
};

struct bench {
	struct arena arena;
	const char *path, *db;
	uint32_t rounds;
	struct model model;
	struct mix mix;
	struct candidates candidates;
	struct pricer *pricer;
	struct prices prices;
	struct pricer_counts counts;
	cost_ns pricing_ns;
	struct entry entry[N];
};

static int
by_cost(const void *a, const void *b)
{
	cost_ns x = *(const cost_ns *)a, y = *(const cost_ns *)b;

	return (x > y) - (x < y);
}

static int
by_ratio(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- prices ---- */

static bool
import(struct bench *b, struct err *err)
{
	static const char *const targets[] = {
	    "dnnl", "xnnpack", "blas", "host"};
	const struct infer_options infer = {.eval = host_eval};
	const struct onnx_options onnx = {0};

	return onnx_read(&b->model, b->path, &onnx, &b->arena, err)
	    && normalize(b->model.graph, &infer, err)
	    && mix_open(&b->mix, targets, 4, &b->arena, err)
	    && candidates_find(
	        &b->candidates, b->model.graph, &b->mix, NULL, &b->arena, err);
}

/* Everything is priced, so that every contender has its own best plan. */
static bool
price(struct bench *b, struct err *err)
{
	const struct pricer_options o = {
	    .db = b->db, .measure = true, .reference = host_eval};
	uint32_t *all = arena_new(&b->arena, uint32_t, b->candidates.n);
	cost_ns began = clock_ns();
	bool ok;

	for (uint32_t i = 0; i < b->candidates.n; i++)
		all[i] = i;
	ok = pricer_open(&b->pricer, b->model.graph, &b->mix, &b->candidates,
	         &o, &b->arena, err)
	    && pricer_begin(b->pricer, &b->prices, err)
	    && pricer_price(b->pricer, &b->prices, all, b->candidates.n, err)
	    && pricer_price_conversions(b->pricer, &b->prices, err);
	if (!b->pricer)
		return false;
	b->counts = pricer_counts(b->pricer);
	b->pricing_ns = clock_ns() - began;
	return pricer_close(b->pricer, err) && ok;
}

static bool
starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool
takes_part(const struct bench *b, const struct contender *who,
    const struct candidate *c)
{
	const struct target *t = &b->mix.target[c->target];
	bool conv = strstr(t->kind->rule[c->rule].name, ".conv") != NULL;
	enum layout out = b->mix.formats.format[c->output[0].format].layout;

	if (strcmp(t->kind->name, "host") == 0)
		return true;
	if (who->kind && strcmp(t->kind->name, who->kind) != 0)
		return false;
	if (!who->winograd && starts(c->implementation_name, "winograd"))
		return false;
	if (who->layout < 0 || (!conv && out == LAYOUT_PLAIN))
		return true;
	return out == (enum layout)who->layout
	    || (who->layout == LAYOUT_BLK16 && out == LAYOUT_BLK8);
}

static bool
plan_for(struct bench *b, struct entry *e, struct err *err)
{
	struct prices *mine = arena_new(&b->arena, struct prices, 1);
	struct plan_request q = {.graph = b->model.graph,
	    .mix = &b->mix,
	    .candidates = &b->candidates,
	    .prices = mine,
	    .searcher = e->who->searcher};

	*mine = b->prices;
	mine->candidate = arena_copy(&b->arena, b->prices.candidate,
	    b->candidates.n * sizeof *mine->candidate);
	for (uint32_t i = 0; i < b->candidates.n; i++)
		if (!takes_part(b, e->who, &b->candidates.candidate[i]))
			mine->candidate[i].state = PRICE_FAILED;
	e->has_plan = plan_search(&e->plan, &q, &b->arena, err);
	if (!e->has_plan && err->kind != ERR_NO_COVER)
		return false;
	err_clear(err);
	return true;
}

/* ---- running ---- */

static struct tensor *
inputs(struct bench *b)
{
	const struct graph *g = b->model.graph;
	struct tensor *in = arena_new(&b->arena, struct tensor, g->ninputs);

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct type *t = &graph_value(g, g->input[i])->type;
		size_t n, bytes;
		void *data;

		tensor_size(t->dtype, t->dim, t->rank, &n, &bytes);
		data = trial_buffer(&b->arena, bytes);
		trial_seed(g, g->input[i], data);
		in[i] = tensor_view(t->dtype, t->rank, t->dim, data);
	}
	return in;
}

/* TUNING: runs of one contender in one round; about as long for all models. */
static uint32_t
runs_for(const struct bench *b)
{
	cost_ns one = b->entry[N - 1].plan.cost;

	return one > 20000000 ? 3 : one > 5000000 ? 7 : 15;
}

/* The median of undisturbed runs (of all, when none was). */
static bool
run_round(struct entry *e, uint32_t round, uint32_t runs,
    const struct tensor *in, struct tensor *out, struct err *err)
{
	cost_ns took[16], kept[16];
	uint32_t n = 0;

	if (!executor_run(e->executor, in, out, err)) /* warms up */
		return false;
	for (uint32_t i = 0; i < runs; i++) {
		long before = machine_preemptions();
		cost_ns start = clock_ns();

		if (!executor_run(e->executor, in, out, err))
			return false;
		took[i] = clock_ns() - start;
		if (machine_preemptions() == before)
			kept[n++] = took[i];
	}
	qsort(n ? kept : took, n ? n : runs, sizeof *took, by_cost);
	e->round[round] = n ? kept[n / 2] : took[runs / 2];
	return true;
}

static bool
run_all(struct bench *b, struct err *err)
{
	const struct graph *g = b->model.graph;
	const struct tensor *in = inputs(b);
	struct tensor *out = arena_new(&b->arena, struct tensor, g->noutputs);
	const uint32_t runs = runs_for(b);
	uint32_t core[CORES_MAX], ncores = machine_cores(core);
	bool ok = true;

	machine_pin(&core[ncores - 1], 1);
	for (uint32_t r = 0; ok && r < b->rounds; r++) {
		machine_urgent(true);
		for (uint32_t i = 0; ok && i < N; i++) {
			struct entry *e = &b->entry[(i + r) % N];

			ok =
			    !e->has_plan || run_round(e, r, runs, in, out, err);
		}
		machine_urgent(false);
		for (uint32_t i = 0; ok && i < N; i++)
			if (b->entry[i].has_plan)
				b->entry[i].ratio[r] =
				    (double)b->entry[i].round[r]
				    / (double)b->entry[0].round[r];
	}
	machine_pin(core, ncores);
	return ok;
}

/* Every contender computes what the reference does. */
static bool
check_all(struct bench *b, struct err *err)
{
	const struct tolerance t = {1e-5, 1e-4};
	const struct graph *g = b->model.graph;
	const struct tensor *in = inputs(b);
	struct tensor *want = arena_new(&b->arena, struct tensor, g->noutputs);
	struct tensor *got = arena_new(&b->arena, struct tensor, g->noutputs);

	if (!host_run(g, in, want, &b->arena, err))
		return false;
	for (uint32_t i = 0; i < N; i++) {
		struct comparison c;

		if (!b->entry[i].has_plan)
			continue;
		if (!executor_run(b->entry[i].executor, in, got, err))
			return false;
		for (uint32_t o = 0; o < g->noutputs; o++) {
			tensors_compare(&c, &got[o], &want[o], &t);
			if (!c.matches)
				printf("%s: %s DIFFERS from the reference by "
				       "%g of a range of %g\n",
				    b->path, b->entry[i].who->name, c.max_error,
				    c.range);
		}
	}
	return true;
}

/* ---- the table ---- */

static void
print_table(struct bench *b)
{
	const uint32_t n = b->rounds;
	double best = 1e30;

	printf("\n### %s\n\n%u candidates, %u distinct prices, %u measured in "
	       "%.1f s\n\n",
	    b->path, (unsigned)b->candidates.n, (unsigned)b->counts.distinct,
	    (unsigned)b->counts.measured, (double)b->pricing_ns / 1e9);
	puts("| contender | predicted ms | measured ms | error % | ratio to "
	     "oneDNN nhwc [IQR] |\n|---|---|---|---|---|");
	for (uint32_t i = 0; i < N; i++) {
		struct entry *e = &b->entry[i];
		double ms, predicted = (double)e->plan.cost / 1e6;

		if (!e->has_plan) {
			printf("| %s | no cover | | | |\n", e->who->name);
			continue;
		}
		qsort(e->round, n, sizeof *e->round, by_cost);
		qsort(e->ratio, n, sizeof *e->ratio, by_ratio);
		ms = (double)e->round[n / 2] / 1e6;
		printf("| %s | %.2f | %.2f | %+.1f | %.3f [%.3f .. %.3f] |\n",
		    e->who->name, predicted, ms, 100 * (predicted - ms) / ms,
		    e->ratio[n / 2], e->ratio[n / 4], e->ratio[3 * n / 4]);
		if (i < BEST_SINGLE && e->ratio[n / 2] < best)
			best = e->ratio[n / 2];
	}
	printf("\nbest plan / best single (library, layout): %.3f\n",
	    b->entry[N - 2].ratio[n / 2] / best);
	fflush(stdout);
}

static bool
run_model(struct bench *b, struct err *err)
{
	bool ok;

	if (!import(b, err) || !price(b, err))
		return false;
	for (uint32_t i = 0; i < N; i++) {
		b->entry[i] = (struct entry){.who = &contenders[i]};
		if (!plan_for(b, &b->entry[i], err))
			return false;
	}
	for (uint32_t i = 0; i < N; i++)
		if (b->entry[i].has_plan
		    && !executor_open(&b->entry[i].executor, &b->entry[i].plan,
		        NULL, &b->arena, err))
			return err_in(err, "%s", contenders[i].name);
	ok = check_all(b, err) && run_all(b, err);
	if (ok)
		print_table(b);
	for (uint32_t i = 0; i < N; i++)
		if (b->entry[i].has_plan)
			executor_close(b->entry[i].executor);
	return ok;
}

int
main(int argc, char **argv)
{
	static struct bench b;
	const char *db = NULL;
	uint32_t rounds = 15;
	int status = 0;

	for (int i = 1; i < argc; i++) {
		struct err err = {.kind = ERR_NONE};

		if (strcmp(argv[i], "--db") == 0 && i + 1 < argc) {
			db = argv[++i];
			continue;
		}
		if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
			rounds = (uint32_t)atoi(argv[++i]);
			if (rounds < 1 || rounds > ROUNDS_MAX)
				rounds = 15;
			continue;
		}
		b = (struct bench){.path = argv[i], .db = db, .rounds = rounds};
		arena_init(&b.arena);
		if (!run_model(&b, &err)) {
			fprintf(
			    stderr, "bench_mix: %s: %s\n", argv[i], err.text);
			status = 1;
		}
		if (b.model.graph)
			model_close(&b.model);
		arena_release(&b.arena);
	}
	return status;
}
