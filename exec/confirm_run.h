/* Two plans are run in turn, in a process apart: a library may end it. */
#ifndef EXEC_CONFIRM_RUN_H
#define EXEC_CONFIRM_RUN_H

#include "exec/in_turn.h"
#include "plan/confirmation.h"
#include "plan/plan.h"

struct confirm_options {
	uint32_t threads; /* 0 = 1 */
	bool skip; /* nobody wants it */
	const char *why_not; /* why nothing is run; NULL: what is not on record
			      * is */
	uint64_t deadline_ns; /* by clock_ns(); 0: none */
	const atomic_bool *stop; /* may be NULL */
	bool known; /* what a run of the first takes is, from other turns */
};

/* What turns of a plan with that of a single target come to. */
enum confirmation_kind confirm_verdict(
    const struct plan *const pair[2], const struct in_turn *t);

/* How many pairs of runs a plan of that cost has in turn with one like it, as long as
 * neither deadlines nor noise say otherwise. */
uint32_t confirm_pairs(cost_ns cost, const struct confirm_options *o);

/* A pair of plans in turn, on made-up inputs; behind that what a run of the one
 * that is the plan then takes (out->a or b; 0: neighbours were busy all the while).
 * *why (in `a`) is why they were not, else NULL. ERR_MEASURE only when no process can be had. */
bool confirm_run(struct in_turn *out, const char **why,
    const struct plan *const pair[2], const struct confirm_options *o,
    struct arena *a, struct err *err);

#endif
