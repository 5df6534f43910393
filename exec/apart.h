/* Something run in a process apart: a library may end it, or hang in it. What it
 * finds out it leaves in shared memory (ir/base/shared_memory.h). */
#ifndef EXEC_APART_H
#define EXEC_APART_H

#include "ir/base/arena.h"
#include "ir/base/err.h"

/* Run work(context, arena) and wait for its end, however it ends; after `seconds`
 * it is killed. What it keeps in $TMPDIR is removed. ERR_MEASURE only when no process
 * can be had. */
bool apart_run(void (*work)(void *context, struct arena *a), void *context,
    unsigned seconds, struct err *err);

#endif
