/* From composites over ONNX nodes to the backend's layers. */
#ifndef TARGETS_MRVL_BUILD_H
#define TARGETS_MRVL_BUILD_H

#include "targets/mrvl/layer.h"
#include "targets/target.h"

/* A region as the plan knows it. */
struct mrvl_region {
	const struct target *target;
	const struct graph *graph;
	uint32_t number; /* names it: tvmgen_mrvl_main_<number> */
	uint32_t ncandidates;
	const struct candidate *const *candidate; /* in execution order */
	uint32_t ninputs, noutputs;
	const struct port *input, *output; /* by value id */
};

/* The layer of one composite: operands set, inputs (refs) not. */
void mrvl_layer_of(struct layer *out, const struct graph *g, uint32_t rule,
    const struct match *m, struct arena *a);

/* The region as layers. ERR_UNSUPPORTED naming the node when a value would have
 * to change its layout inside the region. */
bool mrvl_layers(struct layers *out, const struct mrvl_region *r,
    struct arena *a, struct err *err);

#endif
