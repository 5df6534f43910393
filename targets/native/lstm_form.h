/* LSTM over whole sequences: the inputs' product for many steps at once, then step by
 * step the product of what went before, with the gates made in the same loop. */
#ifndef TARGETS_NATIVE_LSTM_FORM_H
#define TARGETS_NATIVE_LSTM_FORM_H

#include <stdbool.h>
#include <stddef.h>

#define LSTM_GATES \
	((size_t)4) /* in ONNX's order: input, output, forget, cell */

/* Units are padded to a vector, the depths of products likewise. Columns of gates
 * are vectors of units, [units / width][gate][width]. */
struct lstm {
	size_t steps, batch, directions, in, hidden;
	bool backward; /* the first direction; a second always is */
	/* Of each direction, one behind the other. */
	const float *input; /* [columns / pair][in][pair], pair: two vectors */
	const float *state; /* [units / width][hidden][gate][width] */
	const float *bias; /* [columns] */
};

struct lstm_data {
	const float *x; /* [steps, batch, in] */
	const float *h, *c; /* [directions, batch, hidden]; NULL: zeros */
	float *
	    y; /* [steps, directions, batch, hidden]; this and others may be NULL */
	float *last_h, *last_c; /* [directions, batch, hidden] */
};

/* Sizes of the packed weights of a direction, and of a sequence's scratch, in
 * floats. */
struct lstm_room {
	size_t input, state, bias, scratch;
};

/* Weights of one direction as ONNX has them: [gate * hidden, in], [gate * hidden,
 * hidden], [2 * gate * hidden] or NULL. */
struct lstm_weights {
	const float *input, *state, *bias;
};

typedef struct lstm_room lstm_room_of(const struct lstm *l);
typedef void lstm_pack(const struct lstm *l, const struct lstm_weights *w,
    float *input, float *state, float *bias);
/* Entry `entry` of the batch in one direction. */
typedef void lstm_run(const struct lstm *l, const struct lstm_data *d,
    size_t direction, size_t entry, float *scratch);

#endif
