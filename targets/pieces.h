/* Operators that leave bytes as they are and only say where they belong:
 * reshaping, joining along the outermost dimension, splitting along it, a Slice of
 * it, a Pad of nothing, a Transpose of dimensions of 1. When a plan lets input and output lie in one piece of memory they cost nothing. */
#ifndef TARGETS_PIECES_H
#define TARGETS_PIECES_H

#include "targets/target.h"

/* Can the match be done in place when its tensors of rank 4 have a layout:
 * every piece starts at a multiple of 64 bytes, and no other operator has a
 * better claim to where an input lies? Of single nodes only. */
bool pieces_fit(const struct match_in *m, enum layout layout);

/* Are a node's bytes, in C order, some of its first input's as they lie there? */
bool pieces_of_one(const struct graph *g, const struct node *n);

/* The kernel of such a candidate. It copies the pieces that do not lie where
 * they belong. */
void pieces_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out);

#endif
