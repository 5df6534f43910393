/* What a search takes of the memory it may use, on families of large graphs: what
 * the kernel counts (VmHWM) is at most a tenth above the budget, and a chain of a
 * million nodes is searched in less than 1 GB, problem included.
 * Arguments: nodes (default 6000), budget in MiB (default 96), family
 * (default: all, then the chain). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/sanitized.h"
#include "search/solve.h"
#include "tests/support/families.h"

#define CHAIN_NODES 1000000u
#define CHAIN_KB (UINT64_C(1) << 20)

/* A line of /proc/self/status, in KiB. */
static uint64_t
status_kb(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	uint64_t kb = 0;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, key, strlen(key)) == 0)
			kb = strtoull(line + strlen(key) + 1, NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

/* Search in this process; the exit status. most: KiB above what the problem takes;
 * 0: all of the process may take CHAIN_KB. */
static int
measure(const char *family, uint32_t n, uint64_t budget, uint64_t most)
{
	struct search_options o = {.memory_budget = budget};
	struct err err = {.kind = ERR_NONE};
	struct search_result r;
	struct problem *p;
	struct arena a, b;
	uint64_t base, peak;
	bool ok;

	arena_init(&a);
	arena_init(&b);
	p = family_make(family, n, &a);
	base = status_kb("VmHWM:");
	o.deadline_ns = clock_ns() + UINT64_C(2500000000);
	ok = search_exact(&r, p, &o, &b, &err) && r.found;
	peak = status_kb("VmHWM:");
	printf("%-9s %7" PRIu32 " nodes: %s, problem %" PRIu64
	       " KiB, search %" PRIu64 " KiB%s\n",
	    family, p->nnodes,
	    !ok            ? "no cover"
	        : r.proven ? "proven"
	                   : "a cover",
	    base, peak - base, err.text);
	ok &= most ? peak - base <= most : peak <= CHAIN_KB;
	arena_release(&a);
	arena_release(&b);
	return ok ? 0 : 1;
}

/* A process of its own, which has a peak of its own. */
static bool
fits(const char *family, uint32_t n, uint64_t budget, uint64_t most)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int rc = measure(family, n, budget, most);

		fflush(stdout);
		_exit(rc);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (status == 0)
		return true;
	printf(
	    "%s: too much, no cover, or a crash (status %d)\n", family, status);
	return false;
}

int
main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 6000;
	uint64_t mib = argc > 2 ? strtoull(argv[2], NULL, 10) : 96;
	uint64_t budget = mib << 20, most = (budget + budget / 10) >> 10;
	unsigned failed = 0;

	if (SANITIZED) {
		puts("skipped: a sanitizer's memory is not the search's");
		return 77;
	}
	if (argc > 3)
		return !fits(argv[3], n, budget, most);
	for (uint32_t i = 0; family_name[i]; i++)
		failed += !fits(family_name[i], n, budget, most);
	failed += !fits("chain", CHAIN_NODES, 0, 0);
	return failed > 0;
}
