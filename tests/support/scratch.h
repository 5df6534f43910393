/* A folder of this process, deleted when it exits: in memory where there is such
 * a place. One that is killed leaves it there, not where it was started. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include "ir/base/arena.h"

const char *scratch_folder(void);

/* A path in it; nothing is made. */
const char *scratch_path(const char *name, struct arena *a);

/* Make it the current one. */
void scratch_enter(void);

#endif
