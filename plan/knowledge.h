/* What oracles learned beside prices: regions that do not cost the sum of their
 * parts. Parts of a region that costs more have a penalty, stretches of regions are
 * candidates of their own (columns.h), and one that a tool refuses is cut in two.
 * The problem with all that is searched instead of the node's.
 *
 * (Y1) Prices and columns are exact; penalties and cuts are guesses: a part may be
 *      cheaper in another region. So neither a bound nor infeasibility of the problem
 *      with knowledge is the node's.
 * (Y2) A region is learned once, however prices move later: there are finitely
 *      many, so asking ends. */
#ifndef PLAN_KNOWLEDGE_H
#define PLAN_KNOWLEDGE_H

#include "ir/base/map.h"
#include "plan/columns.h"
#include "plan/plan.h"
#include "search/cover.h"
#include "search/problem.h"

struct knowledge {
	const struct plan *about; /* graph, mix, candidates and prices */
	const struct problem *base; /* what is searched without them */
	struct arena *arena;
	struct map seen; /* regions that were priced */
	bool *cut; /* [nvalues] crosses the middle of a region that cannot be:
		    * maker and reader are never in one region again */
	cost_ns
	    *penalty; /* [ncandidates] least price in a region; 0: its own */
	struct columns columns;
	struct plan_move *moved; /* regions whose price was another */
	uint32_t nmoved, moved_cap;
};

void knowledge_init(struct knowledge *k, const struct plan *about,
    const struct problem *base, struct arena *a);

/* Nothing is known any more. */
void knowledge_forget(struct knowledge *k);

/* Learn what the regions of a cover of the base problem cost as units; true: some
 * price, asked for the first time, is not that of its parts (Y2). */
bool knowledge_learn(struct knowledge *k, const struct cover *c);

/* The base problem with what is known. */
bool knowledge_apply(
    const struct knowledge *k, struct problem *out, struct err *err);

/* A cover of that problem as one of the base problem. */
void knowledge_expand(const struct knowledge *k, struct cover *c);

/* (Y1), (Y2): what is learned is of the base problem's candidates and values. */
void knowledge_verify(const struct knowledge *k);

#endif
