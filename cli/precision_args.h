/* 8 bits: what is asked for, and what came of it. */
#ifndef CLI_PRECISION_ARGS_H
#define CLI_PRECISION_ARGS_H

#include "exec/ranges.h"
#include "plan/accuracy.h"
#include "plan/plan.h"

/* --calibrate, --ranges, --min-sqnr, --max-error, --int8. */
struct precision_args {
	const char *calibrate; /* folder or "random:N"; NULL: not asked for */
	const char *ranges; /* how ranges come from what was seen */
	bool int8; /* every target that can also computes in 8 bits */
	struct accuracy_limits limits;
};

/* What came of it. */
struct precision {
	struct ranges ranges;
	struct samples samples; /* that ranges are of; n = 0: the model's own */
	struct samples checked; /* that errors are measured with */
	bool quantises; /* a target of the mix does */
	struct loss *loss; /* [candidates] of each by itself; n = 0: not looked
			    * into, or it loses nothing. NULL: none was */
	bool *allowed; /* [candidates] those left after barring; NULL: all */
	struct plan_accuracy accuracy; /* of the plan, with has_accuracy */
	bool has_accuracy;
};

#endif
