/* What a run of a plan takes, of loops at several moments and in several processes. */
#ifndef EXEC_LOOPS_H
#define EXEC_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/cost.h"

#define LOOPS_MOST 16

struct loops {
	cost_ns took[LOOPS_MOST];
	uint32_t n;
};

/* What does not fit is dropped. */
void loops_add(struct loops *l, cost_ns took);

/* The median of those that are near the least, the lower one of two; 0: there are none.
 * Where memory lies makes some per cent, to both sides; neighbours make more, and only
 * longer. */
cost_ns loops_typical(const struct loops *l);

/* Were neighbours busy in too many, or, more than a plan takes whose parts have such
 * prices in sum, in all? `prices` 0: it has none. */
bool loops_are_unsure(const struct loops *l, cost_ns prices);

#endif
