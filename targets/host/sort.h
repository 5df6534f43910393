/* A stable sort of indices by what they refer to. */
#ifndef TARGETS_HOST_SORT_H
#define TARGETS_HOST_SORT_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/arena.h"
#include "ir/tensor.h"

/* Does what `a` refers to come before what `b` does? */
typedef bool comes_before(const void *ctx, size_t a, size_t b);

/* 0..n-1 in order, in `a`. */
size_t *sorted_indices(
    size_t n, comes_before *before, const void *ctx, struct arena *a);

/* A number whose unsigned order is the order of the elements; NaN is last. */
uint64_t order_key(const struct tensor *t, size_t i);

#endif
