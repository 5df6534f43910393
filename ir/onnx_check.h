/* Rules a node must keep by itself, before anything is known of shapes. */
#ifndef IR_ONNX_CHECK_H
#define IR_ONNX_CHECK_H

#include "ir/onnx_import.h"

/* Which operator is it? Sets op and opset from op_type and domain. */
bool check_operator(
    struct importer *imp, const struct opsets *opsets, struct node *n);

/* Numbers of inputs and outputs, required ones, attributes. */
bool check_node(struct importer *imp, const struct node *n);

/* A graph input and its initialiser: of one type? */
bool check_initializer(
    struct importer *imp, const struct value *input, const struct tensor *t);

/* Is it a Constant of the default domain? */
bool check_is_constant(const Onnx__NodeProto *p);

#endif
