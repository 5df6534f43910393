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
struct opsets;
struct scope;

/* Index the functions; refuse duplicates, recursion (also through sub-graphs)
 * and models that inlining would blow up. */
bool functions_check(struct importer *imp, const Onnx__ModelProto *p);

/* The function a node calls and what it imports, or NULL: it is an operator. */
const Onnx__FunctionProto *functions_find(const struct importer *imp,
    const Onnx__NodeProto *node, const struct opsets **opsets);

/* A call of a function that stands where the model itself stands. */
struct inlined {
	const Onnx__FunctionProto *function;
	const struct opsets *opsets;
	const Onnx__NodeProto *node; /* the call */
	struct origin origin; /* of the call */
	bool authored; /* the model's own function, not ours */
	const struct node *values; /* its inputs and outputs */
};

/* Read the body of a function in place of its call. */
bool functions_inline(
    struct importer *imp, struct scope *s, const struct inlined *in);

#endif
