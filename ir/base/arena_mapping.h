/* Where an arena lies, for those who look at the process's memory. */
#ifndef IR_BASE_ARENA_MAPPING_H
#define IR_BASE_ARENA_MAPPING_H

#include <stdbool.h>

#include "ir/base/arena.h"

/* Its i-th mapping, the last one first; false: it has no more. What is small lies among
 * others' memory, and is none. */
bool arena_mapping(
    const struct arena *a, uint32_t i, uintptr_t *from, uintptr_t *end);

#endif
