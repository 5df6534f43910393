#include "costmodel/job.h"

bool
measure_asks(const struct measure_options *o, uint32_t candidate)
{
	return o->mix->target[o->candidates->candidate[candidate].target].ask_ms
	    > 0;
}
