/* Where a prediction is worst: the region that is furthest off, in the direction
 * the whole is off, and the composite in it that is. */
#ifndef EXEC_WORST_REGION_H
#define EXEC_WORST_REGION_H

#include "exec/profile.h"
#include "plan/plan.h"

/* TUNING: beyond this share of what was measured, an error is worth a line. */
#define ERROR_WORTH_NAMING 0.05

struct worst_region {
	uint32_t region; /* == nregions: the conversions together */
	uint32_t composite; /* in that region; NODE_NONE for conversions */
	cost_ns predicted, measured; /* of the region */
};

/* Only what really runs here counts: simulated targets have no measured time.
 * The medians are a profile's. */
struct worst_region worst_region_find(
    const struct plan *p, const struct profile *seen);

#endif
