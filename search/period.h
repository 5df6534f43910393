/* Repeated blocks: stretches of nodes that look the same one period further
 * down, candidates, costs and conversions included. */
#ifndef SEARCH_REPEAT_H
#define SEARCH_REPEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "search/problem.h"

/* Node n in [low + period, high] is as node n - period: both read values of
 * which one is the other moved down, or the very same one, and so do the
 * candidates with this highest node, which are equal in number and order. */
struct period {
	uint32_t low, high, period;
	uint32_t reach; /* what a node of it and its candidates refer to is at
			 * most so far below, but for what all blocks share */
};

struct periods {
	struct period *list; /* from the highest down */
	uint32_t n, cap;
	uint32_t *down; /* [nvalues] the value one period below, NO_VALUE */
};

#define NO_VALUE UINT32_MAX

/* Stretches of at least three periods below and including node `top`. */
void periods_find(struct periods *out, const struct problem *p, uint32_t top,
    struct arena *a);

/* The candidate that is `shift` nodes (a multiple of a period) below this. */
uint32_t period_candidate(const struct problem *p, uint32_t id, uint32_t shift);

#endif
