/* All legal candidates of all targets of a mix over a graph. */
#ifndef TARGETS_CANDIDATES_H
#define TARGETS_CANDIDATES_H

#include "targets/target.h"

/* A match a predicate (or validity) refused; kept for `explain`. */
struct refusal {
	uint32_t target, rule;
	const struct match *match;
	const struct reason *reason; /* [nreasons], holding ones too unless
				      * only failures were asked for */
	uint32_t nreasons;
};

struct candidates {
	const struct candidate
	    *candidate; /* by target, rule, root, match, impl */
	uint32_t n;
	const struct refusal *refusal;
	uint32_t nrefusals;
	/* [nconditions] by target; what refusals are kept with */
	const struct condition_count *condition;
	uint32_t nconditions;
	const struct idioms *idioms; /* what the graph spells out */
	/* Larger regions that are offered, of targets whose regions cost less
	 * than their parts: what is proven is proven among these. 0: no target
	 * has any. */
	uint32_t nregions;
	/* [targets of the mix] what regions of such a target are made of that
	 * nobody offered; word is NULL for other targets. */
	const struct bitset *unoffered;
	bool keep_nan, exact, exact_halves; /* as they were asked for */
	/* What targets saw with halves as floats, and what that spells out; NULL:
	 * they saw the model alone. */
	const struct graph *widened;
	const struct idioms *widened_idioms;
};

struct candidate_options {
	const struct assumption *assume; /* [nassume] */
	uint32_t nassume;
	bool keep_refusals;
	bool keep_nan; /* leave out what loses NaN */
	bool exact; /* leave out convolutions that transform */
	bool exact_halves; /* none lies as a float: each result is rounded */
	bool failures_only; /* of refusals, leave out what held: most words */
};

/* Enumerate: match, predicate, validity (convex, interior values unused
 * outside unless the rule is multi_output), implementations. ERR_NO_COVER naming the first
 * node no candidate covers. */
bool candidates_find(struct candidates *out, const struct graph *g,
    struct mix *m, const struct candidate_options *o, struct arena *a,
    struct err *err);

/* Can the set (ascending) run as one: no path leaves and re-enters it? */
bool nodes_are_convex(const struct graph *g, const struct uses *u,
    const node_id *node, uint32_t n, struct arena *scratch);

#endif
