/* The right side of a product in fewer bits than a float, unpacked a few columns at
 * a time: weights in blocks of 4 or 8 bits (MatMulNBits), halves (MatMul). */
#ifndef TARGETS_NARROW_H
#define TARGETS_NARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/graph.h"

struct narrow {
	size_t depth, columns;
	bool by_column; /* a column is unpacked as a row: [n][depth] */
	uint32_t bits; /* 4 or 8: blocks; 16: halves, [depth][columns] */
	uint32_t block_shift; /* log2 of the codes a block has */
	size_t blocks; /* of a column */
	const unsigned char *codes;
	const float *scale; /* [columns][blocks] */
	const float *zero; /* likewise: a weight is (code - zero) * scale */
};

/* Why the node's second operand is none of these, or NULL. */
const char *narrow_fault(const struct graph *g, const struct node *n);

/* That of a node without fault; what is small is unpacked in `a`. */
void narrow_open(struct narrow *p, const struct graph *g, const struct node *n,
    struct arena *a);

/* MatMulNBits' bias as floats, or NULL. */
const float *narrow_bias(
    const struct graph *g, const struct node *n, struct arena *a);

/* Columns from..from+n as floats: [n][depth] or [depth][n]. */
void narrow_unpack(const struct narrow *p, size_t from, size_t n, float *to);

#endif
