/* One sequence in one direction. */
#ifndef TARGETS_NATIVE_VECTOR_LSTM_H
#define TARGETS_NATIVE_VECTOR_LSTM_H

#include "targets/native/lstm_form.h"
#include "targets/native/vector_functions.h"
#include "targets/native/vector_product.h"

/* TUNING: steps whose inputs are multiplied at once; more would push the state's
 * weights out of the cache. */
#define LSTM_STEPS ((size_t)4 * NATIVE_GROUP)
#define LSTM_COLUMNS (LSTM_GATES * NATIVE_WIDTH) /* of a vector of units */

struct lstm_scratch {
	size_t in, hidden, units, columns; /* padded */
	float *rows, *gates, *sum, *h, *next, *c;
};

static inline size_t
whole_vectors(size_t n)
{
	return (n + NATIVE_WIDTH - 1) / NATIVE_WIDTH * NATIVE_WIDTH;
}

static void
lstm_sizes(struct lstm_scratch *s, const struct lstm *l)
{
	s->in = whole_vectors(l->in);
	s->units = whole_vectors(l->hidden);
	s->hidden = s->units; /* as a depth: an even number */
	s->columns = LSTM_GATES * s->units;
}

static struct lstm_room
lstm_room(const struct lstm *l)
{
	struct lstm_scratch s;

	lstm_sizes(&s, l);
	return (struct lstm_room){
	    .input = s.in * s.columns,
	    .state = s.hidden * s.columns,
	    .bias = s.columns,
	    .scratch = LSTM_STEPS * (s.in + s.columns)
	        + NATIVE_GROUP * PAIR_OF_VECTORS + 3 * s.units,
	};
}

static void
lstm_place(struct lstm_scratch *s, float *at)
{
	s->rows = at;
	s->gates = s->rows + LSTM_STEPS * s->in;
	s->sum = s->gates + LSTM_STEPS * s->columns;
	s->h = s->sum + NATIVE_GROUP * PAIR_OF_VECTORS;
	s->next = s->h + s->units;
	s->c = s->next + s->units;
}

/* The row of ONNX's weights that a column is; false: padding. */
static inline bool
lstm_row(const struct lstm *l, size_t column, size_t *row)
{
	const size_t unit =
	    column / LSTM_COLUMNS * NATIVE_WIDTH + column % NATIVE_WIDTH;

	*row = column / NATIVE_WIDTH % LSTM_GATES * l->hidden + unit;
	return unit < l->hidden;
}

/* Rows of `depth` numbers as columns, `across` of them side by side. */
static void
lstm_turn(const struct lstm *l, const float *from, size_t depth, size_t padded,
    size_t columns, size_t across, float *to)
{
	for (size_t column = 0; column < columns; column++) {
		float *at =
		    to + column / across * across * padded + column % across;
		size_t row;
		const bool there = lstm_row(l, column, &row);

		for (size_t k = 0; k < padded; k++)
			at[k * across] =
			    there && k < depth ? from[row * depth + k] : 0;
	}
}

static void
lstm_packed(const struct lstm *l, const struct lstm_weights *w, float *input,
    float *state, float *bias)
{
	struct lstm_scratch s;

	lstm_sizes(&s, l);
	lstm_turn(l, w->input, l->in, s.in, s.columns, PAIR_OF_VECTORS, input);
	lstm_turn(
	    l, w->state, l->hidden, s.hidden, s.columns, LSTM_COLUMNS, state);
	for (size_t column = 0; column < s.columns; column++) {
		size_t row;

		bias[column] = lstm_row(l, column, &row) && w->bias
		    ? w->bias[row] + w->bias[LSTM_GATES * l->hidden + row]
		    : 0;
	}
}

/* Inputs of `rows` steps as products read them; steps are `stride` floats of x apart,
 * backwards where that is negative. */
static void
lstm_rows(const struct lstm *l, const struct lstm_scratch *s, const float *x,
    ptrdiff_t stride, size_t rows)
{
	for (size_t r = 0; r < rows; r++) {
		float *to = s->rows + r / NATIVE_GROUP * NATIVE_GROUP * s->in
		    + r % NATIVE_GROUP * NATIVE_WIDTH;

		for (size_t i = 0; i < s->in; i++)
			to[i / NATIVE_WIDTH * NATIVE_GROUP * NATIVE_WIDTH
			    + i % NATIVE_WIDTH] = i < l->in
			    ? x[(ptrdiff_t)r * stride + (ptrdiff_t)i]
			    : 0;
	}
}

/* What inputs make of the gates of a few steps: two vectors of columns. */
static void
lstm_gates(
    const struct lstm_scratch *s, const float *bias, size_t rows, float *gates)
{
	for (size_t r = 0; r < rows; r++)
		for (size_t j = 0; j < PAIR_OF_VECTORS; j += NATIVE_WIDTH)
			vec_store(gates + r * s->columns + j,
			    vec_load(s->sum + r * PAIR_OF_VECTORS + j)
			        + vec_load(bias + j));
}

