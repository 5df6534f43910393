/* What QuantizeLinear and DequantizeLinear say of codes. */
#ifndef TARGETS_QUANTISER_H
#define TARGETS_QUANTISER_H

#include "ir/graph.h"

/* Inputs 1 and 2. */
struct quantiser {
	value_id scale, zero; /* zero: VALUE_NONE where it is left out */
	const struct tensor *scales, *zeros; /* zeros: NULL then */
	enum dtype dtype; /* of the codes */
};

/* false: they are not constants, or of blocks. */
bool quantiser_read(
    struct quantiser *q, const struct graph *g, const struct node *n);
/* Of a value: 8 bits, one scale, positive. */
bool quantiser_is_plain(const struct quantiser *q);
/* Of weights t: 8 bits, one scale, or one for each index of a dimension. */
bool quantiser_is_of_axis(const struct quantiser *q, const struct node *n,
    const struct type *t, uint32_t axis);
/* A bias: whole numbers of the sums' own scale, around 0, or nothing but zeros. */
bool quantiser_is_of_sums(const struct graph *g, const struct node *n,
    const struct quantiser *x, const struct quantiser *weights);
/* Does a rectifier before it change nothing: is the least code 0? */
bool quantiser_bounds_below(const struct quantiser *q);

#endif
