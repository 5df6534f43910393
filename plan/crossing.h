/* Values that pass from one region to another. */
#ifndef PLAN_CROSSING_H
#define PLAN_CROSSING_H

#include "plan/plan.h"

/* A format outside host memory exists for one region only: the device gives
 * every result back to the host and takes every input from there. So what a
 * region reads in such a format and another region made, or was given, is
 * converted to the host and in again. Adds those conversions, which the cover
 * does not know, and what they cost. */
void plan_add_crossings(struct plan *p, struct arena *a);

#endif
