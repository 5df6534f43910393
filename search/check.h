/* The independent judge of covers: shares no code with the searches. */
#ifndef SEARCH_CHECK_H
#define SEARCH_CHECK_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "search/cover.h"
#include "search/problem.h"

/* Every node once, by usable candidates, in an order that respects
 * dependencies, every port served in its format, every constraint kept, and the
 * cost recomputed. ERR_INTERNAL saying what is wrong and where; a caller that
 * checks a cover somebody edited turns the kind into ERR_INPUT. */
bool cover_check(const struct cover *c, const struct problem *p,
    struct arena *scratch, struct err *err);

#endif
