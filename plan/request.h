/* What a planning run is asked. */
#ifndef PLAN_REQUEST_H
#define PLAN_REQUEST_H

#include <stdio.h>

#include "costmodel/pricer.h"
#include "plan/constraints.h"
#include "search/solve.h"

/* Borrowed; constant while the run lasts, but for the prices. */
struct plan_request {
	const struct graph *graph;
	const struct mix *mix;
	const struct candidates *candidates;
	struct prices *prices; /* pricer_begin() filled them */
	struct pricer *pricer; /* NULL: the prices there are must do */
	const struct constraints *constraints; /* NULL: none */
	const bool *only; /* [candidates->n] no others may be used; NULL: all
			   * may */
	bool replay; /* `only` is a plan that was found before: it is stated at
		      * these prices, nothing is compared or proven */
	const char *searcher; /* NULL: "exact" */
	bool eager_pricing; /* price everything before searching */
	bool price_baselines; /* price what they use, too */
	bool
	    price_best; /* of a plan that mixes targets: price what the best single
			  * one uses, so that the two can be run in turn */
	bool
	    what_if; /* prices stay as the search for the plan left them, but for what has
		       * none: nothing is compared */
	bool no_baselines; /* only the plan: nothing to compare it with */
	struct search_options search;
	/* The pricer stops before this to leave time for pricing what the best
	 * plan found by then still lacks; then this is its deadline. 0: none. */
	uint64_t completing_ns;
	struct notes *notes; /* NULL: nobody listens */
	FILE *trace; /* NULL: none; a line a step */
};

#endif
