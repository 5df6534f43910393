/* Code generation for Marvell's compiler: per region a nodes file, a constants
 * file (both in upstream's exact schema), a map from layers back to the model,
 * and the command that compiles them. Everything is streamed. */
#ifndef TARGETS_MRVL_CODEGEN_H
#define TARGETS_MRVL_CODEGEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/err.h"
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

struct layers;

/* "tvmgen_mrvl_main_<number>"; the base of the files' names. */
const char *mrvl_symbol(uint32_t number, struct arena *a);

/* The region as layers. ERR_UNSUPPORTED naming the node when a value would have
 * to change its layout inside the region. */
bool mrvl_layers(struct layers *out, const struct mrvl_region *r,
    struct arena *a, struct err *err);

/* Write <symbol>-nodes.json, <symbol>-consts.json, <symbol>-map.json. */
void mrvl_write_nodes(FILE *f, const struct layers *l, struct arena *a);
void mrvl_write_consts(FILE *f, const struct layers *l, struct arena *a);
void mrvl_write_map(
    FILE *f, const struct layers *l, const struct graph *g, struct arena *a);

/* The name of a layer's function in the nodes file ("n1_Conv2D_NHWC"); NULL for
 * layers that have none. */
const char *mrvl_func_name(
    const struct layers *l, uint32_t layer, struct arena *a);

/* All three at once, for who writes a plan's artefacts. ERR_UNSUPPORTED as
 * mrvl_layers(); ERR_IO when a stream fails. */
bool mrvl_codegen(FILE *nodes, FILE *consts, FILE *map,
    const struct mrvl_region *r, struct err *err);

/* The compiler's command line for a region, files beside it:
 * mrvl-tmlc -mn <symbol> -f1 ... -f2 ... <options> -b <batch>. Text in `a`. */
const char *mrvl_command(
    const struct target *t, const struct layers *l, struct arena *a);

#endif
