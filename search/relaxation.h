/* A problem the backward DP cannot take, relaxed, and a cover of the relaxed one
 * brought back. */
#ifndef SEARCH_RELAX_H
#define SEARCH_RELAX_H

#include "search/cover.h"
#include "search/problem.h"

/* The same problem without the limits the DP cannot keep, and with launches
 * counted for one target only (the costliest; others are charged the one launch they
 * cannot avoid). Where another target uses local formats too, they are local no
 * more: brought in once is there for all. Its optimum is a lower bound. False: it
 * cannot be made. */
bool relax(struct problem *relaxed, const struct problem *p, struct arena *a);

/* The same problem for prices, which know no local formats: a target whose runs hold
 * at most n nodes takes an n-th of its launch from each of them (rounded down) in
 * place of launches. No cover costs more for that: k runs hold at most k * n nodes.
 * Nor does what is left of one, less run_room_worth() of the run that has begun. */
void relax_sizes(
    struct problem *priced, const struct problem *p, struct arena *a);

/* What the room left in a run that has begun is worth at those prices; 0 where
 * sizes are not priced. */
cost_ns region_room_value(
    const struct problem *p, uint32_t target, uint32_t run_nodes);

/* A cover of the relaxed problem as one of the problem: runs of targets that may
 * have only one are gathered, and runs that are too long cut. False: it is not
 * legal all the same. */
bool tighten(struct cover *out, const struct problem *p,
    const struct cover *relaxed, struct arena *a);

#endif
