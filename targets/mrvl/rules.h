/* The twelve rules of upstream's pattern table, in its order, over ONNX forms. */
#ifndef TARGETS_MRVL_RULES_H
#define TARGETS_MRVL_RULES_H

#include "targets/target.h"

enum mrvl_rule {
	RULE_CONV,
	RULE_FC,
	RULE_MAXPOOL,
	RULE_AVGPOOL,
	RULE_GLOBALAVGPOOL,
	RULE_GLOBALMAXPOOL,
	RULE_SUM,
	RULE_CONCAT,
	RULE_LAYOUT,
	RULE_RESHAPE,
	RULE_FLATTEN,
	RULE_SQUEEZE,
	NRULES
};

extern const struct rule mrvl_rules[NRULES];

/* Does an operator that only changes the shape leave NHWC bytes as they are:
 * ranks differ only by dimensions of 1, or one of C and H*W is 1? */
bool mrvl_keeps_nhwc(const struct graph *g, const struct node *n);

#endif
