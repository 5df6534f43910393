/* Products of matrices in C order, by one thread or cut among the team: OpenBLAS itself
 * runs with one thread. Only files of this folder include it. */
#ifndef TARGETS_BLAS_MULTIPLY_H
#define TARGETS_BLAS_MULTIPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* to = alpha * left * right + beta * to; strides are of rows, of turned ones too. */
struct multiplication {
	bool turn_left, turn_right;
	size_t rows, inner, columns;
	float alpha, beta;
	const float *left, *right;
	size_t left_stride, right_stride;
	float *to;
	size_t to_stride;
};

struct result_block {
	size_t row, rows, column, columns;
};

/* Equal blocks but for the last ones, `down` times `across`. */
struct cutting {
	size_t rows, columns; /* of the result */
	struct result_block block; /* its size: that of the first one */
	size_t down, across;
	uint32_t lanes; /* that so much work keeps busy */
};

/* How `times` products of that size are cut: into blocks of about the same work for each
 * thread, as square as can be; into one where they are many or small. */
struct cutting cut_of(size_t rows, size_t inner, size_t columns, size_t times);
/* Blocks of that many rows and columns at most. */
void cut_smaller(struct cutting *c, size_t rows, size_t columns);
/* Block i, row by row. */
struct result_block cut_block(const struct cutting *c, size_t i);

/* One block of a product, in the calling thread. */
void multiply_block(
    const struct multiplication *m, const struct result_block *b);
/* All of it, by the team; not in one of its threads. */
void multiply(const struct multiplication *m);

#endif
