/* What a plan is known by when it is put on record. */
#ifndef EXEC_PLAN_KEY_H
#define EXEC_PLAN_KEY_H

#include "costmodel/pricer.h"
#include "ir/base/buf.h"
#include "plan/plan.h"

/* Append the keys of its composites in order, where their inputs come from, and the
 * conversions between. */
void plan_add_key(
    struct buf *b, const struct plan *p, const struct pricer *pricer);

#endif
