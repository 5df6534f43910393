/* What a file could get wrong about a problem. */
#ifndef SEARCH_PROBLEM_CHECK_H
#define SEARCH_PROBLEM_CHECK_H

#include "ir/base/err.h"
#include "search/problem.h"

/* Targets, values and nodes, each by itself. ERR_INPUT or ERR_UNSUPPORTED naming
 * the one. */
bool problem_check_parts(const struct problem *p, struct err *err);

/* Candidates, once users of values are indexed. Bans those that cross a mark or could
 * not be chosen. ERR_INPUT or ERR_UNSUPPORTED naming the candidate or value. */
bool problem_check_candidates(struct problem *p, struct err *err);

#endif
