/* Which runs a value was brought in for: sets of (position of a run, local
 * format), each kept once, so that labels hold a number. */
#ifndef SEARCH_ENTERED_H
#define SEARCH_ENTERED_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"

#define TRANSFERS_NONE 0u /* the empty set */

struct transfer_point {
	uint32_t pos, format;
};

struct transfer_set {
	uint32_t n;
	const struct transfer_point *point; /* ascending */
};

struct transfer_sets {
	struct arena *arena;
	struct map index;
	struct transfer_set *set;
	uint32_t n, cap;
};

void transfer_sets_init(struct transfer_sets *e, struct arena *a);

bool transfer_set_has(
    const struct transfer_sets *e, uint32_t set, struct transfer_point x);

/* The set with one more. */
uint32_t transfer_set_add(
    struct transfer_sets *e, uint32_t set, struct transfer_point x);

#endif
