/* Times of the exact search on problems shaped like networks. Arguments: seconds
 * per problem at most (default 20), one kind of network (default all). Or: files
 * of problems, solved without a budget of time, one table row each. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/clock.h"
#include "ir/base/order.h"
#include "search/problem_json.h"
#include "search/solve.h"
#include "search/backward_dp.h"
#include "search/kbest.h"
#include "tests/support/nets.h"

static const struct {
	const char *kind;
	uint32_t size;
} nets[] = {
    {"resnet", 1},
    {"resnet", 3},
    {"inception", 12},
    {"bert", 12},
    {"nasnet", 6},
    {"nasnet", 18},
    {"randwire", 16},
    {"randwire", 32},
    {"randwire", 64},
    {"heads", 8},
    {"heads", 32},
    {"llm", 8},
    {"llm", 80},
    {"llm", 364},
};

static double
seconds(void)
{
	return 1e-9 * (double)clock_cpu_ns();
}

/* Prints a row. */
static void
run(const char *kind, uint32_t size, uint64_t budget_ns)
{
	struct search_options o = {0};
	struct search_result r;
	struct err err = {0};
	struct problem *p;
	struct arena a;
	double from, made, took;

	arena_init(&a);
	from = seconds();
	p = net_make(kind, size, &a);
	made = seconds() - from;
	from = seconds();
	o.deadline_ns = clock_ns() + budget_ns;
	if (!search_exact(&r, p, &o, &a, &err)) {
		printf("%s %" PRIu32 ": %s\n", kind, size, err.text);
		exit(1);
	}
	took = seconds() - from;
	printf("%-10s %4" PRIu32 " %6" PRIu32 " %7" PRIu32 " %9" PRIu64
	       " %9.2f %9.2f %14" PRIu64 " %s %.4f%%\n",
	    kind, size, p->nnodes, p->ncandidates, r.labels, 1e3 * made,
	    1e3 * took, r.cover.cost, r.proven ? "proven" : "gap",
	    100 * (double)(r.cover.cost - r.lower_bound)
	        / (double)r.cover.cost);
	fflush(stdout);
	arena_release(&a);
}

/* CPU ms of one backward DP with or without extrapolation over repeated blocks. */
static double
backward_ms(const struct problem *p, bool extrapolations)
{
	struct converter_memo memo;
	struct backward_limits limits = {.memo = &memo,
	    .upper = COST_NEVER,
	    .extrapolate_after = extrapolations ? 0 : UINT64_MAX};
	struct search_result r;
	struct arena a;
	double from;

	arena_init(&a);
	convert_init(&memo, p, &a);
	from = seconds();
	backward_dp(&r, p, &limits, &a);
	from = seconds() - from;
	arena_release(&a);
	return 1e3 * from;
}

/* How the backward DP of transformers grows with their layers: least squares. */
static void
fit_layers(void)
{
	static const uint32_t layers[] = {8, 20, 40, 80, 160, 364};
	enum { N = sizeof layers / sizeof layers[0] };
	double n = N, x = 0, y = 0, xx = 0, xy = 0, fixed, each, worst = 0;
	double ms[N];

	for (size_t i = 0; i < N; i++) {
		struct problem *p;
		struct arena a;
		double without;

		arena_init(&a);
		p = net_make("llm", layers[i], &a);
		without = backward_ms(p, false);
		ms[i] = backward_ms(p, true);
		printf("llm %4" PRIu32
		       ": backward DP %8.2f ms, repeated layers "
		       "extrapolated %7.2f ms, %.1f times faster\n",
		    layers[i], without, ms[i], without / ms[i]);
		x += layers[i];
		y += ms[i];
		xx += (double)layers[i] * layers[i];
		xy += layers[i] * ms[i];
		arena_release(&a);
	}
	each = (n * xy - x * y) / (n * xx - x * x);
	fixed = (y - each * x) / n;
	for (size_t i = 0; i < N; i++)
		worst =
		    fmax(worst, fabs(ms[i] - fixed - each * layers[i]) / ms[i]);
	printf("fit: %.2f ms + %.4f ms per layer; worst point %.0f %% off\n",
	    fixed, each, 100 * worst);
}

