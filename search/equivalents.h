/* Twins: candidates that differ in nothing but what they cost. Whoever wants one
 * cover only needs the cheapest of them. */
#ifndef SEARCH_EQUIVALENTS_H
#define SEARCH_EQUIVALENTS_H

#include "ir/base/arena.h"
#include "search/problem.h"

/* For each candidate the first one of the same nodes, ports and resource whose
 * target is the same, or where neither's matters. After targets were indexed. */
const uint32_t *equivalents_find(const struct problem *p, struct arena *a);

/* For each first one (others' entries are undefined) the cheapest usable equivalent, of
 * the equally cheap the first. */
const uint32_t *equivalents_cheapest(const struct problem *p, struct arena *a);

#endif
