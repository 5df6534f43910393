/* A candidate as an ONNX model of its own, with its weights. */
#ifndef TARGETS_PART_H
#define TARGETS_PART_H

#include "targets/target.h"

/* Its nodes as a graph; inputs and outputs are its ports' values, in order. */
struct graph *part_of(
    const struct graph *g, const struct candidate *c, struct arena *a);

/* Write that graph. ERR_UNSUPPORTED for nodes that no one model can hold. */
bool part_write(FILE *f, const struct graph *g, struct err *err);

/* The one way of kinds that run it so: "onnx", plain at its ports. */
uint32_t part_implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);

#endif
