/* A candidate as an ONNX model of its own in which operators that were written out
 * when the model was read stand as their author has them: a runtime may have a
 * kernel for one where it has none for what it became. */
#ifndef TARGETS_AUTHORED_H
#define TARGETS_AUTHORED_H

#include "targets/target.h"

/* Which calls can stand for their nodes among some of a graph's. */
struct authored {
	const struct graph *graph;
	uint32_t *call_of; /* [nnodes] 1 + the call a node is of; 0: none */
	bool *stands; /* [ncalls] */
	uint32_t most; /* nodes of the largest that stands; 0: none does */
};

/* Of calls that somebody takes: all their nodes are among node[0..n), what these
 * read is at hand there, and nothing else of them is read elsewhere. */
void authored_find(struct authored *out, const struct graph *g,
    const node_id *node, uint32_t n,
    bool (*takes)(const void *context, const struct node *call),
    const void *context, struct arena *a);

/* How many of which stand, by name: "2*Scaler+Normalizer"; in `a`. */
const char *authored_text(const struct authored *w, struct arena *a);

struct authored_part {
	struct graph *graph;
	/* Node i is what the candidate's nodes of the places
	 * place[start[i]] .. place[start[i + 1] - 1] were written out of. */
	const uint32_t *start, *place;
};

/* The candidate's nodes, those of calls that stand as the calls; inputs and outputs
 * as of part_of(). */
bool authored_part(struct authored_part *out, const struct authored *w,
    const struct candidate *c, struct arena *a, struct err *err);

#endif
