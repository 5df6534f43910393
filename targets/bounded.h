/* Bounds put by a pass of our own over what a kernel has written: where its
 * library's would turn NaN into a number. */
#ifndef TARGETS_BOUNDED_H
#define TARGETS_BOUNDED_H

#include "targets/target.h"

struct bounding {
	bool needed;
	float low, high; /* with 0 between: padding of blocks stays 0 */
};

/* Bound the first output of *k. */
void bound_kernel(struct kernel *k, const struct target *t,
    const struct graph *g, const struct bounding *b, struct arena *a);

#endif
