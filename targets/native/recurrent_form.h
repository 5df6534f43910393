/* LSTM and GRU over whole sequences: the inputs' product for many steps at once, then
 * step by step the product of what went before, and the gates made of both. */
#ifndef TARGETS_NATIVE_RECURRENT_FORM_H
#define TARGETS_NATIVE_RECURRENT_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "targets/team.h"

/* Gates in ONNX's order. */
enum recurrent_cell {
	CELL_LSTM, /* input, output, forget, cell */
	CELL_GRU, /* update, reset, candidate */
	CELL_GRU_LINEAR, /* the candidate is reset behind the product */
};

/* Units are padded to vectors, the depth of the inputs' product likewise. Columns
 * are the units gate by gate, padded to pairs of vectors. */
struct recurrent_layer {
	enum recurrent_cell cell;
	size_t gates, steps, batch, directions, in, hidden;
	bool backward; /* the first direction; a second always is */
	/* Of each direction, one behind the other. */
	const float *input; /* [columns / pair][in][pair], pair: two vectors */
	const float *state; /* panels: [hidden][1 to 4 vectors] */
	const float *bias; /* [columns], [units] of a product that is reset */
};

struct recurrent_data {
	const float *x; /* [steps, batch, in] */
	const float *h, *c; /* [directions, batch, hidden]; NULL: zeros */
	float *
	    y; /* [steps, directions, batch, hidden]; this and others may be NULL */
	float *last_h, *last_c; /* [directions, batch, hidden] */
};

/* Sizes in floats: the packed weights of a direction, a sequence's states, and the
 * scratch of each thread. */
struct recurrent_room {
	size_t input, state, bias, states, scratch;
};

/* Units that threads share out are whole lines of a cache. */
#define RECURRENT_LINE ((size_t)16)

/* A sequence is one thread's, or several make the units of each step, each its own,
 * and meet behind it. */
struct recurrent_share {
	uint32_t part, parts;
	struct team_meeting *meeting; /* of the parts */
	float *states; /* of the sequence */
	float *scratch; /* of the part */
};

/* Weights of one direction as ONNX has them: [gates * hidden, in], [gates * hidden,
 * hidden], [2 * gates * hidden] or NULL. */
struct recurrent_weights {
	const float *input, *state, *bias;
};

typedef struct recurrent_room recurrent_room_of(
    const struct recurrent_layer *l);
typedef void recurrent_pack(const struct recurrent_layer *l,
    const struct recurrent_weights *w, float *input, float *state, float *bias);
/* A share of entry `entry` of the batch in one direction. */
typedef void recurrent_run(const struct recurrent_layer *l,
    const struct recurrent_data *d, size_t direction, size_t entry,
    const struct recurrent_share *share);

#endif
