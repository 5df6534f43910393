/* A chain of operations over every element of a tensor: one pass over memory. */
#ifndef TARGETS_NATIVE_CHAIN_H
#define TARGETS_NATIVE_CHAIN_H

#include "targets/native/steps.h"

struct element_chain {
	size_t count; /* floats, padding of blocks included */
	struct native_steps steps;
	int32_t port; /* what it begins with */
};

/* Elements [from, to) of the result; `from` is a whole number of vectors. */
typedef void chain_run(const struct element_chain *c, size_t from, size_t to,
    const void *const *in, float *out);

#endif
