/* Values held in 8 bits: real = scale * (byte - zero), one scale for a value.
 * Scales are the model's own, where it has quantisers, or come from calibration
 * (exec/ranges.h); formats of 8 bits mean them (struct formats). */
#ifndef TARGETS_QUANT_H
#define TARGETS_QUANT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"

struct quant {
	float scale; /* 0: the value has none */
	int32_t zero;
	bool is_unsigned; /* bytes are uint8, else int8 */
	bool is_own; /* the model says so, not calibration */
};

static inline int32_t
quant_low(const struct quant *q)
{
	return q->is_unsigned ? 0 : -128;
}

static inline int32_t
quant_high(const struct quant *q)
{
	return q->is_unsigned ? 255 : 127;
}

/* The byte of a whole number: saturated. */
static inline uint8_t
quant_store(const struct quant *q, double whole)
{
	const double low = quant_low(q), high = quant_high(q);

	whole = whole < low ? low : whole > high ? high : whole;
	return (uint8_t)(int32_t)whole;
}

/* SOURCE: ONNX QuantizeLinear: the quotient in float32, ties to even. NaN, of
 * which the text says nothing, is zero. */
static inline uint8_t
quant_from_real(const struct quant *q, float x)
{
	const double steps = rint((double)(x / q->scale));

	return quant_store(q, (isnan(steps) ? 0 : steps) + q->zero);
}

/* byte - zero: steps from zero. */
static inline int32_t
quant_steps(const struct quant *q, uint8_t byte)
{
	return (q->is_unsigned ? (int32_t)byte : (int32_t)(int8_t)byte)
	    - q->zero;
}

static inline float
quant_to_real(const struct quant *q, uint8_t byte)
{
	return (float)quant_steps(q, byte) * q->scale;
}

static inline bool
quant_equal(const struct quant *a, const struct quant *b)
{
	return a->scale == b->scale && a->zero == b->zero
	    && a->is_unsigned == b->is_unsigned;
}

/* The least steps that hold [low, high] and zero, in int8. */
struct quant quant_of_range(double low, double high);

/* quant[nvalues]: what the model's own quantisers say of values, on both their
 * sides, and of what only moves such values. How many have one. */
uint32_t quant_own(struct quant *quant, const struct graph *g);

/* What only moves or picks values holds them as they come. */
bool quant_is_move(const struct node *n);

#endif
