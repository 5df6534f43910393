/* The general exact search: labels over covered sets, in execution order. It
 * handles every constraint; its labels grow with the number of ideals of the
 * graph, so it is for small or narrow problems, and a beam elsewhere. */
#ifndef SEARCH_ORDER_H
#define SEARCH_ORDER_H

#include "search/solve.h"

/* Looks for covers cheaper than `upper`. guess[n]: what node n adds to a cover,
 * to rank labels when a beam has to (never to rule one out). Fills the result
 * but does not check the cover; proven: all was looked at. */
void order_search(struct search_result *out, const struct problem *p,
    const struct search_options *o, cost_ns upper, const cost_ns *guess,
    struct arena *a);

#endif
