/* A first cover in linear time. */
#ifndef SEARCH_INTERVAL_H
#define SEARCH_INTERVAL_H

#include "search/cover.h"

/* A legal cover of an indexed problem in the order of node ids, out of candidates
 * whose nodes are consecutive and whose targets have no limits: a shortest path
 * over the positions between nodes, by costs and launches. Conversions are not
 * seen by the path, so paths within each single format are tried as well, and the
 * cheapest cover is taken. False: there is none of this kind. */
bool interval_cover(
    struct cover *out, const struct problem *p, struct arena *a);

#endif
