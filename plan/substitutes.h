/* Substitutes: candidates with the same nodes and ports as a chosen one. */
#ifndef PLAN_SUBSTITUTES_H
#define PLAN_SUBSTITUTES_H

#include "plan/state.h"

/* Of a planner that is opened: what substitutes_among() looks into. */
void substitutes_index(struct planner *pl);

/* Those among which a candidate's substitutes are, itself included: *n, by id. */
const uint32_t *substitutes_among(
    const struct planner *pl, uint32_t candidate, uint32_t *n);

/* Could b stand in a's place with nothing else changed? */
bool is_substitute(const struct planner *pl, uint32_t a, uint32_t b);

/* How far from the price of a chosen candidate a substitute's may be and still be
 * doubted; 0: where not much of the cover's cost hangs on it. */
uint64_t substitutes_tolerance(
    const struct cover *c, const struct price *chosen);

/* Price substitutes of a cover's costliest choices that were only probed and seemed
 * near; *moved: more is known of some. */
bool substitutes_price(
    struct planner *pl, const struct cover *c, bool *moved, struct err *err);

#endif
