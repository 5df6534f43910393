/* Which runs a value was brought in for: sets of (position of a run, local
 * format), each kept once, so that labels hold a number. */
#ifndef SEARCH_ENTERED_H
#define SEARCH_ENTERED_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"

#define ENTERED_NONE 0u /* the empty set */

struct entry_point {
	uint32_t pos, format;
};

struct entered_set {
	uint32_t n;
	const struct entry_point *point; /* ascending */
};

struct entered {
	struct arena *arena;
	struct map index;
	struct entered_set *set;
	uint32_t n, cap;
};

void entered_init(struct entered *e, struct arena *a);

bool entered_has(const struct entered *e, uint32_t set, struct entry_point x);

/* The set with one more. */
uint32_t entered_add(struct entered *e, uint32_t set, struct entry_point x);

#endif
