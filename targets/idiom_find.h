/* Finding all that a graph spells out. */
#ifndef TARGETS_IDIOM_FIND_H
#define TARGETS_IDIOM_FIND_H

#include "targets/idiom.h"

/* All idioms of a graph whose inner values nobody else reads; of one kind at
 * one root the largest. Everything lives in `a`. */
const struct idioms *idioms_find(
    const struct graph *g, const struct uses *u, struct arena *a);

/* Is match i not part of a larger one? */
bool idiom_is_whole(const struct idioms *all, uint32_t i);

#endif
