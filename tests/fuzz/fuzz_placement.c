/* Device-placement files. */
#include <stdint.h>
#include <stdlib.h>

#include "search/placement.h"
#include "search/solve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct search_options o = {.memory_budget = 1 << 20};
	struct placement_file file;
	struct problem *p = &file.problem;
	struct search_result r;
	struct err err = {0};
	struct arena a;

	arena_init(&a);
	if (placement_parse(&file, (const char *)data, size, "fuzz", &a, &err)
	    && p->nnodes <= 8 && p->ncandidates <= 16) {
		if (!search_exact(&r, p, &o, &a, &err))
			abort();
		if (r.found)
			placement_makespan(file.graph, p, &r.cover, &a);
	}
	arena_release(&a);
	return 0;
}
