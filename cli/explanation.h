/* Why one node runs where it runs: at what price, and for every other target
 * why not there. Facts first (explanation_make), then told. */
#ifndef CLI_EXPLANATION_H
#define CLI_EXPLANATION_H

#include "cli/answer.h"
#include "cli/job.h"
#include "plan/shift.h"

enum verdict {
	VERDICT_RUNS, /* it runs there */
	VERDICT_COSTLIER, /* legal, but the plan would cost more (or as much) */
	VERDICT_NO_PLAN, /* legal by itself, but no legal plan has it there */
	VERDICT_LEGAL, /* legal; what the plan would cost was not asked */
	VERDICT_REFUSED, /* patterns match, predicates refuse */
	VERDICT_NO_MATCH, /* patterns mention the operator, none fits here */
	VERDICT_UNKNOWN, /* no pattern mentions the operator */
};

/* One rule of one target that has something to say about the node. */
struct rule_explanation {
	const struct rule *rule;
	const struct refusal
	    *refusal; /* the one with fewest failures, or NULL */
	bool mentions; /* its pattern has the operator but does not fit */
};

struct target_explanation {
	const struct target *target;
	enum verdict verdict;
	struct plan_shift
	    shift; /* COSTLIER: to the cheapest plan with it there */
	uint32_t nrules;
	const struct rule_explanation *rule;
};

struct explanation {
	node_id node;
	const struct plan_composite *composite;
	const struct candidate *candidate;
	const struct price *price;
	uint32_t ntargets; /* of the mix, in order */
	const struct target_explanation *target;
};

/* Collect; `ask_cost` searches again for each legal alternative. */
bool explanation_make(struct explanation *s, struct job *j, node_id node,
    bool ask_cost, struct arena *a, struct err *err);

/* How many conditions of a refused match fail. */
uint32_t refusal_failures(const struct refusal *r);

/* One row of an answer: text of a screen, JSON of all of it. */
void explanation_tell(
    const struct explanation *s, const struct job *j, struct answer *a);

#endif
