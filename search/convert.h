/* The cheapest way to have a value in all the formats asked for: a directed
 * Steiner tree over formats, from those it is in to those demanded. */
#ifndef SEARCH_CONVERT_H
#define SEARCH_CONVERT_H

#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "search/problem.h"

/* Remembers every tree asked for; one per thread. */
struct converter_memo {
	const struct problem *p;
	struct arena *arena;
	cost_ns **closed; /* [nclasses] cheapest ways, NULL: not asked yet */
	struct map index; /* of trees with two leaves or more */
	cost_ns *cost;
	uint32_t ncosts, cap;
};

struct conversion_step {
	uint32_t from, to;
};

void convert_init(
    struct converter_memo *m, const struct problem *p, struct arena *a);

/* Cost of making a value of `class`, present in the formats `have` (a mask),
 * available in all of `need`. Monotone in `need`; COST_NEVER: impossible. */
cost_ns convert_cost(
    struct converter_memo *m, uint32_t class, uint32_t have, uint32_t need);

/* The steps of that tree, sources first: number written to step[FORMATS_MAX].
 * The tree must be possible. */
uint32_t convert_steps(struct converter_memo *m, uint32_t class, uint32_t have,
    uint32_t need, struct conversion_step *step);

#endif
