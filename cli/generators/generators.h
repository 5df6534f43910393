/* Architectures this program can write itself, at real size: what the demo,
 * the benchmarks and the core tests run on. */
#ifndef CLI_GENERATORS_GENERATORS_H
#define CLI_GENERATORS_GENERATORS_H

#include "ir/graph.h"

struct generator {
	const char *name, *what;
	struct graph *(*make)(struct arena *a, bool constant);
};

/* All, in a fixed order. */
const struct generator *generators(uint32_t *n);
const struct generator *generator_find(const char *name);

/* One function an architecture. `constant`: every weight is one repeated
 * number, for tests that only look at shapes. Memory in `a`. */
#define GENERATOR(name, function, what) \
	struct graph *function(struct arena *a, bool constant);
#include "cli/generators/generators.def"
#undef GENERATOR

#endif
