/* The fast exact search: nodes are covered from the highest id down, and labels
 * differ only in the few values that cross the cut. */
#ifndef SEARCH_BACKWARD_DP_H
#define SEARCH_BACKWARD_DP_H

#include "search/budget.h"
#include "search/solve.h"

/* Can it solve this problem? At most one target whose runs matter, without
 * limits on run sizes or on what runs read. */
bool backward_handles(const struct problem *p);

struct dual;
struct capacity_multiplier;
struct group;
struct label;

/* Takes the labels in place of the frontier: none is dropped, and no cover is
 * made. */
struct backward_keeper {
	void (*add)(void *context, struct group *g, const struct label *from,
	    const struct label *l); /* from: NULL for the first label */
	void *context;
	struct arena *arena; /* where it keeps them: memory of the search */
	bool complete; /* set in the end: no label is missing */
};

struct backward_limits {
	struct converter_memo *memo;
	cost_ns upper; /* only covers cheaper than this are looked for */
	uint32_t beam; /* labels kept per node; 0: all */
	struct budget budget; /* short: it becomes a beam; over: it gives up;
			       * without a cover known it takes one that is
			       * found in linear time, or goes on */
	uint32_t max_rate; /* labels per node; then it gives up; 0: no limit */
	uint32_t max_compared; /* pairs of labels compared per node, likewise */
	struct dual *dual; /* prices to bound labels with; NULL: shares */
	const struct split_readers *split; /* where formats are local */
	const struct capacity_multiplier
	    *multiplier; /* that is in these prices; NULL: none */
	struct backward_keeper *keeper; /* NULL: labels compete */
	uint64_t
	    extrapolate_after; /* labels before repeated blocks are looked for */
};

/* out->found: a cover cheaper than `upper`. out->lower_bound: no cover costs
 * less than the smaller of this and `upper`; proven when nothing was dropped.
 * Does not check the cover. */
void backward_dp(struct search_result *out, const struct problem *p,
    const struct backward_limits *limits, struct arena *a);

#endif
