/* How much of a constant input belongs to the key of what reads it: what a
 * kernel branches on or iterates over decides its time, the rest are numbers
 * it computes with. */
#ifndef COSTMODEL_CONTENT_H
#define COSTMODEL_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

enum content {
	/* Nothing: kernels are tried on made-up numbers of the same type. */
	CONTENT_WEIGHTS,
	/* Kernels are tried on it, and any ordinary number will do. */
	CONTENT_KEPT,
	CONTENT_ZERO, /* whether all of it is zero */
	CONTENT_PLACES, /* how much memory it leads to */
	CONTENT_READ, /* all of it */
};

/* Of constant t at an input of n (implicit ones count on): READS of schema.def, or what
 * the type says. */
enum content content_of(
    const struct node *n, uint32_t slot, const struct tensor *t);

/* Is a Loop among what n runs? Its trip count may come from anywhere. */
bool content_decides_loop(const struct node *n);

/* No NaN, no infinity, nothing so large or so small that a product of a few of
 * them is one. */
bool content_is_ordinary(const struct tensor *t);

/* Is every element zero? */
bool content_is_zero(const struct tensor *t);

/* What reading (or writing) the data at constant indices costs the caches, on
 * two logarithmic scales: distinct cache lines, and jumps between them. False
 * where the node or its shapes do not tell. */
struct places {
	uint8_t lines, jumps;
};
bool content_places(const struct graph *g, const struct node *n,
    const struct tensor *index, struct places *out, struct arena *scratch);

#endif
