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

/* What of a problem is edited in one derived from it. */
enum problem_part {
	EDIT_CANDIDATES = 1 << 0, /* costs, bans, targets, ports */
	EDIT_TARGETS = 1 << 1, /* launches, limits, capacities */
	EDIT_VALUES = 1 << 2, /* marks */
	EDIT_CONVERSIONS = 1 << 3,
};

/* A problem that shares all with its base but for the parts that are edited, which
 * are its own: the base stays as it is, other threads may read it. The derived part
 * is the base's until problem_reindex() (costs, bans) or problem_index(). */
void problem_derive(struct problem *out, const struct problem *base,
    unsigned parts, struct arena *a);

/* The same with room for so many more candidates and targets. */
void problem_derive_more(struct problem *out, const struct problem *base,
    uint32_t candidates, uint32_t targets, struct arena *a);

/* An indexed problem in which only some candidates can be chosen: where all can
 * be, they stay p's. */
void problem_restrict(struct problem *out, const struct problem *p,
    const bool *allowed, struct arena *a);

#endif
