/* Regions as their kind's toolchain is given them. */
#ifndef EMIT_LAYERS_H
#define EMIT_LAYERS_H

#include "emit/work.h"
#include "targets/toolchain.h"

/* NULL: the region's kind has none. */
const struct toolchain *emit_toolchain(
    const struct emit_work *w, uint32_t region);

struct region emit_region(const struct emit_work *w, uint32_t region);

#endif
