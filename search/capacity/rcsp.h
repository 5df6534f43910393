/* The cheapest cover within a capacity, where the backward DP has few states: the
 * cheapest path through them that uses no more, known to be a two-dimensional
 * shortest path. */
#ifndef SEARCH_CAPPED_H
#define SEARCH_CAPPED_H

#include "search/budget.h"
#include "search/solve.h"

/* TUNING: ways to a state that are kept in the first of several passes. */
#define RCSP_ROOM 32

/* Improve *best: its cover, its lower bound, whether it is proven. Does nothing for
 * problems without capacities, or with too many states. Not for problems that
 * backward_handles() refuses. */
void rcsp_search(struct search_result *best, const struct problem *p,
    uint32_t room, const struct budget *budget, struct arena *a);

#endif
