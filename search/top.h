/* The best covers, not only the best one. */
#ifndef SEARCH_TOP_H
#define SEARCH_TOP_H

#include "search/solve.h"

/* The k cheapest covers that differ in the candidates they choose, ascending;
 * *n: how many there are (at most k). Each is proven to be the next one as far
 * as its own `proven` says. Solves about k times as many problems as a cover
 * has steps. */
bool search_top(struct search_result *out, uint32_t k, uint32_t *n,
    const struct problem *p, const struct search_options *o, struct arena *a,
    struct err *err);

#endif
