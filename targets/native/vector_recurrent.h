/* One sequence in one direction, or a part of its units. */
#ifndef TARGETS_NATIVE_VECTOR_RECURRENT_H
#define TARGETS_NATIVE_VECTOR_RECURRENT_H

#include "targets/native/recurrent_form.h"
#include "targets/native/vector_functions.h"
#include "targets/native/vector_product.h"

/* TUNING: steps whose inputs are multiplied at once; more would push the state's
 * weights out of the cache. */
#define STEPS_AHEAD ((size_t)4 * NATIVE_GROUP)
/* Vectors of a panel of the state's weights: their sums fit the registers twice. */
#define PANEL_VECTORS ((size_t)4)

struct recurrent_scratch {
	size_t in, units, columns; /* padded */
	size_t first, end; /* units that this thread makes */
	float *rows, *gates, *pair, *sum;
	float *h, *next, *c; /* the sequence's */
};

static inline size_t
whole_vectors(size_t n)
{
	return (n + NATIVE_WIDTH - 1) / NATIVE_WIDTH * NATIVE_WIDTH;
}

static void
recurrent_sizes(struct recurrent_scratch *s, const struct recurrent_layer *l)
{
	const size_t pairs = PAIR_OF_VECTORS;

	s->in = whole_vectors(l->in);
	s->units = whole_vectors(l->hidden);
	s->columns = (l->gates * s->units + pairs - 1) / pairs * pairs;
}

static struct recurrent_room
recurrent_rooms(const struct recurrent_layer *l)
{
	struct recurrent_scratch s;

	recurrent_sizes(&s, l);
	return (struct recurrent_room){
	    .input = s.in * s.columns,
	    .state = l->hidden * l->gates * s.units,
	    .bias = s.columns + s.units,
	    .states = 3 * s.units,
	    .scratch = STEPS_AHEAD * (s.in + s.columns)
	        + NATIVE_GROUP * PAIR_OF_VECTORS + s.columns,
	};
}

static void
recurrent_place(
    struct recurrent_scratch *s, const struct recurrent_share *share)
{
	s->rows = share->scratch;
	s->gates = s->rows + STEPS_AHEAD * s->in;
	s->pair = s->gates + STEPS_AHEAD * s->columns;
	s->sum = s->pair + NATIVE_GROUP * PAIR_OF_VECTORS;
	s->h = share->states;
	s->next = s->h + s->units;
	s->c = s->next + s->units;
}

static inline size_t
least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Whole panels of a GRU's, whose candidates are multiplied by panels of units. */
static void
recurrent_units(struct recurrent_scratch *s, const struct recurrent_layer *l,
    const struct recurrent_share *share)
{
	const size_t panel =
	    (l->cell == CELL_LSTM ? 1 : PANEL_VECTORS) * NATIVE_WIDTH;
	const size_t together = panel > RECURRENT_LINE ? panel : RECURRENT_LINE;
	const size_t all = (s->units + together - 1) / together;

	s->first = all * share->part / share->parts * together;
	s->end = least_of(
	    s->units, all * (share->part + 1) / share->parts * together);
}

/* ---- packed ---- */

/* Gates of a unit that one product makes, side by side; a GRU's third is made by
 * another. */
static inline size_t
gates_together(const struct recurrent_layer *l)
{
	return l->cell == CELL_LSTM ? 4 : 2;
}

/* The row of ONNX's weights that a column is; false: padding. */
static inline bool
recurrent_row(const struct recurrent_layer *l,
    const struct recurrent_scratch *s, size_t column, size_t *row)
{
	const size_t together = gates_together(l), at = column / NATIVE_WIDTH;
	size_t gate = column / s->units, unit = column % s->units;

	if (gate < together) {
		gate = at % together;
		unit = at / together * NATIVE_WIDTH + column % NATIVE_WIDTH;
	}
	*row = gate * l->hidden + unit;
	return gate < l->gates && unit < l->hidden;
}

