/* Folding that was left undone. */
#ifndef TESTS_SUPPORT_LEFTOVER_H
#define TESTS_SUPPORT_LEFTOVER_H

#include "ir/graph.h"

/* The first node after normalisation whose outputs depend on constants and on
 * known shapes only, though its operator is one that is folded; NODE_NONE: there
 * is none. Bodies are not looked into. */
node_id leftover_node(const struct graph *g, struct arena *a);

#endif
