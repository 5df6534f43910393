/* What is measured, and what comes of it: jobs, options of all of them, figures.
 * Orchestrator (measure.h) and workers (worker.h) share them. */
#ifndef COSTMODEL_JOB_H
#define COSTMODEL_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/hash.h"
#include "ir/infer.h"
#include "targets/candidates.h"
#include "targets/target.h"

struct links;
struct want;

/* A subject by its key, of one of the targets of a list (want.h); as many as it
 * has: a conversion. */
struct wanted_subject {
	uint32_t target;
	struct hash128 key; /* of the bytes the database knows it by */
	const void *bytes; /* [n] those; NULL: they were not sent */
	size_t n;
	const char *summary;
	uint32_t probes; /* looked at so often in passing; 0: its price */
};

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
	/* Told when a worker waits for a core that others measure on. */
	void (*waiting)(void *context, const char *why);
	void *context;
	struct links *links; /* to boards that measure; NULL: this machine */
};

/* TUNING: for one block, compiling and the check included. */
#define MEASURE_TIMEOUT_NS UINT64_C(60000000000)

#define MEASURE_PROTOCOL 10 /* bump when figures are no longer comparable */

/* A job: a candidate, or a conversion of `value` (when candidate is
 * UINT32_MAX). */
struct measure_job {
	uint32_t candidate;
	value_id value;
	format_id from, to;
	/* A few runs, unchecked: `min` is what a price will hardly be below by
	 * more than noise, at a tenth of what measuring takes. */
	bool probe;
	cost_ns seen_ns; /* what a probe showed before; 0: there was none */
	/* With `is_pair`: this candidate and another in turn, in one worker;
	 * low, median and high of the result are how long the other takes per
	 * this one, in millionths. Unchecked. */
	bool is_pair;
	uint32_t second;
	struct wanted_subject of, other; /* the same for boards */
};

/* A job of those that were given is finished; r is the caller's. */
typedef void (*measure_done)(
    void *context, uint32_t job, const struct sample *r);

/* Is the candidate's price told by a tool (target.ask_ms)? */
bool measure_asks(const struct measure_options *o, uint32_t candidate);

#endif