/* Rows of `depth` numbers as `across` columns side by side, from the first on. */
static void
turn_panel(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *from, size_t depth, size_t padded, size_t first, size_t across,
    float *to)
{
	for (size_t j = 0; j < across; j++) {
		size_t row;
		const bool there = recurrent_row(l, s, first + j, &row);

		for (size_t k = 0; k < padded; k++)
			to[k * across + j] =
			    there && k < depth ? from[row * depth + k] : 0;
	}
}

static inline size_t
vectors_of_panel(size_t left)
{
	return left < PANEL_VECTORS ? left : PANEL_VECTORS;
}

/* Those columns' weights of the state, which are multiplied at once. */
static void
turn_state(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *from, size_t column, size_t end, float *to)
{
	while (column < end) {
		const size_t across =
		    vectors_of_panel((end - column) / NATIVE_WIDTH)
		    * NATIVE_WIDTH;

		turn_panel(l, s, from, l->hidden, l->hidden, column, across,
		    to + column * l->hidden);
		column += across;
	}
}

/* Both products' biases add up, but where the second is reset first. */
static void
place_biases(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *from, float *to)
{
	float *reset = to + s->columns;
	const size_t plain =
	    l->cell == CELL_GRU_LINEAR ? 2 * s->units : s->columns;
	size_t row;

	memset(to, 0, (s->columns + s->units) * sizeof *to);
	for (size_t i = 0; from && i < s->columns; i++) {
		float *second = i < plain ? to + i : reset + (i - plain);

		if (!recurrent_row(l, s, i, &row))
			continue;
		to[i] = from[row];
		*second += from[l->gates * l->hidden + row];
	}
}

static void
recurrent_packed(const struct recurrent_layer *l,
    const struct recurrent_weights *w, float *input, float *state, float *bias)
{
	struct recurrent_scratch s;
	size_t first;

	recurrent_sizes(&s, l);
	first = gates_together(l) * s.units;
	for (size_t i = 0; i < s.columns; i += PAIR_OF_VECTORS)
		turn_panel(l, &s, w->input, l->in, s.in, i, PAIR_OF_VECTORS,
		    input + i * s.in);
	turn_state(l, &s, w->state, 0, first, state);
	turn_state(l, &s, w->state, first, l->gates * s.units, state);
	place_biases(l, &s, w->bias, bias);
}

/* ---- the inputs' product ---- */

/* Inputs of `rows` steps as products read them; steps are `stride` floats of x apart,
 * backwards where that is negative. */
static void
input_rows(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *x, ptrdiff_t stride, size_t rows)
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
input_gates(const struct recurrent_scratch *s, const float *bias, size_t rows,
    float *gates)
{
	for (size_t r = 0; r < rows; r++)
		for (size_t j = 0; j < PAIR_OF_VECTORS; j += NATIVE_WIDTH)
			vec_store(gates + r * s->columns + j,
			    vec_load(s->pair + r * PAIR_OF_VECTORS + j)
			        + vec_load(bias + j));
}

/* Columns from first on; those behind the last are padding. */
static void
input_product(const struct recurrent_scratch *s, const float *weights,
    const float *bias, size_t rows, size_t first, size_t end)
{
	for (size_t i = first; i < end; i += PAIR_OF_VECTORS)
		for (size_t r = 0; r < rows; r += NATIVE_GROUP) {
			const size_t n = least_of(rows - r, NATIVE_GROUP);

			product_rows(s->rows + r * s->in, weights + i * s->in,
			    s->in, s->pair, n);
			input_gates(
			    s, bias + i, n, s->gates + r * s->columns + i);
		}
}

/* ---- the state's product ---- */

/* Even and odd numbers of h apart, so that one sum need not wait for the other. */
#define SUM_START(g) \
	vec even##g = vec_load(start + (size_t)g * NATIVE_WIDTH), odd##g = {0};
