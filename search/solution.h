/* What several searches of one problem found and proved, put together. */
#ifndef SEARCH_RESULT_H
#define SEARCH_RESULT_H

#include "search/solve.h"

/* Proven, when the lower bound meets the cover, or says that there is none. */
void result_settle(struct search_result *r);

/* Take over the cover of another search, where it is cheaper, and its bound, where
 * it is higher. */
void result_keep(struct search_result *best, const struct search_result *r);

/* (W1) no bound is above the cover; (W2) a proof is a bound that meets it. */
void solution_verify(const struct search_result *r);

#endif
