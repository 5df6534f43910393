/* Locked partitions: nodes that stay one region of one target, with nothing else
 * in it. How they are covered inside is for the search to choose. */
#ifndef PLAN_PARTITION_H
#define PLAN_PARTITION_H

#include "plan/constraints.h"

/* Add one; `c` names its nodes, target and text. ERR_INPUT when it means several
 * targets, shares a node with another partition, or when a path leaves it and
 * comes back. */
bool partition_add(struct constraints *s, struct constraint c,
    const struct graph *g, struct arena *a, struct err *err);

/* Put the partitions onto a problem whose other constraints are there: each gets
 * a target of its own, part of the one it is locked to, with one run at most and
 * no candidate but those inside. */
void partitions_apply(const struct constraints *s, const bool *skip,
    struct problem *p, struct arena *a);

#endif
