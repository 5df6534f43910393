/* Part of a graph as a graph of its own. */
#ifndef IR_CUT_H
#define IR_CUT_H

#include <stddef.h>

#include "ir/graph.h"

struct graph_part {
	const char *name;
	uint32_t nnodes, ninputs, noutputs;
	const node_id *node; /* in an order that can be run */
	const value_id *input; /* read from outside; no constants */
	const value_id *output; /* used outside */
	/* Constants up to so many elements go along (unless the default
	 * domain's `opset` has no Constant that could hold them; SIZE_MAX: all
	 * of them do, as initialisers); others become inputs, after the
	 * part's own, by value id. */
	size_t inline_max;
	uint32_t opset;
};

/* Names, types and constants are borrowed from the whole. A value listed twice
 * is one input or output. */
struct graph *graph_cut(
    const struct graph *from, const struct graph_part *part, struct arena *a);

#endif
