/* The graph cut along its regions: a main graph that calls one function per
 * region, and each region as a graph of its own. */
#ifndef EMIT_REGIONS_H
#define EMIT_REGIONS_H

#include "emit/work.h"

/* A region as a graph. Constants up to `inline_max` elements are inside (unless
 * the opset's Constant cannot hold them; SIZE_MAX: all of them, as
 * initialisers); others become inputs, after the region's own, by value id. */
struct graph *region_graph(const struct emit_work *w, uint32_t region,
    size_t inline_max, struct arena *a);

/* The whole model: host regions as they were, every other region one call of
 * "<region's name>" of REGION_DOMAIN with the inputs and outputs of its graph
 * in body[region]. Value ids are the graph's. */
struct graph *main_graph(const struct emit_work *w,
    const struct graph *const *body, struct arena *a);

#endif
