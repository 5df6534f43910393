/* From composites over ONNX nodes to the backend's layers. */
#ifndef TARGETS_MRVL_BUILD_H
#define TARGETS_MRVL_BUILD_H

#include "targets/mrvl/codegen.h"
#include "targets/mrvl/layer.h"
#include "targets/target.h"

/* The layer of one composite: operands set, inputs (refs) not. */
void mrvl_layer_of(struct layer *out, const struct graph *g, uint32_t rule,
    const struct match *m, struct arena *a);

#endif