static double
wall_ms(void)
{
	return 1e-6 * (double)clock_ns();
}

/* The five best covers on 1 and 2 threads, interleaved: wall and CPU time. */
static void
time_threads(const char *kind, uint32_t size)
{
	enum { ROUNDS = 7 };
	static const uint32_t threads[2] = {1, 2};
	double ms[2][ROUNDS], cpu[2][ROUNDS];
	struct problem *p;
	struct arena a;

	arena_init(&a);
	p = net_make(kind, size, &a);
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 2; i++) {
			struct arena_mark mark = arena_mark(&a);
			struct search_options o = {.threads = threads[i]};
			struct search_result r[5];
			struct search_top top = {r, 5, 0};
			struct err err = {0};

			ms[i][round] = wall_ms();
			cpu[i][round] = 1e3 * seconds();
			if (!search_top(&top, p, &o, &a, &err))
				exit(1);
			ms[i][round] = wall_ms() - ms[i][round];
			cpu[i][round] = 1e3 * seconds() - cpu[i][round];
			arena_back(&a, mark);
		}
	printf("%s %" PRIu32 ", five best covers, median wall (CPU) ms:", kind,
	    size);
	for (int i = 0; i < 2; i++) {
		qsort(ms[i], ROUNDS, sizeof ms[i][0], by_double);
		qsort(cpu[i], ROUNDS, sizeof cpu[i][0], by_double);
		printf(" %.1f (%.1f) on %" PRIu32, ms[i][ROUNDS / 2],
		    cpu[i][ROUNDS / 2], threads[i]);
	}
	puts(" threads");
	arena_release(&a);
}

/* What the reader freed, the allocator joins when something large is asked for
 * next: no work of the search. */
static void
settle_heap(void)
{
	struct arena a;

	arena_init(&a);
	arena_alloc(&a, 1);
	arena_release(&a);
}

static bool
solve_file(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct search_options o = {0};
	struct search_result r = {0};
	struct err err = {0};
	struct problem p;
	struct arena a;
	double from;
	bool ok;

	arena_init(&a);
	ok = problem_read(&p, path, &a, &err);
	settle_heap();
	from = seconds();
	ok = ok && search_exact(&r, &p, &o, &a, &err);
	if (ok)
		printf("| %.*s | %" PRIu32 " | %" PRIu32 " | %" PRIu64
		       " | %.2f | %s |\n",
		    (int)strcspn(name, "."), name, p.nnodes, p.ncandidates,
		    r.labels, 1e3 * (seconds() - from),
		    r.proven      ? "proven"
		        : r.found ? r.why
		                  : "no cover");
	else
		fprintf(stderr, "%s: %s\n", path, err.text);
	fflush(stdout);
	arena_release(&a);
	return ok && r.proven;
}

static int
solve_files(int n, char **path)
{
	bool all = true;

	printf("| problem | nodes | candidates | labels | CPU ms | |\n"
	       "|---|---|---|---|---|---|\n");
	for (int i = 0; i < n; i++)
		all &= solve_file(path[i]);
	return all ? 0 : 1;
}

int
main(int argc, char **argv)
{
	uint64_t budget = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;

	if (argc > 1 && strstr(argv[1], ".json"))
		return solve_files(argc - 1, argv + 1);
	printf("%-10s %4s %6s %7s %9s %9s %9s %14s\n", "net", "size", "nodes",
	    "cands", "labels", "make ms", "solve ms", "cost ns");
	for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++)
		if (argc <= 2 || strcmp(nets[i].kind, argv[2]) == 0)
			run(nets[i].kind, nets[i].size, budget * 1000000000u);
	if (argc <= 2 || strcmp(argv[2], "llm") == 0)
		fit_layers();
	if (argc <= 2 || strcmp(argv[2], "top") == 0) {
		time_threads("resnet", 1);
		time_threads("inception", 12);
		time_threads("nasnet", 18);
	}
	return 0;
}
