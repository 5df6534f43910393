/* The state of a planning run: what the loop, the oracles and what they call share. */
#ifndef PLAN_STATE_H
#define PLAN_STATE_H

#include "plan/knowledge.h"
#include "plan/oracle.h"
#include "plan/plan.h"
#include "plan/request.h"
#include "plan/tree.h"
#include "search/solve.h"

/* How a node is searched. */
enum effort {
	EFFORT_GUESS, /* at what prices are taken for: it says what to price */
	EFFORT_QUICK, /* with little memory */
	EFFORT_THOROUGH, /* with all the memory there is to prove the answer */
};

/* A cover and the plan it makes. */
struct incumbent {
	bool found;
	struct cover cover;
	struct plan plan; /* at the prices of `epoch` */
	struct device_use overflow; /* it does not fit */
	uint64_t epoch;
	const char *searcher;
	/* Of the node it is from. */
	uint32_t rounds, nmoved;
	const struct plan_move *moved;
};

/* What oracles count of the node at hand; forgotten with it. */
struct node_visit {
	enum effort effort;
	bool guessed; /* a search at guesses has been under way */
	uint32_t tie_rounds; /* comparisons that moved something */
	bool compared; /* near ties are decided */
	uint32_t rounds; /* covers whose regions were priced */
	const char *searcher; /* of the first of these */
	bool proven; /* it was */
	bool broken; /* a plan cost less than the bound: regions cost less than
		      * their parts, so sums of parts bound nothing */
	bool fits; /* one of them did */
	bool improved; /* one of them is the incumbent */
	struct incumbent unfit; /* the cheapest that does not fit */
};

/* (Z1) The problem is the request's with the node's limits; node_apply() alone
 *      makes it so, and prices are its own as of `epoch`.
 * (Z2) An incumbent is a cover, not a cost: it is evaluated again when prices moved
 *      before it is compared with anything.
 * (Z3) A bound of a smaller `fell` counts as 0: node_bound(). */
struct planner {
	const struct plan_request *r;
	struct arena *arena;
	enum planner_mode mode;
	struct problem problem;
	const struct problem_target
	    *asked; /* [ntargets] limits of the request */
	uint64_t epoch; /* prices were taken over so often */
	uint64_t fell; /* ... and some fell so often */
	struct tree tree;
	struct search_hints
	    hints; /* of the nodes' searches, one for the next */
	struct plan_node node; /* the one at hand */
	struct node_visit visit;
	struct knowledge known; /* of regions; of this node */
	struct incumbent incumbent; /* the cheapest that fits */
	bool proven_empty; /* the last node without a cover has none, proven */
	struct device_use overflow; /* of the last cover that did not fit; its
				     * kind is NULL when all did */
	cost_ns bound; /* no plan costs less, at prices that had fallen */
	uint64_t bound_fell; /* so often */
	const struct plan_baseline *baseline;
	uint32_t nbaselines;
	uint32_t reference; /* modes of baselines: the target; mix->n: eager */
	struct plan_tie *tie; /* [nties] near ties, compared; chosen: `a` */
	uint32_t nties, tie_cap;
	/* What the cover at hand has without a price (pricing.h). */
	uint32_t *ask; /* [nask] of candidates->n */
	uint32_t nask;
	struct pricer_conversion *convert; /* [nconvert] */
	uint32_t nconvert, convert_cap;
	bool *doubted; /* [candidates->n] worth a price as a substitute */
	uint32_t ndoubted;
	/* Candidates by the first of their nodes, then by id (substitutes.h). */
	uint32_t *beginning; /* [candidates->n] */
	uint32_t *beginning_from; /* [nodes + 1] where a node's begin there */
};

#endif
