/* oneDNN's reorders between host layouts. */
#ifndef TARGETS_DNNL_REORDER_H
#define TARGETS_DNNL_REORDER_H

#include "targets/convert.h"

/* A converter of a static float32 value of rank 4 between two layouts; false
 * (and *c untouched) when the library is not built in or refuses. */
bool reorder_new(struct converter *c, enum layout from, enum layout to,
    const struct type *type, struct arena *a);

#endif
