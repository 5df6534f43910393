/* Measuring in worker processes. The orchestrator never runs a kernel: workers
 * are forked from it (graph and candidates come along copy-on-write), take
 * candidate numbers from a pipe and answer with samples. A crash, hang, memory
 * blow-up or wrong result is an outcome of one candidate. */
#ifndef COSTMODEL_MEASURE_H
#define COSTMODEL_MEASURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/infer.h"
#include "targets/candidates.h"
#include "targets/target.h"

enum outcome {
	OUTCOME_OK,
	OUTCOME_UNSUPPORTED, /* compile() refused */
	OUTCOME_WRONG, /* differs from the reference */
	OUTCOME_TIMEOUT,
	OUTCOME_CRASH,
	OUTCOME_OOM,
	OUTCOME_NOISY, /* samples never settled; figures are there */
};

struct measurement {
	enum outcome outcome;
	uint32_t n; /* samples kept */
	cost_ns median, low, high, min; /* of block medians; low = lower
					 * quartile, which is the price */
	double max_error; /* against the reference, relative to range */
	uint64_t span_ns; /* how long measuring took */
	char detail[160]; /* words for anything but OK; what a tool's answer
			   * rests on */
};

struct measurer;

struct measure_options {
	const struct graph *graph;
	const struct mix *mix;
	const struct candidates *candidates;
	node_eval reference; /* NULL: outputs are not checked */
	uint32_t threads, workers;
	uint64_t timeout_ns; /* without an answer; 0 = MEASURE_TIMEOUT_NS */
	uint64_t memory_bytes; /* per worker; 0 = default */
	uint64_t
	    deadline_ns; /* by clock_ns(): as `stop` from then on; 0: none */
	const atomic_bool *stop;
};

/* TUNING: for one block, compiling and the check included. */
#define MEASURE_TIMEOUT_NS UINT64_C(60000000000)

#define MEASURE_PROTOCOL 2 /* bump when figures are no longer comparable */

bool measurer_open(struct measurer **m, const struct measure_options *o,
    struct arena *a, struct err *err);

/* A job: a candidate, or a conversion of `value` (when candidate is
 * UINT32_MAX). */
struct measure_job {
	uint32_t candidate;
	value_id value;
	format_id from, to;
	/* A few runs, unchecked: `min` is what a price will hardly be below by
	 * more than noise, at a tenth of what measuring takes. */
	bool glance;
	/* With `versus`: this candidate and another in turn, in one worker;
	 * low, median and high of the result are how long the other takes per
	 * this one, in millionths. Unchecked. */
	bool versus;
	uint32_t rival;
};

/* A tool's answer as a measurement. */
struct answer;
struct measurement measurement_of_answer(const struct answer *a);

/* Is the candidate's price told by a tool (target.ask_ms)? */
bool measure_asks(const struct measure_options *o, uint32_t candidate);

/* Measure jobs[0..n), any order, all workers; `done` is called for each as it
 * is finished, in the orchestrator. Returns early (true) on stop and at the deadline. */
bool measurer_run(struct measurer *m, const struct measure_job *job, uint32_t n,
    void (*done)(void *context, uint32_t job, const struct measurement *r),
    void *context, struct err *err);

/* From now on another deadline holds. */
void measurer_set_deadline(struct measurer *m, uint64_t deadline_ns);

void measurer_close(struct measurer *m);

/* Processes a measurer of these options has (0: the defaults). */
uint32_t measurer_workers(uint32_t workers, uint32_t threads);

/* Hard facts of this machine and process that measurements depend on, as
 * "key=value" lines: CPU model, ISA, caches, threads, protocol. */
struct buf;
void measure_environment(struct buf *b, uint32_t threads);

#endif
