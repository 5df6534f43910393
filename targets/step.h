/* One pointwise step of a composite, and the scalars it is made with. */
#ifndef TARGETS_STEP_H
#define TARGETS_STEP_H

#include <stdbool.h>

#include "ir/graph.h"

enum step_kind {
	STEP_RELU, /* x < 0 ? alpha * x : x */
	STEP_ELU, /* alpha */
	STEP_CLIP, /* alpha..beta: infinite where there is no bound */
	STEP_LINEAR, /* alpha * x + beta */
	STEP_SIGMOID,
	STEP_TANH,
	STEP_HARDSWISH,
	STEP_SWISH, /* x * sigmoid(alpha * x) */
	STEP_GELU_ERF,
	STEP_GELU_TANH,
	STEP_MISH,
	STEP_SOFTPLUS,
	STEP_EXP,
	STEP_LOG,
	STEP_SQRT,
	STEP_ABS,
	STEP_SQUARE,
	STEP_POW, /* x ^ beta */
	STEP_ROUND, /* half to even */
	STEP_ADD, /* of another tensor, as all that follow */
	STEP_SUB,
	STEP_MUL,
	STEP_DIV,
	STEP_MAX,
	STEP_MIN,
};

struct step {
	enum step_kind kind;
	float alpha, beta;
	value_id other; /* the second operand, or VALUE_NONE */
	bool swapped; /* other is the left operand */
};

/* Does the step have a second operand? */
bool step_is_binary(enum step_kind kind);

/* The only element of a constant with one element; false when it is none. */
bool constant_scalar(const struct graph *g, value_id v, float *x);

#endif
