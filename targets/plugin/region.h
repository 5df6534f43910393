/* A candidate as a plug-in is given it: an ONNX model in memory and its ports. */
#ifndef TARGETS_PLUGIN_REGION_H
#define TARGETS_PLUGIN_REGION_H

#include "targets/authored.h"
#include "targets/plugin/about.h"
#include "targets/plugin/marq_plugin.h"
#include "targets/target.h"

/* A candidate's implementation: part of a plan unless it is all of one; as marq
 * wrote it out unless operators are as their author has them. */
enum { REGION_PART = 0, REGION_ALONE = 1, REGION_AUTHORED = 2 };

/* The operators that are taken as their author has them among some nodes. */
void region_authored(struct authored *out, const struct about *about,
    const struct graph *g, const node_id *node, uint32_t n, struct arena *a);

struct given_region {
	struct marq_region region;
	char *model; /* its bytes */
	size_t model_bytes;
	/* Of the model's node i: places of the candidate's nodes
	 * place[start[i]] .. place[start[i + 1] - 1]; NULL: place i. */
	const uint32_t *start, *place;
};

/* ERR_UNSUPPORTED for what cannot be cut out. Ports and names are in `a`; the
 * model is to be released. */
bool region_give(struct given_region *out, const struct about *about,
    const struct graph *g, const struct candidate *c, struct arena *a,
    struct err *err);
void region_release(struct given_region *r);

#endif
