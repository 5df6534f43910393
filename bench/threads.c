/* One thread against several: bench_threads [--db FILE] [--threads N]
 * [--rounds N] MODEL.onnx... For each model a process with one thread and one
 * with N (default 2), each with the plan searched for that many, run in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/contest.h"
#include "bench/common/peer.h"
#include "costmodel/machine.h"
#include "ir/base/clock.h"

#define RUNS 5 /* of a round */
#define ROUNDS_MAX 64

/* ---- the process that runs ---- */

static void
answer(struct contest *c, struct executor *x, uint32_t runs)
{
	struct err err = {.kind = ERR_NONE};

	machine_urgent(true);
	for (uint32_t i = 0; i <= runs; i++) {
		long before = machine_preemptions();
		cost_ns start = clock_ns(), took;

		if (!executor_run(x, c->in, c->out, &err))
			exit(1);
		took = clock_ns() - start;
		if (i == 0)
			continue; /* warms up */
		printf("%s%llu ", machine_preemptions() == before ? "" : "-",
		    (unsigned long long)took);
	}
	machine_urgent(false);
	puts("");
	fflush(stdout);
}

static bool
serve(const char *path, const char *db, uint32_t threads, struct err *err)
{
	const struct contender all = {"all", NULL, -1, true, NULL, NULL};
	const struct executor_options o = {.threads = threads};
	uint32_t core[CORES_MAX], ncores = machine_cores(core), runs;
	struct contest c = {.arena = NULL};
	struct executor *x;
	struct arena arena;
	struct plan plan;
	bool found;

	arena_init(&arena);
	c.arena = &arena;
	if (!contest_open(&c, path, db, threads, err)
	    || !contest_plan(&c, &all, &plan, &found, err)
	    || !contest_priced(&c, err)
	    || !executor_open(&x, &plan, &o, &arena, err)
	    || !contest_check(&c, "the plan", x, err))
		return false;
	machine_pin(&core[ncores - threads], threads);
	printf("ready %.4f\n", (double)plan.cost / 1e6);
	fflush(stdout);
	while (scanf("%u", &runs) == 1)
		answer(&c, x, runs);
	executor_close(x);
	contest_close(&c);
	return true;
}

/* ---- the process that compares ---- */

static bool
round_of(struct peer *p, cost_ns *median)
{
	int64_t took[RUNS];
	cost_ns x[RUNS];

	if (!peer_run(p, RUNS, took))
		return false;
	for (uint32_t i = 0; i < RUNS; i++)
		x[i] = (cost_ns)(took[i] < 0 ? -took[i] : took[i]);
	*median = cost_median(x, RUNS);
	return true;
}

static bool
race(
    struct peer peer[2], const char *path, const char *threads, uint32_t rounds)
{
	cost_ns median[2][ROUNDS_MAX], ratio[ROUNDS_MAX];

	for (uint32_t r = 0; r < rounds; r++) {
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t who = (k + r) % 2;

			if (!round_of(&peer[who], &median[who][r]))
				return false;
		}
		ratio[r] = median[1][r] * 1000 / median[0][r];
	}
	printf("| %s | %s | %.2f | %s | %.2f | ", path, peer[0].name,
	    (double)cost_median(median[0], rounds) / 1e6, peer[1].name,
	    (double)cost_median(median[1], rounds) / 1e6);
	cost_median(ratio, rounds); /* sorts */
	printf("%s threads / 1: %.3f [%.3f .. %.3f] |\n", threads,
	    (double)ratio[rounds / 2] / 1e3, (double)ratio[rounds / 4] / 1e3,
	    (double)ratio[3 * rounds / 4] / 1e3);
	fflush(stdout);
	return true;
}

static bool
compare(char *self, char *db, char *threads, uint32_t rounds, char *path)
{
	static char serve_word[] = "--serve", one[] = "1";
	char *first[] = {self, serve_word, one, db, path, NULL};
	char *second[] = {self, serve_word, threads, db, path, NULL};
	struct peer peer[2] = {{.pid = 0}};
	bool ok;

	ok = peer_open(&peer[0], first) && peer_open(&peer[1], second)
	    && race(peer, path, threads, rounds);
	if (!ok)
		fprintf(stderr, "bench_threads: %s: %s\n", path,
		    peer[peer[0].pid ? 1 : 0].name);
	peer_close(&peer[0]);
	peer_close(&peer[1]);
	return ok;
}

int
main(int argc, char **argv)
{
	static char two[] = "2", none[] = "none", self[] = "/proc/self/exe";
	char *db = none, *threads = two;
	uint32_t rounds = 15;
	int status = 0;

	machine_clean_environment(argv, false);
	if (argc == 5 && strcmp(argv[1], "--serve") == 0) {
		struct err err = {.kind = ERR_NONE};

		if (serve(argv[4], strcmp(argv[3], none) ? argv[3] : NULL,
		        (uint32_t)atoi(argv[2]), &err))
			return 0;
		printf("%s\n", err.text);
		return 1;
	}
	puts("| model | predicted ms, 1 thread | measured | predicted, more | "
	     "measured | ratio [IQR] |\n|---|---|---|---|---|---|");
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--db") == 0 && i + 1 < argc)
			db = argv[++i];
		else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
			threads = argv[++i];
		else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
			rounds = (uint32_t)atoi(argv[++i]);
			if (rounds < 1 || rounds > ROUNDS_MAX)
				rounds = 15;
		} else
			status |= !compare(self, db, threads, rounds, argv[i]);
	}
	return status;
}
