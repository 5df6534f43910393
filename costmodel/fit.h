/* Prices of kernels of which some were run in turn: each price is one moment's, and what one
 * takes per another is known better. */
#ifndef COSTMODEL_FIT_H
#define COSTMODEL_FIT_H

#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/cost.h"

/* b takes so much per a, millionths: quartiles of the turns. */
struct fit_pair {
	uint32_t a, b;
	uint64_t low, high;
};

/* The other way round it says the same: how long a takes per b. */
struct fit_pair fit_turned(const struct fit_pair *p);

/* Do the turns not say which is the faster one? */
bool fit_is_tie(const struct fit_pair *p);

/* In ns[n], prices above 0, each off by spread[i] or more: what fits those and all that the
 * pairs say best. Their product stays about what it was, so none is drawn to whichever
 * price happened to be the lowest; the order of pairs does not matter. What is tied
 * and comes out within a per cent costs the same. */
void fit_prices(cost_ns *ns, const cost_ns *spread, uint32_t n,
    const struct fit_pair *pair, uint32_t npairs, struct arena *scratch);

#endif
