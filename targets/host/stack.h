/* Taking a tensor apart along an axis and putting equal ones together: what
 * Loop, Scan and the sequence operators do. */
#ifndef TARGETS_HOST_STACK_H
#define TARGETS_HOST_STACK_H

#include "targets/host/call.h"

/* Index i of axis `axis`, the axis gone, content in `a`. */
struct tensor tensor_pick(
    const struct tensor *t, uint32_t axis, int64_t i, struct arena *a);
/* Indices from..from+n of an axis, kept. */
struct tensor tensor_cut(const struct tensor *t, uint32_t axis, int64_t from,
    int64_t n, struct arena *a);

/* A growing list of tensors. */
struct tensor_list {
	struct tensor *item;
	uint32_t n, cap;
};
/* Append a copy of t, in `a`. */
void tensor_list_add(
    struct tensor_list *l, const struct tensor *t, struct arena *a);

/* Output i = the items side by side along a new axis (stack) or an existing
 * one; ERR_INPUT when they differ otherwise. n > 0. */
bool join(struct call *c, uint32_t i, const struct tensor *item, uint32_t n,
    int64_t axis, bool stack, struct err *err);

#endif
