/* A candidate as a plug-in is given it: an ONNX model in memory and its ports. */
#ifndef TARGETS_PLUGIN_REGION_H
#define TARGETS_PLUGIN_REGION_H

#include "targets/plugin/marq_plugin.h"
#include "targets/target.h"

struct given_region {
	struct marq_region region;
	char *model; /* its bytes */
	size_t model_bytes;
};

/* ERR_UNSUPPORTED for what cannot be cut out. Ports and names are in `a`; the
 * model is to be released. */
bool region_give(struct given_region *out, const struct graph *g,
    const struct candidate *c, struct arena *a, struct err *err);
void region_release(struct given_region *r);

#endif
