/* Architectures this program can write itself, at real size: what the demo,
 * the benchmarks and the core tests run on. */
#ifndef CLI_ZOO_ZOO_H
#define CLI_ZOO_ZOO_H

#include "ir/graph.h"

struct zoo_entry {
	const char *name, *what;
	struct graph *(*make)(struct arena *a, bool constant);
};

/* All, in a fixed order. */
const struct zoo_entry *zoo_entries(uint32_t *n);
const struct zoo_entry *zoo_find(const char *name);

/* One function an architecture. `constant`: every weight is one repeated
 * number, for tests that only look at shapes. Memory in `a`. */
#define ZOO(name, function, what) \
	struct graph *function(struct arena *a, bool constant);
#include "cli/zoo/zoo.def"
#undef ZOO

#endif
