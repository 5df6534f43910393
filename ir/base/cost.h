/* Costs: unsigned integer nanoseconds that saturate. No doubles in search/. */
#ifndef IR_BASE_COST_H
#define IR_BASE_COST_H

#include <stdint.h>

typedef uint64_t cost_ns; /* modelled latency, nanoseconds */
#define COST_NEVER UINT64_MAX /* not "very expensive": impossible */
#define COST_MAX (UINT64_C(1) << 62) /* of one thing, as it is told to us */

/* a + b; COST_NEVER absorbs, and so does what does not fit. */
static inline cost_ns
cost_add(cost_ns a, cost_ns b)
{
	return a > COST_NEVER - b ? COST_NEVER : a + b;
}

/* a - b, at least 0; COST_NEVER stays what it is. */
static inline cost_ns
cost_less(cost_ns a, cost_ns b)
{
	return a == COST_NEVER ? a : a > b ? a - b : 0;
}

#endif
