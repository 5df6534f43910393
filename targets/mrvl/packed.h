/* Constants as the backend wants them (OHWI kernels, summed biases), kept as a
 * recipe over the model's own bytes and computed while they are written: a
 * 500 MB model needs no second copy. */
#ifndef TARGETS_MRVL_PACKED_H
#define TARGETS_MRVL_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/graph.h"

#define DIMS_MAX 8

struct dims {
	uint32_t rank;
	int64_t dim[DIMS_MAX];
};

/* Element [i0, i1, ...] is
 *	scale * tensor[sum of i_k * stride_k] + shift + plus[same index]. */
struct packed {
	struct dims dims;
	const struct tensor *tensor; /* float32 */
	int64_t stride[DIMS_MAX]; /* in elements; 0 broadcasts */
	float scale, shift;
	const struct packed *plus; /* of the same dims, or NULL */
	value_id value; /* the graph's constant, for maps; or VALUE_NONE */
};

/* Product of the dimensions; they are static and come from checked tensors. */
size_t dims_count(const struct dims *d);
bool dims_equal(const struct dims *a, const struct dims *b);
struct dims dims_of(const struct type *t); /* static, rank <= DIMS_MAX */
struct dims dims_permuted(const struct dims *d, const uint32_t *perm);
struct dims dims_make(uint32_t rank, const int64_t *dim);

/* A constant as it is. */
struct packed packed_of(const struct graph *g, value_id v);
/* The same of a tensor that stands for a value. */
struct packed packed_of_tensor(const struct tensor *t, value_id v);
/* Axis k of the result is axis perm[k]. */
struct packed packed_permuted(const struct packed *k, const uint32_t *perm);
/* Broadcast to `to` (numpy's rule); false when it does not fit. */
bool packed_broadcast(struct packed *k, const struct dims *to);

/* Elements [from, from + n) in C order. */
void packed_read(const struct packed *k, size_t from, size_t n, float *out);

/* Smallest and largest element; NaN is skipped. */
void packed_range(const struct packed *k, float *min, float *max);

#endif
