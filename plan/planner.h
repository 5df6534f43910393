/* The planner: one planning run, from a request to the cheapest plan. A tree of nodes
 * (memory levels) around one loop: solve, ask the oracles, solve again. */
#ifndef PLAN_PLANNER_H
#define PLAN_PLANNER_H

#include "plan/state.h"

/* The loop at the node at hand: solve and ask until all oracles are quiet, or one
 * has split the node. p->best.found: it has a cover. */
bool planner_refine(
    struct planner *pl, struct proposal *p, bool *branched, struct err *err);

/* The tree: fills incumbent and bound. */
bool planner_search(struct planner *pl, struct err *err);

/* (Z1) to (Z3), (X1), (Y1). Debug builds call it after each round. */
void planner_verify(const struct planner *pl);

#endif
