/* What the simulator assumes without a published source. */
#ifndef TARGETS_MRVL_ASSUME_H
#define TARGETS_MRVL_ASSUME_H

#include "targets/mrvl/params.h"
#include "targets/target.h"

/* Is this a target of the Marvell kind whose parameter p is assumed, with a range?
 * Then *out is its value and range. */
bool mrvl_assumes(
    const struct target *t, enum param p, struct param_value *out);

/* The target as if the parameter had this value. */
struct target mrvl_assume(
    const struct target *t, enum param p, double value, struct arena *a);

#endif
