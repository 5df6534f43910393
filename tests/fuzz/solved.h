/* Whatever parses as a problem and is small is solved, and the cover must pass
 * the check; what is very small must cost what brute force says. */
#ifndef TESTS_FUZZ_SOLVED_H
#define TESTS_FUZZ_SOLVED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "search/solve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BRUTE_NODES 5
#define BRUTE_CANDIDATES 8

/* Is it what brute force finds? */
static inline bool
is_optimum(
    const struct search_result *r, const struct problem *p, struct arena *a)
{
	struct search_options o = {.memory_budget = 0};
	struct err err = {0};
	struct search_result brute;

	if (p->nnodes > BRUTE_NODES || p->ncandidates > BRUTE_CANDIDATES
	    || !r->proven)
		return true;
	return search_exhaustive(&brute, p, &o, a, &err)
	    && brute.found == r->found
	    && (!r->found || brute.cover.cost == r->cover.cost);
}

static inline int
solve_parsed(bool (*parse)(struct problem *p, const char *text, size_t n,
                 const char *name, struct arena *a, struct err *err),
    const uint8_t *data, size_t size)
{
	struct search_options o = {.memory_budget = 1 << 20};
	struct search_result r;
	struct err err = {0};
	struct problem p;
	struct arena a;

	arena_init(&a);
	if (parse(&p, (const char *)data, size, "fuzz", &a, &err)
	    && p.nnodes <= 8 && p.ncandidates <= 16
	    && (!search_exact(&r, &p, &o, &a, &err) || !is_optimum(&r, &p, &a)))
		abort();
	arena_release(&a);
	return 0;
}

#endif
