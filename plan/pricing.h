/* What to ask for next: of a cheapest cover, the prices that may change it. */
#ifndef PLAN_PRICING_H
#define PLAN_PRICING_H

#include "plan/state.h"

/* List the candidates, one of each key, and conversions of a cover that have no
 * price yet; how many there are. */
uint32_t pricing_list(struct planner *pl, const struct cover *cover);

/* List whatever has no price. */
void pricing_list_all(struct planner *pl);

/* Price some of what is listed: what may be off the cheapest cover once others have
 * a price waits for them. Conversions first, then probes. *moved: did any of it get
 * a price? */
bool pricing_some(struct planner *pl, bool *moved, struct err *err);

/* Price what is listed, without probes first and whatever lies next to what. */
bool pricing_all(struct planner *pl, bool *moved, struct err *err);

/* Take over prices that changed. */
void pricing_update(struct planner *pl);

#endif
