/* On-chip memory: what regions keep in it while they are loaded and while they
 * run. Figures are bytes of one tile; all tiles of a region hold as much. */
#ifndef TARGETS_MRVL_MEMORY_H
#define TARGETS_MRVL_MEMORY_H

#include "targets/target.h"

/* target_kind's hooks. */
uint64_t mrvl_resident(
    const struct target *t, const struct graph *g, const struct candidate *c);
uint64_t mrvl_capacity(const struct target *t);
void mrvl_region_memory(const struct target *t, const struct graph *g,
    const struct candidate *const *c, uint32_t n, struct memory *out);

#endif
