/* The derived part of a problem: made whole, made again after edits. */
#ifndef SEARCH_PROBLEM_INDEX_H
#define SEARCH_PROBLEM_INDEX_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "search/problem.h"

/* Check everything a file could get wrong and fill the derived part. Candidates
 * that cross a mark or that limits of their target rule out become hopeless.
 * ERR_INPUT or ERR_UNSUPPORTED naming the node, value, candidate or port. */
bool problem_index(struct problem *p, struct arena *a, struct err *err);

/* After costs or bans changed (anything else: index again): which candidates can
 * be chosen, anew. */
void problem_reindex(struct problem *p, struct arena *a);

/* A copy of an indexed problem in which only some candidates can be chosen. */
void problem_restrict(struct problem *out, const struct problem *p,
    const bool *allowed, struct arena *a);

#endif
