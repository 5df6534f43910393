/* Types, shapes and small values in one topological pass, and folding.
 *
 * What a node computes is not known here: the caller lends an evaluator (the
 * host backend's), so there is one set of operator kernels in the program. */
#ifndef IR_INFER_H
#define IR_INFER_H

#include <stdbool.h>

#include "ir/base/err.h"
#include "ir/graph.h"
#include "ir/infer/options.h"

/* Infer and fold in place. A shape the model states and inference contradicts:
 * inferred wins, with a note. ERR_INPUT naming node, rule and value when an
 * operator's own rules are broken. */
bool infer(struct graph *g, const struct infer_options *o, struct err *err);

/* Does the node's operator, as that opset has it, take elements of its inputs'
 * types? */
bool node_takes(const struct graph *g, const struct node *n, uint32_t opset);

#endif
