/* Running a plan many times and keeping the middle of what was seen. */
#ifndef EXEC_PROFILE_H
#define EXEC_PROFILE_H

#include <stdatomic.h>

#include "exec/executor.h"

struct profile_options {
	uint32_t runs; /* 0: as many as fit into the budget, 5 to 200 */
	uint64_t budget_ns; /* 0: 1 s */
	const atomic_bool *stop; /* may be NULL: ends early, at least one run */
};

struct profile {
	uint32_t runs; /* timed; two more warmed up */
	uint32_t disturbed; /* preempted: not in the figures, unless all were */
	cost_ns median, low, high; /* of whole runs: median and quartiles */
	cost_ns cpu; /* of all threads, a run: median */
	const cost_ns *composite; /* [ncomposites] medians */
	const cost_ns *conversion; /* [nconversions] medians */
};

/* `out` [noutputs] gets the outputs of the last run. */
bool profile_run(struct profile *p, struct executor *x, const struct plan *plan,
    const struct profile_options *o, const struct tensor *in,
    struct tensor *out, struct arena *a, struct err *err);

#endif
