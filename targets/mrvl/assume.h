/* What the simulator assumes without a published source: target_kind's hooks. */
#ifndef TARGETS_MRVL_ASSUME_H
#define TARGETS_MRVL_ASSUME_H

#include "targets/target.h"

/* Fill in t->assumption. */
void mrvl_list_assumptions(struct target *t, struct arena *a);

struct target mrvl_assume(
    const struct target *t, uint32_t i, double value, struct arena *a);

#endif
