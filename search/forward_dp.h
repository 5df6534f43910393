/* The general exact search: labels over covered sets, in execution order. It
 * handles every constraint; its labels grow with the number of ideals of the
 * graph, so it is for small or narrow problems, and a beam elsewhere. */
#ifndef SEARCH_ORDER_H
#define SEARCH_ORDER_H

#include "search/budget.h"
#include "search/lagrangian/model.h"
#include "search/solve.h"

/* TUNING: bytes of labels before it becomes a beam, unless told. */
#define ORDER_MEMORY (UINT64_C(128) << 20)

struct forward_limits {
	cost_ns upper; /* only covers cheaper than this are looked for */
	const cost_ns *guess; /* [nnodes] what a node adds to a cover, to rank
			       * labels by (never to rule one out) */
	struct dual *dual; /* of price_sizes(); NULL: none */
	uint32_t beam; /* labels kept a layer when it has to; 0: 64 */
	struct budget budget; /* short: it becomes a beam; over: it gives up
			       * unless it has to find a first cover */
};

/* Fills the result but does not check the cover; proven: all was looked at. */
void forward_dp(struct search_result *out, const struct problem *p,
    const struct forward_limits *limits, struct arena *a);

#endif
