/* marq run: what its parts share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/job.h"
#include "cli/run_data.h"
#include "exec/allowed.h"
#include "exec/executor.h"
#include "exec/profile.h"
#include "ir/compare.h"

/* One output compared with one expectation. */
struct run_check {
	const char *set, *output;
	const char *against; /* "expected output", "host reference" */
	struct comparison result;
	bool drawn; /* rests on random numbers that another runtime drew: type
	             * and shape count */
};

struct run_result {
	const struct job *job;
	struct profile profile;
	struct tolerance tolerance;
	struct allowance allowance;
	bool
	    by_model; /* no tolerance was asked for: what the model's arithmetic
	                * may do to a right output is allowed */
	bool has_half; /* some composite does: the tolerance is of the range */
	double lossy; /* what 8 bits were seen to change outputs by, twice: as a
		       * part of the range */
	size_t pool_bytes;
	uint32_t nchecks, check_cap;
	struct run_check *check;
	bool matches;
};

/* A plan to be run in turn with other programs. */
struct run_turns {
	struct executor *executor;
	struct tensor *in; /* [ninputs] */
	uint32_t threads;
	cost_ns predicted, prices; /* for a run */
};

/* Says "ready marq PREDICTED_NS PRICES_NS" on stdout, then answers each line of stdin, a
 * number of runs, with as many times in ns. `out`: room for the outputs. */
bool run_turns(const struct run_turns *t, struct tensor *out, struct err *err);

/* Everything on stdout, as text or as one JSON document. */
void run_report(const struct run_result *r, bool layers);

#endif
