/* A chain of operations over every element of a tensor: one pass over memory. */
#ifndef TARGETS_NATIVE_CHAIN_H
#define TARGETS_NATIVE_CHAIN_H

#include "targets/native/steps.h"

/* A tensor that is broadcast to the result: element i of that is element i / inner % n of
 * this. One of the result's shape has n = all of them and inner = 1, one number n = 1. */
struct chain_operand {
	int32_t port; /* or -1, a constant */
	const void *constant;
	size_t inner, n;
};

struct element_chain {
	size_t count; /* floats, padding of blocks included */
	struct chain_operand start;
	struct native_steps steps; /* operands are those of `with` */
	struct chain_operand with[STEPS_MAX];
};

/* Where(condition, a, b), of the same shapes. */
struct element_choice {
	size_t count;
	struct chain_operand condition; /* bytes */
	struct chain_operand with[2];
};

typedef void choice_run(const struct element_choice *c, size_t from, size_t to,
    const void *const *in, float *out);

/* Elements [from, to) of the result; `from` is a whole number of vectors. */
typedef void chain_run(const struct element_chain *c, size_t from, size_t to,
    const void *const *in, float *out);

#endif
