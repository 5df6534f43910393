/* Where a prediction misses: the region that is furthest off, in the direction
 * the whole is off, and the composite in it that is. */
#ifndef EXEC_MISS_H
#define EXEC_MISS_H

#include "exec/profile.h"
#include "plan/plan.h"

/* TUNING: beyond this share of what was measured, a miss is worth a line. */
#define MISS_WORTH_NAMING 0.05

struct miss {
	uint32_t region; /* == nregions: the conversions together */
	uint32_t composite; /* in that region; NODE_NONE for conversions */
	cost_ns predicted, measured; /* of the region */
};

/* Only what really runs here counts: simulated targets have no measured time.
 * The medians are a profile's. */
struct miss miss_find(const struct plan *p, const struct profile *seen);

#endif
