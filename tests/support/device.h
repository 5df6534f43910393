/* A device whose regions need memory to run, for tests of plans that fit: a target
 * kind of our own says what they need. One at a time. */
#ifndef TESTS_SUPPORT_DEVICE_H
#define TESTS_SUPPORT_DEVICE_H

#include "tests/support/dressed.h"
#include "tests/support/oracle.h"

/* What the device is like; each adds to the one before. */
enum law {
	LAW_LARGEST, /* a region's scratch is its composites' largest */
	LAW_SPILL, /* ... but never more than its own residents leave */
	LAW_MORE, /* ... and neighbours need more together; residents in pages */
	NLAWS,
};

/* Target 0 is the device, or both are. `kind` and `d` outlive what is done with
 * them. */
void dress_device(
    struct dressed *d, struct target_kind *kind, enum law law, struct rng *r);

/* What a sequence costs; COST_NEVER when it does not fit the device. */
cost_ns device_cost(const struct oracle *o, struct arena *a);

#endif
