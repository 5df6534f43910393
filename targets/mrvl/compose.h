/* Upstream's MergeComposite: operators of the lowered graph grouped into
 * composites, row by row of its pattern table. */
#ifndef TARGETS_MRVL_COMPOSE_H
#define TARGETS_MRVL_COMPOSE_H

#include "targets/mrvl/low.h"
#include "targets/mrvl/rule_ids.h"

#define COMPOSITE_OPS 8

struct composite {
	enum mrvl_rule rule;
	low_id root;
	uint32_t nops;
	low_id op[COMPOSITE_OPS]; /* from the data to the root */
	uint32_t nargs;
	const low_id *arg; /* what is read from outside */
	/* operators by what they are here; LOW_NONE: not there */
	low_id anchor, pad, bias, norm;
};

#define COMPOSITE_NONE UINT32_MAX

struct composites {
	struct composite *composite;
	uint32_t n, cap;
	uint32_t *of; /* [ops] composite an operator is in, or _NONE */
};

/* ERR_UNSUPPORTED where upstream's partitioner throws. */
bool low_compose(struct composites *out, const struct lowered *l,
    struct arena *a, struct err *err);

/* Upstream's second registry: does the operator by itself belong to mrvl? */
bool low_op_is_taken(
    const struct lowered *l, const struct composites *c, low_id id);

#endif