#define SUM_EVEN(g) even##g += even * vec_load(w + (size_t)g * NATIVE_WIDTH);
#define SUM_ODD(g) odd##g += odd * vec_load(second + (size_t)g * NATIVE_WIDTH);
#define SUM_STORE(g) \
	vec_store(sum + (size_t)g * NATIVE_WIDTH, even##g + odd##g);

/* sum[n] = start[n] + h w: h is [depth], w a panel [depth][n], n in vectors. */
#define SUMS(n) \
	ALWAYS void sums_##n(const float *restrict h, size_t depth, \
	    const float *restrict w, const float *start, float *sum) \
	{ \
		ROWS_##n(SUM_START) for (; depth > 1; depth -= 2, h += 2) \
		{ \
			const vec even = vec_all(h[0]), odd = vec_all(h[1]); \
			const float *second = w + (size_t)n * NATIVE_WIDTH; \
\
			ROWS_##n(SUM_EVEN) ROWS_##n(SUM_ODD) w = \
			    second + (size_t)n * NATIVE_WIDTH; \
		} \
		if (depth > 0) { \
			const vec even = vec_all(*h); \
\
			ROWS_##n(SUM_EVEN) \
		} \
		ROWS_##n(SUM_STORE) \
	}

SUMS(1)
SUMS(2)
SUMS(3)
SUMS(4)

/* Up to four vectors of gates, as turn_state() laid their weights. */
static inline void
panel_sums(const float *h, size_t depth, const float *w, const float *start,
    size_t n, float *sum)
{
	if (n == 4)
		sums_4(h, depth, w, start, sum);
	else if (n == 3)
		sums_3(h, depth, w, start, sum);
	else if (n == 2)
		sums_2(h, depth, w, start, sum);
	else
		sums_1(h, depth, w, start, sum);
}

/* ---- a step ---- */

/* The packed weights of a direction. */
struct recurrent_packs {
	const float *input, *state, *bias;
};

static void
lstm_step(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *gates, const float *weights)
{
	const float *i = s->sum, *o = i + NATIVE_WIDTH, *f = o + NATIVE_WIDTH;
	const float *z = f + NATIVE_WIDTH;

	for (size_t k = s->first; k < s->end; k += NATIVE_WIDTH) {
		vec c;

		sums_4(s->h, l->hidden, weights + 4 * k * l->hidden,
		    gates + 4 * k, s->sum);
		c = vec_gated(vec_load(s->c + k), vec_load(f))
		    + vec_gated(vec_tanh(vec_load(z)), vec_load(i));
		vec_store(s->c + k, c);
		vec_store(s->next + k, vec_gated(vec_tanh(c), vec_load(o)));
	}
}

/* The update and reset gates, two vectors of units at a time; in c what the latter
 * lets through of the state, where the candidate's product takes that. */
static void
gru_gates(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *gates, const float *weights)
{
	const size_t end = 2 * s->end;

	for (size_t k = 2 * s->first; k < end;
	     k += PANEL_VECTORS * NATIVE_WIDTH) {
		const size_t n = vectors_of_panel((end - k) / NATIVE_WIDTH);

		panel_sums(s->h, l->hidden, weights + k * l->hidden, gates + k,
		    n, s->sum + k);
		for (size_t j = 0; l->cell == CELL_GRU && j < n; j += 2) {
			const size_t at = k + j * NATIVE_WIDTH;

			vec_store(s->c + at / 2,
			    vec_gated(vec_load(s->h + at / 2),
			        vec_load(s->sum + at + NATIVE_WIDTH)));
		}
	}
}

/* A vector of units: y is its candidate's product. */
static inline void
gru_unit(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *gates, const float *y, size_t unit)
{
	const float *z = s->sum + 2 * unit, *r = z + NATIVE_WIDTH;
	vec n = vec_load(y);

	if (l->cell == CELL_GRU_LINEAR)
		n = vec_load(gates + 2 * s->units + unit)
		    + vec_gated(n, vec_load(r));
	n = vec_tanh(n);
	vec_store(s->next + unit,
	    n + vec_gated(vec_load(s->h + unit) - n, vec_load(z)));
}

