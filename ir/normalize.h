/* Making the graph what the rest of the program works on: only live nodes, in
 * topological order, ids dense. Nothing the user wrote is rewritten: folded
 * nodes become constants, identities and unused nodes go, a known branch of an
 * If is inlined; every ONNX node's fate is recorded. */
#ifndef IR_NORMALIZE_H
#define IR_NORMALIZE_H

#include <stdbool.h>

#include "ir/base/err.h"
#include "ir/graph.h"
#include "ir/infer.h"

/* infer(), then: inline Ifs whose condition is known (and infer those), drop
 * Identity, Casts to the type that is there and inference-mode Dropout, drop
 * nodes whose outputs are all constant or unused, renumber. */
bool normalize(struct graph *g, const struct infer_options *o, struct err *err);

/* Count of ONNX nodes by fate; asserts that every COVERED one is carried by a
 * node and no other is (conservation, D2). */
void graph_conservation(const struct graph *g, uint32_t count[3]);

#endif
