/* Artefacts for a target's own compiler: files of each region, the command that
 * compiles them, and the layers that nodes become. */
#ifndef TARGETS_TOOLCHAIN_H
#define TARGETS_TOOLCHAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/hash.h"
#include "targets/target.h"

struct outdir;

/* A constant as the toolchain is given it, and the graph's that are in it. */
struct toolchain_constant {
	const char *name;
	uint32_t nvalues;
	const value_id *value;
};

struct toolchain_layer {
	const char *symbol; /* of its region */
	const char *name, *func_name; /* func_name: NULL where it has none */
	uint32_t nnodes;
	const node_id *node;
	uint32_t nconstants;
	const struct toolchain_constant *constant;
};

struct toolchain_layers {
	uint32_t n;
	const struct toolchain_layer *layer;
};

/* Texts that were made with much work, by a hash of all they depend on. */
struct toolchain_memory {
	void *context;
	/* NULL: it has none. */
	const char *(*find)(void *context, struct hash128 of);
	void (*keep)(void *context, struct hash128 of, const char *text);
};

struct toolchain_package;

struct toolchain {
	/* Files of a region are "<symbol>-<name>"; ends with NULL. At most
	 * TOOLCHAIN_FILES. */
	const char *const *file;
	const char
	    *layer_index; /* its word for the number of a layer, from 1 */
	const char *(*symbol)(uint32_t number, struct arena *a);
	/* ERR_UNSUPPORTED naming the node when it has none for the region. `m` may
	 * be NULL. */
	bool (*layers)(struct toolchain_layers *out, const struct region *r,
	    const struct toolchain_memory *m, struct arena *a, struct err *err);
	/* Fill file[], of a region that has layers. */
	bool (*write)(
	    FILE *const *file, const struct region *r, struct err *err);
	/* The command line that compiles them; NULL and ERR_UNSUPPORTED as
	 * above. */
	const char *(*command)(
	    const struct region *r, struct arena *a, struct err *err);
	const struct toolchain_package *package; /* NULL: it has none */
	/* In the place of symbol, file, write and command, where files are not
	 * the same of all regions: write them into the kind's folder. */
	bool (*write_region)(const struct outdir *o, const struct region *r,
	    struct arena *a, struct err *err);
};

#define TOOLCHAIN_FILES 4

/* What a plan runs, in order, as the kind's package is given it. */
struct toolchain_step {
	const struct region *region; /* of the kind; NULL: else */
	uint32_t plan_region; /* its id in the plan */
	node_id node; /* what runs outside of the kind's regions */
};

struct toolchain_plan {
	const struct target *target; /* the kind's first in the mix */
	const struct graph *graph;
	uint32_t nsteps;
	const struct toolchain_step *step;
};

/* A function that a package calls, in the order they run. */
struct toolchain_function {
	const char *name; /* as the package's runtime knows it */
	const char *symbol; /* a region's; NULL: code of the package */
	const char *operation; /* "Relu", "layout_transform"; NULL: a region */
	uint32_t index; /* in the package's graph */
	uint32_t region; /* of the plan */
	uint32_t nnodes;
	const node_id *node;
};

struct toolchain_functions {
	uint32_t n;
	const struct toolchain_function *function;
};

/* The whole plan as the device's runtime takes it. Both: ERR_UNSUPPORTED naming
 * the node, the rule and the value when it cannot be told to that runtime. */
struct toolchain_package {
	bool (*functions)(struct toolchain_functions *out,
	    const struct toolchain_plan *p, struct arena *a, struct err *err);
	/* Write its files into `folder` of o. */
	bool (*write)(const struct outdir *o, const char *folder,
	    const struct toolchain_plan *p, struct arena *a, struct err *err);
};

#endif
