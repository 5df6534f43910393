/* Where the elements of a tensor lie in another one that is only reshaped, turned
 * and cut: an offset, and a step for each dimension. */
#ifndef TARGETS_VIEW_H
#define TARGETS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

#define VIEW_RANK 8

struct view {
	uint32_t rank;
	int64_t offset, dim[VIEW_RANK], step[VIEW_RANK]; /* in elements */
};

/* All of a tensor; false: its shape is not known, or has a zero or too many
 * dimensions. */
bool view_of(struct view *v, const struct type *t);
/* From one side of a node that only moves elements to the other: `view` is of its
 * first input and becomes that of output `out`. False: it is no such node, or steps
 * cannot say it. */
bool view_through(
    struct view *v, const struct graph *g, const struct node *n, uint32_t out);
/* The other way round, of nodes that drop nothing: `view` is of the output and
 * becomes that of the input, in the tensor that the output lies in. */
bool view_back(struct view *v, const struct graph *g, const struct node *n);
/* May the node be one that view_through() understands? */
bool view_moves(enum op op);

#endif
