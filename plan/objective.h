/* The objective: what is minimised, a sum of terms over the parts of a plan. */
#ifndef PLAN_OBJECTIVE_H
#define PLAN_OBJECTIVE_H

#include <stdint.h>

#include "ir/base/cost.h"

enum plan_part { PART_COMPOSITE, PART_CONVERSION, PART_LAUNCH, NPARTS };

enum plan_term {
#define TERM(name, part, words, cost) TERM_##name,
#include "plan/objective.def"
#undef TERM
	NTERMS
};

/* What a term may depend on. */
struct paid {
	cost_ns price; /* what the part's price counts as */
	uint32_t ncomposites, nnodes; /* a region priced as a unit has several;
				       * 0 of what is no composite */
};

/* What a part costs: the sum of its terms. */
cost_ns objective_cost(enum plan_part part, const struct paid *paid);

/* Add a part's cost to the sums of its terms. Where that is not what it would cost
 * by itself, the part's price is what differs. */
void objective_split(cost_ns sum[NTERMS], enum plan_part part, cost_ns cost,
    const struct paid *paid);

/* "composites", and "composites_ns" in files. */
const char *term_words(enum plan_term t);
const char *term_key(enum plan_term t);

#endif
