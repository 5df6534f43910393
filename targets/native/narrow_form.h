/* Products with weights in blocks of 4 or 8 bits, unpacked in registers. */
#ifndef TARGETS_NATIVE_NARROW_FORM_H
#define TARGETS_NATIVE_NARROW_FORM_H

#include "targets/narrow.h"

/* Rows that are multiplied at once, and columns. */
#define NARROW_ROWS 8
#define NARROW_COLUMNS 2

struct narrow_form {
	struct narrow weights;
	size_t rows;
	size_t stride; /* floats of a row as it is packed */
	const float *bias; /* [columns], or NULL */
};

/* Floats that a packed row takes: whole vectors of codes. */
typedef size_t narrow_stride_of(const struct narrow *w);

/* Bring `rows` rows of floats, [rows][depth], into the order in which codes are
 * unpacked, [rows][stride], with zeros behind them. */
typedef void narrow_pack_run(
    const struct narrow_form *f, const float *from, float *to);

/* Columns [from, to) of the result, [rows][columns], of packed rows. */
typedef void narrow_run(const struct narrow_form *f, const float *packed,
    size_t from, size_t to, float *result);

#endif
