/* Inputs to look at a model's values with: given ones, or made up. */
#ifndef EXEC_SAMPLES_H
#define EXEC_SAMPLES_H

#include "ir/graph.h"

struct samples {
	uint32_t n;
	const struct tensor *const *in; /* [n][ninputs]; NULL: made up, the same
					 * every time (seed_sample()) */
};

/* The inputs of sample i, in `a` where they are made up. ERR_UNSUPPORTED naming
 * one without static shape. */
bool samples_take(struct tensor *in, const struct samples *s, uint32_t i,
    const struct graph *g, struct arena *a, struct err *err);

#endif
