/* The cheapest way to have a value in all the formats asked for: a directed
 * Steiner tree over formats, from those it is in to those demanded.
 *
 * A local format is either one the value was made in, and then a source, or one
 * that it is brought in to, and then asked for: the tree ends at a format that it
 * can be brought in from, and what each run pays (entry_cost()) is no part of it. */
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

/* Cost of making a value of `class`, present in the formats `have` (a mask; local
 * ones: made in them), available in all of `need` (local ones: to be brought in).
 * Monotone in `need`; COST_NEVER: impossible. */
cost_ns convert_cost(
    struct converter_memo *m, uint32_t class, uint32_t have, uint32_t need);

/* The steps of that tree, sources first: number written to step[FORMATS_MAX]. A
 * step to a local format is what each run pays that the value is brought in for.
 * The tree must be possible. */
uint32_t convert_steps(struct converter_memo *m, uint32_t class, uint32_t have,
    uint32_t need, struct conversion_step *step);

#endif
