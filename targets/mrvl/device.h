/* A plan as today's driver of the device takes it (DPDK, drivers/ml/cnxk):
 * TVM's graph executor's three files, mod.so, mod.json and mod.params. The graph
 * of mod.json calls a function of mod.so for each region of the device, and one
 * of plain C for each node that runs elsewhere.
 * SOURCE: TVM legacy-v0.19.post, graph_executor.h, file_utils.cc, ndarray.h,
 * library_module.cc, mrvl_hw_runtime.cc; DPDK, tvmrt_ml_model.c. */
#ifndef TARGETS_MRVL_DEVICE_H
#define TARGETS_MRVL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/err.h"
#include "ir/graph.h"
#include "targets/mrvl/packed.h"
#include "targets/mrvl/layer.h"

struct outdir;
struct toolchain_plan;
struct toolchain_package;

/* SOURCE: DPDK, cnxk_ml_io.h. */
#define DEVICE_LAYERS 512u
#define DEVICE_IO 32u
#define DEVICE_RANK 8u

enum device_kind { DEVICE_INPUT, DEVICE_PARAM, DEVICE_FUNCTION };

/* A tensor of the graph: of input, param or function `index`. */
struct device_ref {
	enum device_kind kind;
	uint32_t index, output;
};

struct device_type {
	enum dtype dtype;
	struct dims dims;
};

/* An input of the model, or a constant. */
struct device_source {
	const char *name;
	struct device_type type;
	value_id value; /* VALUE_NONE: a table of ours */
	const struct tensor *content; /* of a param */
};

struct device_output {
	struct device_type type;
	uint32_t storage;
	bool head; /* an output of the model: shares its storage with nobody */
};

#define DEVICE_NO_REGION UINT32_MAX

struct device_function {
	const char *name;
	uint32_t region; /* index into device->region, or DEVICE_NO_REGION */
	uint32_t plan_region;
	const char *operation;
	uint32_t ninputs, noutputs, nnodes;
	uint32_t first; /* of its outputs among those of all functions */
	const struct device_ref *input;
	struct device_output *output;
	const node_id *node;
};

struct device_region {
	struct layers layers;
	const char *options; /* of the compiler */
	int64_t batch;
};

struct device {
	const struct graph *graph;
	uint32_t ninputs, nparams, nfunctions, nregions, nheads;
	uint32_t nstorage; /* those of inputs and params first */
	struct device_source *input, *param;
	struct device_function *function;
	struct device_region *region;
	const struct device_ref *head;
	struct buf code; /* the functions of cpu.c */
};

/* device_release() it, whatever the result. ERR_UNSUPPORTED naming the node, the
 * rule and the value of what cannot be put so. */
bool device_init(struct device *d, const struct toolchain_plan *p,
    struct arena *a, struct err *err);
void device_release(struct device *d);

/* Its number among the graph's nodes; of its output among the entries. */
uint32_t device_node(const struct device *d, struct device_ref r);
uint32_t device_entry(const struct device *d, struct device_ref r);
const struct device_type *device_type(
    const struct device *d, struct device_ref r);
size_t device_bytes(const struct device_type *t);

/* Give every output a storage that nothing which is still to be read uses. */
void device_share_storage(struct device *d, struct arena *a);

void device_write_json(FILE *f, const struct device *d);
void device_write_params(FILE *f, const struct device *d);
void device_write_code(FILE *f, const struct device *d);
/* __tvm_dev_mblob as assembly: binaries are included when it is assembled. */
void device_write_module(FILE *f, const struct device *d);
void device_write_script(FILE *f, const struct device *d);
void device_write_map(FILE *f, const struct device *d);

/* What emit/ writes with. */
extern const struct toolchain_package device_package;

#endif
