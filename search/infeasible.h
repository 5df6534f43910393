/* Why a problem has no cover. */
#ifndef SEARCH_INFEASIBLE_H
#define SEARCH_INFEASIBLE_H

#include "search/solve.h"

#define INFEASIBLE_TEXT 512

/* Explain in one line why an indexed problem has no cover: a node nobody covers,
 * a value nobody can provide in the format required, or an irreducible
 * infeasible subset of its constraints (bans, capacities, limits on regions,
 * marks): these alone leave no cover, and all but any one of them do. Solves up to a few hundred
 * relaxations, within the options' budget; when that runs out the subset may
 * name more constraints than it needs. */
void infeasible_explain(char text[INFEASIBLE_TEXT], const struct problem *p,
    const struct search_options *o, struct arena *a);

#endif
