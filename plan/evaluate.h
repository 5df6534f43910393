/* What a cover is worth as a plan: its groups laid, its regions asked about, its
 * memory checked. */
#ifndef PLAN_EVALUATE_H
#define PLAN_EVALUATE_H

#include "plan/state.h"

/* Regions of a cover that was just found as its targets group them. */
void evaluate_group(struct planner *pl, struct cover *cover);

/* Have tools say what the regions of a cover cost, where their targets' prices
 * are a tool's: before it is evaluated. */
bool evaluate_ask(
    struct planner *pl, const struct cover *cover, struct err *err);

/* The plan of a cover. True when it fits its devices, else *overflow says why
 * not. `at_least`: what has no price counts with its bound. */
bool evaluate(struct planner *pl, const struct cover *cover, bool at_least,
    struct plan *out, struct device_use *overflow);

/* What an incumbent costs at the prices there are now (Z2); COST_NEVER: none. */
cost_ns incumbent_cost(struct planner *pl, struct incumbent *x);

/* Offer a cover: it becomes the incumbent if it fits and is cheaper, or the
 * visit's cheapest that does not fit. */
void evaluate_offer(struct planner *pl, const struct proposal *p);

#endif
