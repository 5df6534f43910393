/* How low_import() makes operators of TVM out of a node: what the files
 * low_import*.c share. */
#ifndef TARGETS_MRVL_LOW_IMPORT_H
#define TARGETS_MRVL_LOW_IMPORT_H

#include "targets/mrvl/low.h"

struct import {
	struct lowered *low;
	const struct graph *graph;
	low_id *of; /* [nvalues] */
	struct err *err;
};

/* Makes node `id`; `name` is TVM's. ERR_UNSUPPORTED where upstream throws. */
typedef bool importer(struct import *m, node_id id, const char *name);

#define IMPORT(op, function, name) importer import_##function;
#include "targets/mrvl/low_import.def"
#undef IMPORT

const struct node *import_node_of(const struct import *m, node_id id);
/* Input i as imported, or LOW_NONE. */
low_id import_input(const struct import *m, node_id id, uint32_t i);
const struct dims *import_dims(const struct import *m, low_id id);
uint32_t import_rank(const struct import *m, low_id id);
struct dims import_dims_of_type(const struct type *t); /* rank 0: unknown */
bool dims_are_static(const struct dims *d);

/* An operator of node `id` with the shape and type of its first output. */
struct low import_blank(
    const struct import *m, node_id id, enum low_kind kind, const char *name);
low_id import_add(
    struct import *m, struct low *op, uint32_t nin, const low_id *in);
/* The node's only output is `what`. */
bool import_define(struct import *m, node_id id, low_id what);

/* Steps on the way to the node's value. */
low_id import_scalar(struct import *m, float x);
low_id step_unary(struct import *m, node_id id, const char *name, low_id x);
low_id step_binary(
    struct import *m, node_id id, const char *name, low_id x, low_id y);
low_id step_reshape(
    struct import *m, node_id id, low_id x, const struct dims *to);
low_id step_transpose(
    struct import *m, node_id id, low_id x, const uint32_t *perm);
low_id step_expand(struct import *m, node_id id, low_id x, uint32_t axis);

#endif
