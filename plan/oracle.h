/* Oracles: what the planner asks about a cover that the search proposes. Each knows
 * one thing the search does not; what it learns is prices or struct knowledge, and
 * the search is run again. Textbook: constraint and column generation. */
#ifndef PLAN_ORACLE_H
#define PLAN_ORACLE_H

#include "search/solve.h"

struct planner;

enum verdict {
	ORACLE_QUIET, /* nothing to say: ask the next one */
	ORACLE_LEARNED, /* prices, columns, penalties or cuts: solve again */
	ORACLE_REPLACED, /* the proposal's cover is another one now: go on with
			  * the next oracle */
	ORACLE_BRANCHED, /* the node was split: leave it */
};

/* Who asks: a row applies in the modes it lists. */
enum planner_mode {
	MODE_SEARCH = 1 << 0, /* the cheapest plan */
	MODE_FIXED = 1 << 1, /* a replay, or a searcher asked for by name */
	MODE_BASELINE = 1 << 2, /* something to compare with, priced */
	MODE_REFERENCE = 1 << 3, /* the same at the prices there are */
};

/* What the search proposes at a node of the tree.
 * (O1) best.lower_bound is one of the node's covers at prices that had fallen `fell`
 *      times; 0 where the problem was no relaxation: at guesses, and with
 *      knowledge that is heuristic.
 * (O2) best.cover is of the problem's own candidates: columns are expanded. */
struct proposal {
	struct search_result best;
	uint64_t fell;
};

/* (O3) When it is late, or pricing has ended, an oracle is quiet or replaces the
 *      cover by one that needs nothing more: the loop ends by itself, with a plan.
 * (O4) An oracle learns finitely often at a node: each says what it counts. */
struct oracle {
	const char *name; /* in errors and traces */
	unsigned modes;
	bool empty; /* it is asked as well when there is no cover */
	bool (*ask)(struct planner *pl, struct proposal *p, enum verdict *v,
	    struct err *err);
};

typedef bool oracle_ask(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err);

/* In the order in which they are asked; after LEARNED the first is again. */
oracle_ask ask_too_full, ask_unpriced, ask_second, ask_proof, ask_known,
    ask_ties, ask_changes, ask_regions, ask_memory;

#endif
