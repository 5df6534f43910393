/* What is known of values while their graph is still being read: operators that
 * are written out then depend on ranks and types, which many writers of models
 * do not state. */
#ifndef IR_INFER_EARLY_H
#define IR_INFER_EARLY_H

#include "ir/graph.h"

struct early;

/* The graph as far as it is read, with what follows from its nodes for the types
 * of its values; of the same ids as g's, until the next call. Each node is
 * inferred once. `list` holds one for each graph asked about, in `a`. */
const struct graph *early_types(
    struct early **list, const struct graph *g, struct arena *a);

void early_release(struct early *list);

#endif
