/* Which targets a file from anywhere may not name: opening one loads or starts what
 * its text says. */
#ifndef TARGETS_BY_HAND_H
#define TARGETS_BY_HAND_H

#include <stdbool.h>

struct arena;

/* Of a target as -t takes it. A plug-in that is installed is opened by its name
 * alone; what its options load, it alone knows. */
bool target_by_hand(const char *text, struct arena *a);

#endif
