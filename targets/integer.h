/* Convolutions and products of 8-bit integers, as kinds read them: ConvInteger,
 * MatMulInteger, QLinearConv, QLinearMatMul. */
#ifndef TARGETS_INTEGER_H
#define TARGETS_INTEGER_H

#include "targets/target.h"

/* Which input is what. */
struct integer_places {
	uint32_t w, x_zero, w_zero;
	bool is_conv, requantises;
};

const struct integer_places *integer_places(const struct node *n);

/* The predicate: 8-bit tensors of known shape, constant weights and scales. What
 * is read below must have passed it. */
bool accept_integer(const struct match_in *m, struct why *why);
/* The same of one node of a match; convolutions over two dimensions. */
bool need_integer(
    const struct match_in *m, struct why *why, const struct node *n);

/* Weights are [outputs][depth], or [depth][outputs]; convolutions over one or two. */
bool need_integer_of(const struct match_in *m, struct why *why,
    const struct node *n, bool by_output);

/* Of an operator that requantises: round((sum + bias) * multiplier) + zero. */
struct requantising {
	const float *multiplier; /* [outputs]; x_scale * w_scale / y_scale */
	const int32_t *bias; /* [outputs], or NULL */
	float zero;
	bool is_unsigned;
};

/* false: a multiplier or a bias is out of range. */
bool requantising_of(struct requantising *q, const struct graph *g,
    const struct node *n, size_t outputs, struct arena *a);

/* The constant that an input is, or NULL. */
const struct tensor *integer_constant(
    const struct graph *g, const struct node *n, uint32_t input);
/* Are all of a constant's numbers x? */
bool integers_are(const struct tensor *t, double x);
/* Number i of one or many; 0 where there is none. */
float integer_entry(const struct tensor *t, size_t i);
/* The first n of these. */
float *integer_entries(const struct tensor *t, size_t n, struct arena *a);

/* Weights are int8 around 0, or uint8 around 128. */
bool need_middle_zero(
    const struct match_in *m, struct why *why, const struct node *n);
/* Weights as int8: uint8 less 128; and what is zero among them, [outputs]. */
int8_t *integer_steps(const struct tensor *w, struct arena *a);
int32_t *integer_zeros(const struct graph *g, const struct node *n,
    size_t outputs, struct arena *a);

#endif
