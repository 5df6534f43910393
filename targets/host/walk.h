/* Strided iteration over several operands at once, written once: broadcasting,
 * transposing, slicing, reducing are all a walk with the right strides.
 *
 *	walk_init(&w, rank, dim);
 *	walk_operand(&w, strides_of_a); walk_operand(&w, strides_of_b);
 *	for (walk_start(&w); !w.done; walk_next(&w))
 *		a row of w.n elements: operand k begins at w.at[k] and its
 *		elements are w.step[k] apart
 */
#ifndef TARGETS_HOST_WALK_H
#define TARGETS_HOST_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/tensor.h"

#define WALK_OPERANDS 4

struct walk {
	uint32_t rank, noperands;
	int64_t dim[RANK_MAX];
	ptrdiff_t stride[WALK_OPERANDS][RANK_MAX];
	int64_t index[RANK_MAX];
	bool done;
	size_t n; /* of a row; never 0 while not done */
	ptrdiff_t step[WALK_OPERANDS];
	ptrdiff_t at[WALK_OPERANDS]; /* in elements; may start above 0 */
};

void walk_init(struct walk *w, uint32_t rank, const int64_t *dim);
/* Add an operand; strides in elements, 0 repeats. */
void walk_operand(struct walk *w, const ptrdiff_t *stride);
/* Merge what is adjacent and go to the first row. at[] begins at 0; a caller
 * whose operand begins elsewhere adds its offset to what it reads. */
void walk_start(struct walk *w);
void walk_next(struct walk *w);

/* Strides of C order. */
void strides_of(uint32_t rank, const int64_t *dim, ptrdiff_t *stride);
/* Strides with which a tensor of (rank, dim) is read as if it had been
 * broadcast to out_rank dims: numpy's rule, ranks aligned at the right. */
void broadcast_strides(uint32_t rank, const int64_t *dim, uint32_t out_rank,
    const int64_t *out_dim, ptrdiff_t *stride);

/* A shape being made. */
struct shape {
	uint32_t rank;
	int64_t dim[RANK_MAX];
};
struct shape shape_of(const struct tensor *t);
/* s = s broadcast with (rank, dim); false when they do not fit. */
bool shape_broadcast(struct shape *s, uint32_t rank, const int64_t *dim);
/* Product of dim[from..to). */
size_t shape_count(const int64_t *dim, uint32_t from, uint32_t to);

/* Copy elements of `size` bytes between strided places. */
void copy_strided(struct walk *w, void *to, const void *from, size_t size);

#endif
