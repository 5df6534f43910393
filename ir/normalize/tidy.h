/* The steps of normalisation after inference. Internal to ir/normalize. */
#ifndef IR_NORMALIZE_TIDY_H
#define IR_NORMALIZE_TIDY_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/graph.h"
#include "ir/infer/options.h"

/* Where a body stands: the node that owns it, in the graph around. */
struct frame {
	const struct graph *g;
	const struct node *node;
	const struct frame *outer; /* NULL: g is the main graph */
};

/* All steps on a graph and on the bodies in it, innermost first. */
void tidy_graph(struct graph *g);

/* The content of v when it is known, through captures; else NULL. */
const struct tensor *known_content(
    const struct graph *g, const struct frame *around, value_id v);

/* Replace each If of known condition by the nodes of the branch taken; bodies
 * were tidied before. */
void inline_ifs(
    struct graph *g, const struct frame *around, struct arena *scratch);

/* alias[v] = the value that stands for v once identities are gone; v itself
 * for most. */
value_id *drop_identities(
    struct graph *g, const struct frame *around, struct arena *scratch);

/* Remove nodes nothing needs, substitute aliases, make ids dense. */
void sweep(struct graph *g, const value_id *alias, struct arena *scratch);

/* Make numbers of short dequantised constants that no product reads as codes, and codes
 * of those that are quantised again. Without eval nothing is done. */
void settle_quantised(struct graph *g, node_eval eval);

/* Give each reader of a dequantised value a dequantiser of its own. Bodies stay as
 * they are. */
void part_dequantisers(struct graph *g);

/* Move each dequantiser to right before its first reader. Bodies stay as they are. */
void place_dequantisers(struct graph *g);

/* Values are of the nodes that make them now. */
void settle_producers(struct graph *g);

/* Say of a node's ONNX nodes, and of those in its bodies, what became of them. */
void set_fate(
    struct graph *g, const struct node *n, enum fate fate, const char *why);
void set_body_fates(struct graph *g, const struct node *n, const char *why);

#endif
