/* Which operator follows which rule. */
#include "ir/infer/rules.h"

static const struct op_rule rules[NOP] = {
#define RULE(op, rule, how) \
	[OP_##op].type = (rule), [OP_##op].fold = FOLD_##how,
#define VALUE(op, rule) [OP_##op].value = (rule),
#include "ir/schema.def"
};

const struct op_rule *
rule_get(enum op op)
{
	return &rules[op];
}
