/* What is left of a cover costs at least so much when it may use so much of a
 * capacity: a convex function, by its corners. All multipliers at once, so to speak. */
#ifndef SEARCH_HULL_H
#define SEARCH_HULL_H

#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/cost.h"

#define ENVELOPE_UNITS_MAX (UINT64_C(1) << 30)

struct envelope_point {
	uint64_t units; /* of the capacity */
	cost_ns cost;
};

struct envelope {
	const struct envelope_point
	    *point; /* units rise, costs fall, ever less */
	uint32_t n; /* 0: impossible */
};

/* The lower hull up to `limit` <= HULL_UNITS_MAX of points up to 2 * limit, in
 * any order, which are overwritten. */
void envelope_make(struct envelope *out, struct envelope_point *point,
    uint32_t n, uint64_t limit, struct arena *a);

/* The least cost with that many units, rounded down; COST_NEVER: too few. */
cost_ns envelope_at(const struct envelope *h, uint64_t units);

#endif
