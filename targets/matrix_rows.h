/* A large constant matrix read some rows at a time, to be packed: no more of the
 * model's numbers is in memory, read, widened or written out, than those rows. */
#ifndef TARGETS_MATRIX_ROWS_H
#define TARGETS_MATRIX_ROWS_H

#include "ir/tensor.h"

struct matrix_rows {
	const struct tensor *t;
	float factor;
	size_t row; /* numbers of one */
	float *floats; /* room for some; NULL: they are read where they lie */
};

/* Is it so large, and of a kind, that it can and should be read so? */
bool matrix_is_large(const struct tensor *t);

/* Rows of `row` numbers each, times a factor, at most `most` at a time; room for
 * those in `a`. */
void matrix_rows_open(struct matrix_rows *m, const struct tensor *t,
    float factor, size_t row, size_t most, struct arena *a);

/* Rows first.. as floats, until the next are read. */
const float *matrix_rows_read(struct matrix_rows *m, size_t first, size_t n);

/* Numbers from.. of one row, n of them. */
void matrix_part_read(
    const struct matrix_rows *m, size_t row, size_t from, size_t n, float *to);

/* They are packed: nobody needs the model's in memory for now. */
void matrix_rows_let_go(const struct matrix_rows *m, size_t first, size_t n);

#endif
