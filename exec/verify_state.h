/* What the process that verifies a plan knows. */
#ifndef EXEC_VERIFY_STATE_H
#define EXEC_VERIFY_STATE_H

#include "exec/verdict.h"
#include "ir/tensor.h"

struct verify_state {
	const struct plan *plan;
	const struct verify_options *options;
	struct verified_as *verdict; /* left behind, however the process ends */
	struct arena *arena;
	bool only_build;
	struct tensor *value; /* [nvalues] as the reference has them */
	double *error; /* [nvalues] of the composite that makes it, as a part of
	                * the value's range */
};

/* Largest difference as a part of the range. Where the reference has NaN or
 * infinities nothing is asked, nor where half precision overflows: made-up
 * inputs and weights do that. */
double verify_difference(
    const struct tensor *got, const struct tensor *want, bool half);

/* Put down the verdict; always false. */
bool verify_say(struct verify_state *w, enum verified_kind kind,
    uint32_t composite, double error, const char *detail);

#endif
