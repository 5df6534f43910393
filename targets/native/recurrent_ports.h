/* What goes into sequences of recurrent cells and comes out, in floats: LSTM, GRU, and
 * DynamicQuantizeLSTM, whose inputs and outputs stand alike. */
#ifndef TARGETS_NATIVE_RECURRENT_PORTS_H
#define TARGETS_NATIVE_RECURRENT_PORTS_H

#include "targets/target.h"

/* Inputs and outputs of the operators; those of cells are LSTM's alone. */
enum { X, INPUT_WEIGHTS, STATE_WEIGHTS, BIAS, LENGTHS, FIRST_H, FIRST_C };
enum { Y, LAST_H, LAST_C, NOUTPUTS };

struct recurrent_ports {
	int32_t x, first[2], out[NOUTPUTS]; /* < 0: none */
	const float *start[2]; /* states that are constants, or NULL */
};

struct recurrent_ports recurrent_ports_of(const struct graph *g,
    const struct node *n, const struct candidate *c, struct arena *a);

/* Where they lie in a run; NULL: none. */
struct recurrent_places {
	const float *x, *start[2];
	float *out[NOUTPUTS];
};

struct recurrent_places recurrent_places_of(
    const struct recurrent_ports *p, const void *const *in, void *const *out);

#endif
