/* Nothing that is picked because it is cheap is reported at the price it was picked
 * for: a plan is run in turn with the plans of single targets whose prices are near,
 * and with itself. One that mixes targets stays only if it wins against all. */
#ifndef EXEC_CONFIRMED_H
#define EXEC_CONFIRMED_H

#include "exec/confirm_run.h"
#include "plan/confirmation.h"
#include "plan/request.h"

/* Confirm *plan, which plan_search() made for r with price_best. One that does not
 * win becomes that of the single target which did best against it; a single target's
 * own stays unless the other is faster. What is on record is not run again; what is run
 * goes there. */
bool confirmed_plan(struct plan *plan, struct plan_confirmation *out,
    const struct plan_request *r, const struct confirm_options *o,
    struct arena *a, struct err *err);

/* What two plans that were run in turn come to: *plan stays, or is `single`. Both
 * have all their prices. */
void confirmed_decide(struct plan *plan, struct plan_confirmation *out,
    const struct plan *single, const struct in_turn *t);

#endif
