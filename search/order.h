/* The general exact search: labels over covered sets, in execution order. It
 * handles every constraint; its labels grow with the number of ideals of the
 * graph, so it is for small or narrow problems, and a beam elsewhere. */
#ifndef SEARCH_ORDER_H
#define SEARCH_ORDER_H

#include "search/solve.h"

/* Fills the result but does not check the cover. */
void order_search(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a);

#endif
