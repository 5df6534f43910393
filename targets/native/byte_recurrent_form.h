/* An LSTM whose weights are bytes, and whose inputs and states are rounded to bytes in
 * each run: sums of products of bytes, scaled behind them. */
#ifndef TARGETS_NATIVE_BYTE_RECURRENT_FORM_H
#define TARGETS_NATIVE_BYTE_RECURRENT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a row that are multiplied by one instruction. */
#define BYTE_QUAD ((size_t)4)
#define BYTE_GATES ((size_t)4) /* input, output, forget, cell */

/* One of both products' right sides, in one direction or, one behind the other, in all:
 * columns are the units, a vector's gates side by side. */
struct byte_side {
	size_t depth; /* padded to whole quads with zeros */
	const int8_t *codes; /* [units / width][depth / 4][gates][width][4] */
	/* [columns]: what a code is, the codes' sum less as many zeros, a zero. */
	const float *scale;
	const int32_t *sum, *zero;
	bool zeros; /* is any other than 0? */
};

struct byte_layer {
	size_t steps, batch, in, hidden, directions;
	size_t units; /* hidden, padded to vectors */
	bool backward; /* the first direction; a second always is */
	struct byte_side input, state;
	const float *bias; /* [directions][columns] */
};

/* Rows of codes, unsigned: real = (code - zero) * scale of its row, which is NaN where
 * the row has one. */
struct byte_rows {
	const uint8_t *codes; /* [n][depth] */
	const int32_t *sum; /* [n] of codes */
	const float *scale; /* [n] */
	int32_t zero;
};

struct byte_layer_data {
	struct byte_rows x; /* [steps * batch] */
	/* As struct recurrent_data's. */
	const float *h, *c;
	float *y, *last_h, *last_c;
};

/* Where rows of `width` floats go, `depth` bytes apart, those behind them being there. */
struct byte_room {
	size_t width, depth;
	uint8_t *codes;
	int32_t *sum;
	float *scale;
};

/* n rows of floats, `stride` apart, rounded by the range of all as
 * DynamicQuantizeLinear does; what lies between them is 0. */
typedef struct byte_rows byte_rows_run(
    const struct byte_room *to, const float *from, size_t n, size_t stride);
/* Bytes of scratch of a direction. */
typedef size_t byte_layer_room(const struct byte_layer *l);
typedef void byte_layer_run(const struct byte_layer *l,
    const struct byte_layer_data *d, size_t direction, void *scratch);

#endif