static void
lstm_inputs(const struct lstm_scratch *s, const float *weights,
    const float *bias, size_t rows)
{
	for (size_t i = 0; i < s->columns; i += PAIR_OF_VECTORS)
		for (size_t r = 0; r < rows; r += NATIVE_GROUP) {
			const size_t left = rows - r;
			const size_t n =
			    left < NATIVE_GROUP ? left : NATIVE_GROUP;

			product_rows(s->rows + r * s->in, weights + i * s->in,
			    s->in, s->sum, n);
			lstm_gates(
			    s, bias + i, n, s->gates + r * s->columns + i);
		}
}

/* A vector of units: their gates, of even and odd numbers of h apart, so that one sum
 * need not wait for the other. */
static inline void
lstm_units(const struct lstm_scratch *s, const float *gates,
    const float *weights, size_t unit)
{
	const vec none = {0};
	vec i0 = vec_load(gates), i1 = none;
	vec o0 = vec_load(gates + NATIVE_WIDTH), o1 = none;
	vec f0 = vec_load(gates + (size_t)2 * NATIVE_WIDTH), f1 = none;
	vec z0 = vec_load(gates + (size_t)3 * NATIVE_WIDTH), z1 = none;
	vec c;

	for (size_t k = 0; k < s->hidden; k += 2) {
		const vec even = vec_all(s->h[k]), odd = vec_all(s->h[k + 1]);
		const float *w = weights + LSTM_COLUMNS;

		i0 += even * vec_load(weights);
		i1 += odd * vec_load(w);
		o0 += even * vec_load(weights + NATIVE_WIDTH);
		o1 += odd * vec_load(w + NATIVE_WIDTH);
		f0 += even * vec_load(weights + (size_t)2 * NATIVE_WIDTH);
		f1 += odd * vec_load(w + (size_t)2 * NATIVE_WIDTH);
		z0 += even * vec_load(weights + (size_t)3 * NATIVE_WIDTH);
		z1 += odd * vec_load(w + (size_t)3 * NATIVE_WIDTH);
		weights = w + LSTM_COLUMNS;
	}
	c = vec_gated(vec_load(s->c + unit), f0 + f1)
	    + vec_gated(vec_tanh(z0 + z1), i0 + i1);
	vec_store(s->c + unit, c);
	vec_store(s->next + unit, vec_gated(vec_tanh(c), o0 + o1));
}

static void
lstm_step(struct lstm_scratch *s, const float *gates, const float *weights)
{
	float *h = s->h;

	for (size_t unit = 0; unit < s->units; unit += NATIVE_WIDTH)
		lstm_units(s, gates + unit * LSTM_GATES,
		    weights + unit * LSTM_GATES * s->hidden, unit);
	s->h = s->next;
	s->next = h;
}

static void
lstm_begin(const struct lstm *l, const struct lstm_scratch *s,
    const struct lstm_data *d, size_t at)
{
	memset(s->h, 0, s->units * sizeof *s->h);
	memset(s->c, 0, s->units * sizeof *s->c);
	if (d->h)
		memcpy(s->h, d->h + at, l->hidden * sizeof *s->h);
	if (d->c)
		memcpy(s->c, d->c + at, l->hidden * sizeof *s->c);
}

static void
lstm_end(const struct lstm *l, const struct lstm_scratch *s,
    const struct lstm_data *d, size_t at)
{
	if (d->last_h)
		memcpy(d->last_h + at, s->h, l->hidden * sizeof *s->h);
	if (d->last_c)
		memcpy(d->last_c + at, s->c, l->hidden * sizeof *s->c);
}

/* The gates of step i and some after it, as far as inputs make them. */
static void
lstm_ahead(const struct lstm *l, const struct lstm_scratch *s,
    const struct lstm_data *d, size_t direction, size_t entry, size_t i)
{
	const struct lstm_room room = lstm_room(l);
	const bool backward = l->backward || direction > 0;
	const size_t t = backward ? l->steps - 1 - i : i;
	const ptrdiff_t stride = (ptrdiff_t)(l->batch * l->in);
	const size_t left = l->steps - i;
	const size_t rows = left < LSTM_STEPS ? left : LSTM_STEPS;

	lstm_rows(l, s, d->x + (t * l->batch + entry) * l->in,
	    backward ? -stride : stride, rows);
	lstm_inputs(s, l->input + direction * room.input,
	    l->bias + direction * room.bias, rows);
}

static void
lstm_sequence(const struct lstm *l, const struct lstm_data *d, size_t direction,
    size_t entry, float *scratch)
{
	const bool backward = l->backward || direction > 0;
	const size_t state = (direction * l->batch + entry) * l->hidden;
	const size_t step = l->directions * l->batch * l->hidden;
	struct lstm_scratch s;

	lstm_sizes(&s, l);
	lstm_place(&s, scratch);
	lstm_begin(l, &s, d, state);
	for (size_t i = 0; i < l->steps; i++) {
		const size_t t = backward ? l->steps - 1 - i : i;

		if (i % LSTM_STEPS == 0)
			lstm_ahead(l, &s, d, direction, entry, i);
		lstm_step(&s, s.gates + i % LSTM_STEPS * s.columns,
		    l->state + direction * s.hidden * s.columns);
		if (d->y)
			memcpy(d->y + t * step + state, s.h,
			    l->hidden * sizeof *s.h);
	}
	lstm_end(l, &s, d, state);
}

#endif
