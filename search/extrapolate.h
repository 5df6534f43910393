/* Leaps over repeated blocks: where the frontier is what it was one block
 * before, at a constant more of cost, the blocks below make it the same again,
 * and the backward DP goes on after the last of them. Exact: the slice of the problem
 * below is the one above, node by node, and labels are compared by what the
 * future depends on. */
#ifndef SEARCH_LEAP_H
#define SEARCH_LEAP_H

#include "search/bound.h"
#include "search/transition.h"
#include "search/period.h"

struct snapshot {
	uint32_t top, n, age; /* age: of the first label made after it */
	struct group **group; /* [n] of each label */
	struct label **label; /* [n] by group */
	const struct trace **trace; /* [n] of the labels */
};

struct extrapolation {
	struct snapshot above, below; /* one period apart, and alike */
	uint32_t *same; /* [n] label of `below` that is as this of `above` */
	uint32_t period, times; /* it was repeated */
	uint32_t runs; /* one more block adds */
};

struct extrapolations {
	struct frontier *frontier;
	struct groups *groups;
	struct bound *bound;
	struct periods periods;
	bool allowed, looked;
	uint32_t at; /* repeat at hand */
	uint32_t next; /* top of the next look at the frontier, NO_NODE */
	struct snapshot last;
	struct extrapolation
	    *list; /* labels made by list[i] have ncandidates + i for
			    * their candidate, and the one moved as parent */
	uint32_t n, cap;
};

/* A candidate of a cover, as the backward DP took it: last in the order first. */
struct chosen_step {
	uint32_t candidate, pos, turn;
	bool unplaced; /* its position may be higher */
};

void extrapolations_init(struct extrapolations *l, struct frontier *f,
    struct groups *g, struct bound *b);

/* Look for repeated blocks below a node. */
void extrapolations_look(struct extrapolations *l, uint32_t top);

/* Before the groups of `top` are expanded: the top to go on with. */
uint32_t extrapolations_try(struct extrapolations *l, uint32_t top);

/* The groups of this node and of all below it are still compared; NO_NODE: none
 * are. */
uint32_t extrapolations_hold(const struct extrapolations *l);

/* What a label of an extrapolation has taken since that began, added to
 * taken[*n]; the one from which it began. */
const struct trace *extrapolation_trace(const struct extrapolation *x,
    const struct problem *p, const struct trace *made,
    struct chosen_step *taken, uint32_t *n);

#endif
