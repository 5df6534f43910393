/* Runs a plan for real: planned memory, no allocation per inference. */
#ifndef EXEC_EXECUTOR_H
#define EXEC_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "plan/plan.h"

struct executor;

struct executor_options {
	uint32_t threads; /* 0 = 1 */
	bool keep_all; /* no memory is reused: every value can be looked at */
	bool keep_inputs; /* that of inputs is not: executor_hold() */
	/* Of another plan over the same candidates, open for as long and never run
	 * in the same process: composites that both have are compiled once. NULL:
	 * none. */
	const struct executor *with;
};

/* Compile every composite and converter, lay out one memory pool. *x is NULL
 * when that fails.
 * ERR_UNSUPPORTED naming the value for inputs without static shape. */
bool executor_open(struct executor **x, const struct plan *p,
    const struct executor_options *o, struct arena *a, struct err *err);

/* One inference: in[graph->ninputs] in FORMAT_PLAIN; out[graph->noutputs] are
 * views into the executor, valid until the next run. */
bool executor_run(struct executor *x, const struct tensor *in,
    struct tensor *out, struct err *err);

/* Copy the inputs to where they are read and let in[] say so: runs with these copy
 * nothing. Only with keep_inputs. */
bool executor_hold(struct executor *x, struct tensor *in, struct err *err);

/* Time spent in the last run: [ncomposites] and [nconversions]. */
const cost_ns *executor_composite_ns(const struct executor *x);
const cost_ns *executor_conversion_ns(const struct executor *x);
size_t executor_pool_bytes(const struct executor *x);

/* A value after the last run, for comparing with the reference; false when it
 * is interior to a composite or never there in FORMAT_PLAIN. Only with
 * keep_all: pools reuse memory. */
bool executor_value(const struct executor *x, value_id v, struct tensor *out);
void executor_close(struct executor *x);

#endif
