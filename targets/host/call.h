/* One evaluation of one node: what a kernel is given, and the few ways it may
 * answer. */
#ifndef TARGETS_HOST_CALL_H
#define TARGETS_HOST_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/graph.h"
#include "targets/host/access.h"
#include "targets/host/walk.h"

/* Memory an output must be written to (the kernels of a plan). */
struct preset {
	void *data;
	size_t bytes;
};

struct call {
	const struct graph *graph;
	const struct node *node;
	/* [node->ninputs + node->nimplicit]; NULL where left out */
	const struct tensor *const *in;
	struct tensor *out; /* [node->noutputs] */
	const struct preset *preset; /* [node->noutputs], or NULL */
	struct arena *arena; /* of outputs */
	struct arena *scratch; /* given back when the kernel returns */
	uint32_t depth; /* sub-graphs entered so far */
};

/* A kernel: fills every wanted output through host_out(). */
typedef bool kernel_run(struct call *c, struct err *err);

/* Input i, or NULL when it is left out. */
const struct tensor *call_in(const struct call *c, uint32_t i);
/* Does anybody want output i? */
bool call_wants(const struct call *c, uint32_t i);

/* Make output i of that type, zeroed unless preset: out[i] describes it, and
 * `to` (where kernels store) too. ERR_INPUT when it is too large or not what
 * the preset memory was made for. */
bool host_out(struct call *c, uint32_t i, enum dtype dtype,
    const struct shape *shape, struct sink *to, struct err *err);

/* Are these sizes that kernels may multiply without a second thought? Also of
 * a tensor that is empty because one of them is 0. */
bool host_dims_ok(uint32_t rank, const int64_t *dim, struct err *err);
/* Could an output of that type be made? ERR_INPUT when not: to ask before
 * scratch of its size is taken. */
bool host_fits(const struct call *c, enum dtype dtype,
    const struct shape *shape, struct err *err);

/* Make output i a copy of t with another shape of as many elements. */
bool host_out_as(struct call *c, uint32_t i, const struct tensor *t,
    const struct shape *shape, struct err *err);

/* A tensor in scratch of that type. */
bool host_temp(struct call *c, struct tensor *t, enum dtype dtype,
    const struct shape *shape, struct sink *to, struct err *err);

/* Bytes of an element that is only moved; strings move as references, so their
 * characters outlive the value they were made for: until the run ends. */
size_t host_unit(enum dtype t);
/* The content of a VIEW, FILL or STRINGS as bytes, in scratch when it has to be
 * spread out. */
const unsigned char *host_bytes(struct call *c, const struct tensor *t);

/* A copy that shares nothing with t. */
struct tensor tensor_copy(const struct tensor *t, struct arena *a);

/* The characters of n strings are copied into `a`. */
void keep_characters(struct string_view *string, size_t n, struct arena *a);

/* axis in -rank..rank-1 made 0..rank-1. ERR_INPUT otherwise. */
bool axis_of(int64_t axis, uint32_t rank, uint32_t *out, struct err *err);

/* The ints of a 1-d (or 0-d) integer input in scratch; *n of them. */
const int64_t *input_ints(struct call *c, uint32_t i, uint32_t *n);

/* Attribute `name`, or (when the node has none) input i; NULL: neither. The
 * way axes, pads, sizes moved from attribute to input over the opsets. */
const int64_t *ints_of(
    struct call *c, const char *name, uint32_t i, uint32_t *n);

/* ERR_UNSUPPORTED. host_eval() puts operator, version and dtype before it. */
#define refuse(err, ...) err_set(err, ERR_UNSUPPORTED, __VA_ARGS__)

#endif
