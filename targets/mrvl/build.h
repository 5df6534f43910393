/* From composites over ONNX nodes to the backend's layers. */
#ifndef TARGETS_MRVL_BUILD_H
#define TARGETS_MRVL_BUILD_H

#include "targets/mrvl/layer.h"
#include "targets/target.h"
#include "targets/toolchain.h"

/* The layer of one composite: operands set, inputs (refs) not. */
void mrvl_layer_of(struct layer *out, const struct graph *g, uint32_t rule,
    const struct match *m, struct arena *a);

/* The same, but that constants have dimensions only: what prices ask, often. */
void mrvl_layer_sizes_of(struct layer *out, const struct graph *g,
    uint32_t rule, const struct match *m, struct arena *a);

/* The region as layers. ERR_UNSUPPORTED naming the node when a value would have
 * to change its layout inside the region. */
bool mrvl_layers(struct layers *out, const struct region *r, struct arena *a,
    struct err *err);

#endif
