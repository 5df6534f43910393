/* What the files of the executor share; internal to exec/. */
#ifndef EXEC_EXECUTOR_PARTS_H
#define EXEC_EXECUTOR_PARTS_H

#include "ir/base/common_scratch.h"
#include "exec/memory.h"
#include "plan/plan.h"
#include "targets/convert.h"
#include "targets/target.h"

#define NO_BUFFER UINT32_MAX

/* A value in one format. Time 0 is loading the inputs, step i is time i + 1,
 * the caller reads outputs after the last. */
struct buffer {
	value_id value;
	format_id format;
	struct lifetime life;
	uint8_t *at;
};

/* What is done in one go, in execution order. */
enum step_kind { STEP_CONVERSION, STEP_COMPOSITE, STEP_REGION };

struct exec_step {
	enum step_kind kind;
	uint32_t index; /* into the plan's list of its kind */
	uint32_t ninputs, noutputs;
	const struct port *input, *output;
	struct kernel kernel;
	bool lent; /* the kernel, by another executor */
	struct converter converter, second; /* second: behind a detour */
	void *between; /* what the detour passes through, or NULL */
	const void **in;
	void **out;
	struct look *look; /* [nlooks] at what it has made */
	uint32_t nlooks;
};

/* A value to be looked at as soon as it is there: is it below 2 to the power? */
struct look {
	const float *at;
	size_t n;
	int power;
};

struct executor {
	const struct plan *plan;
	struct arena *arena;
	uint32_t nsteps, nbuffers, buffer_cap;
	struct exec_step *step;
	struct buffer *buffer;
	uint32_t *of; /* [nvalues * MAX_FORMATS] buffer, or NO_BUFFER */
	uint8_t *pool;
	size_t pool_bytes;
	struct common_scratch scratch; /* the kernels' */
	bool keep_all, keep_inputs;
	const struct executor *with; /* which lends kernels, or NULL */
	struct err fault; /* of a kernel, during a run */
	struct look *look; /* [nlooks] at inputs */
	uint32_t nlooks;
	bool small; /* so far, all that was looked at in this run */
	cost_ns *composite_ns, *conversion_ns;
};

/* The steps of the plan in execution order; regions that run as a whole are
 * compiled. */
bool steps_order(struct executor *x, struct err *err);
/* Compile the other composites, and make the converters. */
bool steps_compile(struct executor *x, struct err *err);
/* What is to be looked at in each run so that guards need not (targets/known.h), after
 * all have their places. */
void looks_find(struct executor *x);
/* Look; whether all is small. */
bool looks_small(const struct look *look, uint32_t n);
/* Let go of what kernels and converters hold. */
void steps_release(struct executor *x);

/* One buffer for each value and format some step reads or writes, with the
 * time from first to last use. ERR_UNSUPPORTED for inputs of open shape and
 * for what is too large. */
bool buffers_find(struct executor *x, struct err *err);
/* Give each its place in one pool, and each step its addresses (after the
 * steps are compiled: kernels say where results may lie). */
void buffers_lay_out(struct executor *x);
/* Where a value lies in a format it is there in. */
void *buffer_address(const struct executor *x, value_id v, format_id f);

/* Is this graph input given by the caller (not a constant)? */
bool is_fed(const struct graph *g, value_id v);

#endif
