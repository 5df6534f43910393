/* The story of one node: where it runs and at what price, and for every other
 * target why it does not run there. Facts first; printing them as text or JSON
 * is separate. */
#ifndef CLI_STORY_H
#define CLI_STORY_H

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
struct rule_story {
	const struct rule *rule;
	const struct refusal
	    *refusal; /* the one with fewest failures, or NULL */
	bool mentions; /* its pattern has the operator but does not fit */
};

struct target_story {
	const struct target *target;
	enum verdict verdict;
	struct plan_shift
	    shift; /* COSTLIER: to the cheapest plan with it there */
	uint32_t nrules;
	const struct rule_story *rule;
};

struct node_story {
	node_id node;
	const struct plan_composite *composite;
	const struct candidate *candidate;
	const struct price *price;
	uint32_t ntargets; /* of the mix, in order */
	const struct target_story *target;
};

/* Collect; `ask_cost` searches again for each legal alternative. */
bool story_tell(struct node_story *s, struct job *j, node_id node,
    bool ask_cost, struct arena *a, struct err *err);

/* How many conditions of a refused match fail. */
uint32_t story_failures(const struct refusal *r);

void story_print(const struct node_story *s, const struct job *j);

struct json;
void story_write(
    const struct node_story *s, const struct job *j, struct json *w);

#endif
