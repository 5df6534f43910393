/* What is left on the table: nodes that a target does not run, grouped by what is in
 * the way, and what a plan would cost without it: a condition that fails, or, of what
 * is legal and costlier, its conversions from and to the host. Of a new search, never of
 * a sum over the nodes: others may move, too. */
#ifndef PLAN_OPPORTUNITIES_H
#define PLAN_OPPORTUNITIES_H

#include "plan/plan.h"
#include "plan/request.h"

enum obstacle {
	OBSTACLE_REFUSED, /* a rule came near */
	OBSTACLE_NO_RULE, /* none takes the operator */
	OBSTACLE_COST, /* legal there, cheaper elsewhere */
};

enum saving {
	SAVING_EXACT, /* both plans are the cheapest, at known prices */
	SAVING_AT_MOST, /* the other one counts some prices at the least */
	SAVING_ESTIMATED, /* it rests on estimates, or need not be the cheapest */
	SAVING_UNKNOWN, /* nobody searched: `why_not` */
};

struct opportunity {
	uint32_t target;
	enum obstacle obstacle;
	const struct refusal *refusal; /* REFUSED: of the first node */
	uint32_t nnodes;
	node_id *node; /* [nnodes] ascending */
	cost_ns now; /* of the composites these nodes are in */
	cost_ns moves; /* of the conversions of what those read and make */
	enum saving saving;
	cost_ns saves; /* by the plan found; 0: none, or unknown */
	cost_ns at_most; /* no plan saves more; COST_NEVER: unknown */
	uint32_t ntaken; /* nodes the target runs there and not here */
	const char *why_not; /* UNKNOWN, else NULL */
};

struct opportunities {
	uint32_t n;
	struct opportunity *item; /* those of most cost now first */
};

/* The groups, nothing searched yet. The candidates must have kept their
 * refusals. */
void opportunities_find(
    struct opportunities *out, const struct plan *p, struct arena *a);

/* Search the largest groups again without what is in their way, at the prices there
 * are; nothing is measured. `r` is the request `p` is the answer to, whose pricer is
 * still open, `like` how its candidates were found; what the deadline cuts short
 * stays unknown. */
bool opportunities_search(struct opportunities *o, const struct plan *p,
    const struct plan_request *r, const struct candidate_options *like,
    struct err *err);

/* Is reason i in the way, and not named before it? */
bool refusal_names(const struct refusal *r, uint32_t i);

const char *obstacle_text(
    enum obstacle o); /* "refused", "no_rule", "costlier" */
const char *saving_text(enum saving s); /* "exact", ..., "not_searched" */

#endif
