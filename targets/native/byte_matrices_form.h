/* Products of two tensors of matrices of bytes, both of which come in, as attention has
 * them: what the kernel, compiled once for each instruction set, and the code around it
 * share. */
#ifndef TARGETS_NATIVE_BYTE_MATRICES_FORM_H
#define TARGETS_NATIVE_BYTE_MATRICES_FORM_H

#include "targets/native/integer_form.h"

struct byte_matrices_form {
	/* One product, of pairs, without weights: those are the second matrix,
	 * [depth][outputs]. */
	struct integer_form each;
	size_t count; /* of products */
	size_t parts; /* of each's blocks of rows, shared out among threads */
	size_t a_step, b_step,
	    to_step; /* bytes from a product's to the next's */
	int32_t b_zero;
	bool b_unsigned;
};

/* Of a run. */
struct byte_matrices_data {
	struct integer_data a;
	const uint8_t *b;
};

/* Numbers of 32 bits that a thread's scratch has to have. */
typedef size_t byte_matrices_room(const struct byte_matrices_form *m);

/* Part `unit` of count * parts; `scratch` is a thread's. `packed`: it holds the second
 * matrix, for the unit before was of the same product. */
typedef void byte_matrices_run(const struct byte_matrices_form *m, size_t unit,
    bool packed, const struct byte_matrices_data *d, int32_t *scratch);

#endif
