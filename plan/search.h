/* From candidates and prices to a plan: the search, with prices fetched as the
 * search needs them. */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "plan/plan.h"
#include "plan/request.h"

/* The cheapest plan at the prices, verified. Lazy by default: solve with lower
 * bounds where nothing is priced, price what lies on the cheapest plan, and
 * repeat until all of it is KNOWN; then no other plan can be cheaper, whatever
 * the missing prices turn out to be. Baselines are then priced by the same
 * table, with lower bounds where it has no more: a baseline's figure is never
 * above its true cost, and the plan's is not above the baseline's, so the plan
 * is proven no worse. ERR_NO_COVER when constraints or failures leave none. */
bool plan_search(struct plan *out, const struct plan_request *r,
    struct arena *a, struct err *err);

/* The same, but that there is no plan is a result: *found. Nobody works out why. */
bool plan_find(struct plan *out, bool *found, const struct plan_request *r,
    struct arena *a, struct err *err);

/* The k cheapest plans that choose different candidates, ascending, out of what
 * has a KNOWN price (call it after plan_search(); nothing more is priced); *n:
 * how many there are, at most k, and fewer when the time ends, which a note says.
 * out[i].lower_bound: all but i choices of candidates cost at least this, however
 * they are cut into regions; proven: out[i] costs just that. Verified; without
 * baselines. */
bool plan_top(struct plan *out, uint32_t k, uint32_t *n,
    const struct plan_request *r, struct arena *a, struct err *err);

#endif
