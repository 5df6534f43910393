#include "costmodel/job.h"

#include <stdio.h>

struct measurement
measurement_of_answer(const struct answer *a)
{
	static const enum outcome outcome[] = {
	    [ANSWER_OK] = OUTCOME_OK,
	    [ANSWER_REFUSED] = OUTCOME_UNSUPPORTED,
	    [ANSWER_LATE] = OUTCOME_TIMEOUT,
	    [ANSWER_CRASHED] = OUTCOME_CRASH,
	    [ANSWER_GARBAGE] = OUTCOME_WRONG,
	};
	struct measurement m = {
	    .outcome = outcome[a->outcome],
	    .n = a->n,
	    .low = a->low,
	    .median = a->median,
	    .high = a->high,
	    .min = a->min,
	};

	snprintf(m.detail, sizeof m.detail, "%s", a->detail);
	return m;
}

bool
measure_asks(const struct measure_options *o, uint32_t candidate)
{
	return o->mix->target[o->candidates->candidate[candidate].target].ask_ms
	    > 0;
}
