/* The twelve rules of upstream's pattern table, in its order, over ONNX forms. */
#ifndef TARGETS_MRVL_RULES_H
#define TARGETS_MRVL_RULES_H

#include "targets/mrvl/rule_ids.h"
#include "targets/target.h"

extern const struct rule mrvl_rules[NRULES];

/* Does an operator that only changes the shape leave NHWC bytes as they are:
 * ranks differ only by dimensions of 1, or one of C and H*W is 1? */
bool mrvl_keeps_nhwc(const struct graph *g, const struct node *n);

#endif
