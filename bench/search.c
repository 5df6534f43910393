/* Times of the exact search on problems shaped like networks. Arguments: seconds
 * per problem at most (default 20), one kind of network (default all). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "search/solve.h"
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
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Prints a row; CPU seconds of the search. */
static double
run(const char *kind, uint32_t size, uint64_t budget_ns)
{
	struct search_options o = {.time_budget_ns = budget_ns};
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
	return took;
}

int
main(int argc, char **argv)
{
	uint64_t budget = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
	double layer_ms[sizeof nets / sizeof nets[0]] = {0};

	printf("%-10s %4s %6s %7s %9s %9s %9s %14s\n", "net", "size", "nodes",
	    "cands", "labels", "make ms", "solve ms", "cost ns");
	for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++)
		if (argc <= 2 || strcmp(nets[i].kind, argv[2]) == 0)
			layer_ms[i] = 1e3
			    * run(nets[i].kind, nets[i].size,
			        budget * 1000000000u)
			    / nets[i].size;
	for (size_t i = 0; i < sizeof nets / sizeof nets[0]; i++)
		if (strcmp(nets[i].kind, "llm") == 0 && layer_ms[i] > 0)
			printf("llm %4" PRIu32 ": %.2f ms per layer\n",
			    nets[i].size, layer_ms[i]);
	return 0;
}