/* The candidates' product reads what was let through of all units. */
static void
gru_step(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const struct recurrent_share *share, const float *gates,
    const struct recurrent_packs *w)
{
	const bool linear = l->cell == CELL_GRU_LINEAR;
	const float *start =
	    linear ? w->bias + s->columns : gates + 2 * s->units;
	const float *weights = w->state + 2 * s->units * l->hidden;
	float *y = s->sum + 2 * s->units;

	gru_gates(l, s, gates, w->state);
	if (!linear)
		team_meet(share->meeting, share->parts);
	for (size_t k = s->first; k < s->end;
	     k += PANEL_VECTORS * NATIVE_WIDTH) {
		const size_t n = vectors_of_panel((s->end - k) / NATIVE_WIDTH);

		panel_sums(linear ? s->h : s->c, l->hidden,
		    weights + k * l->hidden, start + k, n, y + k);
		for (size_t j = 0; j < n; j++)
			gru_unit(l, s, gates, y + k + j * NATIVE_WIDTH,
			    k + j * NATIVE_WIDTH);
	}
}

/* ---- a sequence ---- */

/* Units of this thread that are none of the padding. */
static inline size_t
units_there(const struct recurrent_layer *l, const struct recurrent_scratch *s)
{
	const size_t end = least_of(s->end, l->hidden);

	return end > s->first ? end - s->first : 0;
}

/* This thread's units of a state, from `at` on of the caller's or zeros. */
static void
state_begin(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *from, size_t at, float *state)
{
	memset(state + s->first, 0, (s->end - s->first) * sizeof *state);
	if (from)
		memcpy(state + s->first, from + at + s->first,
		    units_there(l, s) * sizeof *state);
}

static void
state_write(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const float *state, float *to, size_t at)
{
	if (to)
		memcpy(to + at + s->first, state + s->first,
		    units_there(l, s) * sizeof *state);
}

/* The gates of step i and some after it, as far as inputs make them. */
static void
gates_ahead(const struct recurrent_layer *l, const struct recurrent_scratch *s,
    const struct recurrent_packs *w, const float *x, bool backward, size_t i)
{
	const size_t t = backward ? l->steps - 1 - i : i;
	const ptrdiff_t stride = (ptrdiff_t)(l->batch * l->in);
	const size_t rows = least_of(l->steps - i, STEPS_AHEAD);
	const size_t n = gates_together(l);

	input_rows(
	    l, s, x + t * l->batch * l->in, backward ? -stride : stride, rows);
	input_product(s, w->input, w->bias, rows, n * s->first, n * s->end);
	if (l->gates > n)
		input_product(s, w->input, w->bias, rows,
		    n * s->units + s->first, n * s->units + s->end);
}

/* Step i; what it makes of the state is h behind it, all of it. */
static void
recurrent_step(const struct recurrent_layer *l, struct recurrent_scratch *s,
    const struct recurrent_share *share, const struct recurrent_packs *w,
    size_t i)
{
	const float *gates = s->gates + i % STEPS_AHEAD * s->columns;
	float *h = s->h;

	if (l->cell == CELL_LSTM)
		lstm_step(l, s, gates, w->state);
	else
		gru_step(l, s, share, gates, w);
	s->h = s->next;
	s->next = h;
	team_meet(share->meeting, share->parts);
}

static void
recurrent_sequence(const struct recurrent_layer *l,
    const struct recurrent_data *d, size_t direction, size_t entry,
    const struct recurrent_share *share)
{
	const bool backward = l->backward || direction > 0;
	const size_t state = (direction * l->batch + entry) * l->hidden;
	const size_t step = l->directions * l->batch * l->hidden;
	const struct recurrent_room room = recurrent_rooms(l);
	const struct recurrent_packs w = {l->input + direction * room.input,
	    l->state + direction * room.state, l->bias + direction * room.bias};
	struct recurrent_scratch s;

	recurrent_sizes(&s, l);
	recurrent_place(&s, share);
	recurrent_units(&s, l, share);
	state_begin(l, &s, d->h, state, s.h);
	state_begin(l, &s, d->c, state, s.c);
	team_meet(share->meeting, share->parts);
	for (size_t i = 0; i < l->steps; i++) {
		const size_t t = backward ? l->steps - 1 - i : i;

		if (i % STEPS_AHEAD == 0)
			gates_ahead(
			    l, &s, &w, d->x + entry * l->in, backward, i);
		recurrent_step(l, &s, share, &w, i);
		state_write(l, &s, s.h, d->y, t * step + state);
	}
	state_write(l, &s, s.h, d->last_h, state);
	state_write(l, &s, s.c, d->last_c, state);
}

#endif
