/* Facts an environment is made of: "key=value" lines. Hard ones decide whether
 * two figures may be compared at all; canonical form makes equal facts equal
 * bytes. */
#ifndef DB_FACTS_H
#define DB_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"

/* Lines sorted by key, the last of equal keys kept, empty ones dropped. */
const char *facts_canonical(const char *lines, struct arena *a);

/* The value of a key, or NULL. */
const char *facts_get(const char *lines, const char *key, struct arena *a);

enum facts_relation {
	FACTS_SAME,
	FACTS_COMPATIBLE, /* a library differs in its patch level, no more */
	FACTS_STALE, /* same target on the same machine, something else */
	FACTS_OTHER, /* another target, or another machine */
};

/* How the facts of stored figures stand to those of now. `why` gets the fields
 * that differ, "key: stored -> now", comma-separated; text in `a`. */
enum facts_relation facts_relate(
    const char *stored, const char *now, const char **why, struct arena *a);

#endif
