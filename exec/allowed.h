/* By how much an output may differ from what another runtime computed. */
#ifndef EXEC_ALLOWED_H
#define EXEC_ALLOWED_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/graph.h"

/* What a model's arithmetic is like. */
struct allowance {
	const struct graph *graph;
	bool requantises; /* some node does, of sub-graphs as well */
	bool has_half; /* some value has half precision */
};

struct allowance allowance_of(const struct graph *g);

/* What an element of output v may differ by when the largest magnitude of the
 * reference is `range`, whatever the model amplifies (outputs_movable()). */
double output_allowed(const struct allowance *a, value_id v, double range);

/* Which values rest on random numbers, of which every runtime draws its own:
 * [nvalues]. */
const bool *values_drawn(const struct graph *g, struct arena *a);

#endif
