/* Nothing that is picked because it is cheap is reported at the price it was picked
 * for: a plan that mixes targets is run in turn with the best plan of a single one,
 * and with itself, and stays only if it wins. */
#ifndef EXEC_CONFIRMED_H
#define EXEC_CONFIRMED_H

#include "exec/confirm_run.h"
#include "plan/confirmation.h"
#include "plan/request.h"

/* Confirm *plan, which plan_search() made for r with price_best. One that does not
 * win becomes the single target's. What is on record is not run again; what is run
 * goes there. */
bool confirmed_plan(struct plan *plan, struct plan_confirmation *out,
    const struct plan_request *r, const struct confirm_options *o,
    struct arena *a, struct err *err);

/* What two plans that were run in turn come to: *plan is `mix`, or `single`. Both
 * have all their prices. */
void confirmed_decide(struct plan *plan, struct plan_confirmation *out,
    const struct plan *single, const struct in_turn *t);

#endif
