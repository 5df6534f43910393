/* On-chip memory: what regions keep in it while they are loaded and while they
 * run. Figures are bytes of one tile; all tiles of a region hold as much. */
#ifndef TARGETS_MRVL_MEMORY_H
#define TARGETS_MRVL_MEMORY_H

#include "targets/target.h"

/* What a match keeps, at least: its candidates' `resident`. */
uint64_t mrvl_resident(const struct match_in *m);

/* target_kind.memory */
void mrvl_memory(const struct region *r, struct memory *out);

#endif
