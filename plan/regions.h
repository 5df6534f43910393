/* What is known of a mix's regions before anything is priced. */
#ifndef PLAN_REGIONS_H
#define PLAN_REGIONS_H

#include "targets/target.h"

/* May regions of some target cost less than their parts? Then sums of parts
 * bound nothing. */
bool regions_may_discount(const struct mix *m);

#endif
