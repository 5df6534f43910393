/* Model-local functions: found by (domain, name, overload), checked as a whole
 * before any is inlined, and inlined where they are called. */
#ifndef IR_FUNCTIONS_H
#define IR_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/graph.h"
#include "ir/onnx.pb-c.h"

struct importer;
struct scope;

/* Index the functions; refuse duplicates, recursion (also through sub-graphs)
 * and models that inlining would blow up. */
bool functions_check(struct importer *imp, const Onnx__ModelProto *p);

/* The function a node calls, or NULL: it is an operator. */
const Onnx__FunctionProto *functions_find(
    const struct importer *imp, const Onnx__NodeProto *node);

/* Read the body of a function in place of node `p`, call number `onnx` of the
 * origin table; in[] and out[] are the node's values. */
bool functions_inline(struct importer *imp, struct scope *s,
    const Onnx__NodeProto *p, uint32_t onnx, const struct node *call);

#endif
