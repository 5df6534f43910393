/* What killed processes left beside their outputs. */
#ifndef IR_BASE_STALE_H
#define IR_BASE_STALE_H

#include <stdbool.h>

/* Is it the name of a temporary file of a process that is gone? */
bool stale_is_left(const char *name);

/* Delete every `<path>.tmp-<pid>` whose process is gone. Only this machine's
 * processes are known: a path belongs to one machine at a time. */
void stale_remove(const char *path);

/* The same for every name in a folder whose `<path>` is_ours(). */
void stale_remove_in(const char *folder,
    bool (*is_ours)(const char *stem, const void *context),
    const void *context);

#endif
