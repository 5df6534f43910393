/* What the parts of a device graph are made with. */
#ifndef TARGETS_MRVL_DEVICE_BUILD_H
#define TARGETS_MRVL_DEVICE_BUILD_H

#include "targets/mrvl/device.h"

struct device_builder {
	struct device *device;
	const struct graph *graph;
	struct arena *arena;
	struct device_ref *place; /* [nvalues] where its plain bytes are */
	bool *placed; /* [nvalues] */
	uint32_t nouts; /* outputs of all functions so far */
	/* the function that is being made */
	uint32_t ninputs;
	struct device_ref *input;
	uint32_t plan_region;
};

/* Where a value is that was made, is an input or is a constant (which becomes a
 * param, once). */
struct device_ref device_place(struct device_builder *b, value_id v);
/* A param that is a table of ours: n numbers. */
struct device_ref device_table(
    struct device_builder *b, const int32_t *table, size_t n);

/* The argument that reads it: a new one, or the one there is. */
uint32_t device_reads(struct device_builder *b, struct device_ref r);

/* "data_3" of argument 3 as C: its pointer. */
const char *device_ctype(enum dtype t); /* NULL: none */

/* A node of the CPU as a function: its body goes to the device's code. */
bool device_add_node(struct device_builder *b, node_id id, struct err *err);
/* A region's output, channels last, as the value it is; a value that is both an
 * output of the model and something else, copied. */
void device_add_permuted(struct device_builder *b, struct device_ref from,
    value_id v, const uint32_t *perm);
void device_add_copy(struct device_builder *b, struct device_ref from);

/* Close a function: its arguments so far, and room for its outputs. */
struct device_function *device_add_function(
    struct device_builder *b, const char *name, uint32_t noutputs);

/* The tensor of a value; false when its type is not static. */
bool device_type_of(
    struct device_type *t, const struct graph *g, value_id v, struct err *err);

#endif
