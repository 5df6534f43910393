/* Which dimensions a reduction takes together. */
#ifndef TARGETS_AXES_H
#define TARGETS_AXES_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

#define AXES_MAX 12

/* The dimension that a node's `axis` names, negative ones from the last on. */
uint32_t axes_one(const struct node *n, int64_t otherwise, uint32_t rank);

/* reduced[i] for each dimension of a reduction's input, from its attribute or
 * its constant input; false when they are not known. */
bool axes_read(
    bool reduced[AXES_MAX], const struct graph *g, const struct node *n);

/* Are the last dimensions reduced, and only they? The first of them, else the
 * rank. */
uint32_t axes_first_of_last(const bool reduced[AXES_MAX], uint32_t rank);

/* Does a mean take the last two of four dimensions together: each image's? So does a
 * GlobalAveragePool of rank 4. */
bool axes_are_images(const struct graph *g, const struct node *n);

#endif
