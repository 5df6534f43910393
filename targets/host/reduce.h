/* Groups of elements that a set of axes makes: what reductions and some
 * normalisations work on. */
#ifndef TARGETS_HOST_REDUCE_H
#define TARGETS_HOST_REDUCE_H

#include "targets/host/call.h"

struct reduction {
	uint32_t rank;
	bool reduced[RANK_MAX];
	struct shape outer, inner; /* kept and reduced dims, in order */
	ptrdiff_t outer_stride[RANK_MAX], inner_stride[RANK_MAX];
	size_t groups, n; /* groups of n elements */
};

bool reduction_of(struct reduction *r, const struct tensor *x,
    const int64_t *axis, uint32_t n, struct err *err);
/* The result's shape: reduced axes are 1, or gone. */
struct shape reduction_shape(const struct reduction *r, bool keep);
/* The elements of a group in C order, out of x and back into a tensor of the
 * same shape. */
void reduction_load(
    const struct reduction *r, const struct tensor *x, size_t g, double *to);
void reduction_store(const struct reduction *r, const struct sink *to, size_t g,
    const double *from);

/* The axes attribute or input 1; none given means all (or, under
 * noop_with_empty_axes, none). */
const int64_t *reduction_axes(struct call *c, uint32_t *n);

#endif
