/* One branch of the search for the k best covers: the problem with some
 * candidates left out, of which only covers cheaper than a bar matter. */
#ifndef SEARCH_BRANCH_H
#define SEARCH_BRANCH_H

#include "search/split_readers.h"
#include "search/convert.h"
#include "search/lagrangian/model.h"
#include "search/solve.h"

/* What one thread needs for its branches. */
struct branch_tools {
	const struct problem *p;
	struct converter_memo memo, priced_memo; /* of the prices' problem */
	const struct split_readers *split;
	struct dual dual; /* the problem's prices, with scratch of its own */
	bool priced; /* there are any */
	struct arena arena;
};

/* `prices` (NULL: none) are those of the whole problem: what is a bound for all
 * covers is one for those of a branch. */
void branch_tools_init(struct branch_tools *t, const struct problem *p,
    const struct split_readers *split, const struct dual *prices);
void branch_tools_release(struct branch_tools *t);

struct branch_ask {
	const bool *allowed; /* [ncandidates] */
	cost_ns floor; /* known: no cover of the branch costs less */
	cost_ns bar; /* covers that cost as much or more are not wanted */
};

/* [nnodes] What covering a node adds to the bound at least, with what is allowed;
 * COST_NEVER: nothing covers it. */
cost_ns *branch_least_excess(const struct problem *p, const struct dual *prices,
    const bool *allowed, struct arena *a);

/* The cheapest cover of the branch, checked, if it is below the bar.
 * out->lower_bound: no cover of it costs less than this or the bar. With the time
 * over nothing is searched at all: not found, and the floor is the bound. */
bool branch_search(struct search_result *out, const struct branch_ask *ask,
    const struct search_options *o, struct branch_tools *t, struct arena *a,
    struct err *err);

#endif
