/* Which machine an environment is of, told from its hard facts. */
#ifndef DB_ORIGIN_H
#define DB_ORIGIN_H

#include "ir/base/arena.h"

/* A short name: 8 hex digits of the facts of the machine alone (processor,
 * caches, threads, protocol, build), equal for equal machines, whatever their
 * processor is sold as. */
#define ORIGIN_CHARS 8
const char *origin_name(const char *hard, struct arena *a);

/* The processor in words: "Neoverse-N1 r3p1", "GenuineIntel 6/85/7". */
const char *origin_words(const char *hard, struct arena *a);

#endif
