/* Abstract problems dressed as graph, mix, candidates and prices, so that plan/
 * can be tested on random ones. */
#ifndef TESTS_SUPPORT_DRESSED_H
#define TESTS_SUPPORT_DRESSED_H

#include "plan/plan.h"
#include "search/problem.h"
#include "tests/support/support.h"

struct dressed {
	struct arena *a;
	const struct problem *p;
	struct graph *graph;
	struct mix mix;
	struct candidates candidates;
	struct prices prices;
};

/* Everything fed and wanted in format 0, as graphs are. */
void dressed_plain(struct problem *p);

/* Graph, mix and candidates of d->p, which must be plain. */
void dress(struct dressed *d);

/* Prices: bounds of `low` to 100 per cent of the truth, to be priced. */
void dress_prices(struct dressed *d, struct rng *r, uint32_t low);

/* Prices: the truth, known. */
void dress_known(struct dressed *d);

#endif
