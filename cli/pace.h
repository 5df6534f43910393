/* How much is left and how long it takes, from what was done so far. Time is
 * what the caller says it is. */
#ifndef CLI_PACE_H
#define CLI_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_UNKNOWN UINT64_MAX

struct pace {
	uint32_t units, ended; /* of a batch; a search is one unit */
	/* attempts that are over */
	uint64_t spent_ns;
	uint64_t measured,
	    limit; /* limit: measurements there might have been */
	uint64_t measuring_ns; /* what those took that measured */
	/* the attempt that runs */
	uint64_t began_ns, seen_ns; /* seen: when a measurement last ended */
	uint32_t done, most; /* measurements: of at most so many */
	uint32_t limit_now; /* the largest `most` so far */
};

void pace_begin(struct pace *p, uint64_t now_ns);
void pace_step(struct pace *p, uint32_t done, uint32_t most, uint64_t now_ns);
/* The attempt is over, and with `ended` its unit. */
void pace_end(struct pace *p, bool ended, uint64_t now_ns);

/* Measurements of all units that are left. Few plans need every price: of what
 * a unit may measure, as much as those before it did. PACE_UNKNOWN: nothing has
 * been measured, and no unit has ended. */
uint64_t pace_measurements(const struct pace *p);

/* Until all units have ended; PACE_UNKNOWN likewise. While nothing ends it
 * shrinks with the clock. */
uint64_t pace_left_ns(const struct pace *p, uint64_t now_ns);

#endif
