/* Regions priced as wholes. A backend may say that a region costs another sum than
 * its composites one by one; then what is known of whole regions goes into the
 * problem, and the search is repeated. */
#ifndef PLAN_WHOLES_H
#define PLAN_WHOLES_H

#include "ir/base/map.h"
#include "plan/columns.h"
#include "plan/plan.h"
#include "search/cover.h"
#include "search/problem.h"

struct wholes {
	const struct plan *about; /* graph, mix, candidates and prices */
	const struct problem *base; /* what is searched without them */
	struct arena *arena;
	struct map seen; /* runs that were priced */
	bool *apart; /* [nvalues] crosses the middle of a run that cannot be:
		      * maker and reader are never in one run again */
	cost_ns *raised; /* [ncandidates] least price in a region; 0: its own */
	struct columns columns;
	struct plan_move *moved; /* runs whose price was another */
	uint32_t nmoved, moved_cap;
};

void wholes_init(struct wholes *w, const struct plan *about,
    const struct problem *base, struct arena *a);

/* What a cover of the base problem costs with its runs priced as wholes;
 * COST_NEVER when a tool refuses one of them. *news:
 * some run's price, asked for the first time, is not that of its parts. Each
 * call with news prices a run never seen before, and there are finitely many:
 * so a loop that ends without news ends. */
cost_ns wholes_cost(struct wholes *w, const struct cover *c, bool *news);

/* The base problem with what is known: parts of regions that cost more than their
 * sum are dearer, and stretches of regions are candidates of their own. */
bool wholes_apply(const struct wholes *w, struct problem *out, struct err *err);

/* A cover of that problem as one of the base problem. */
void wholes_expand(const struct wholes *w, struct cover *c);

#endif
