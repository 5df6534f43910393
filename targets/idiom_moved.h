/* An idiom with the moves around it. Internal to targets/idiom*.c. */
#ifndef TARGETS_IDIOM_MOVED_H
#define TARGETS_IDIOM_MOVED_H

#include "targets/idiom.h"

/* `core`, an attention that an operator stands for, with all around it that only
 * moves what it reads and makes: of kind MOVED_ATTENTION. False: nothing does. */
bool idiom_with_moves(struct idiom_match *out, const struct idiom_match *core,
    const struct graph *g, const struct uses *u, struct arena *a);

#endif
