/* A sample: how one attempt to price something ended, with its figures. A worker
 * sends it, a tool's answer is one, the database stores it, a price is made of it.
 *
 * (S1) OK and NOISY have figures: low <= median <= high.
 * (S2) Figures of other outcomes count for nothing, and detail says why.
 * (S3) No pointers: it travels through a socket.
 * (S4) Of a pair the figures are ratios in millionths, not nanoseconds. */
#ifndef IR_BASE_SAMPLE_H
#define IR_BASE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/cost.h"

enum outcome {
#define OUTCOME(name, word) OUTCOME_##name,
#include "ir/base/outcome.def"
#undef OUTCOME
	NOUTCOME
};

struct sample {
	enum outcome outcome;
	uint32_t n; /* timed runs kept */
	cost_ns low, median, high; /* quartiles; low is the price */
	cost_ns min; /* of all runs; 0: not known */
	cost_ns cpu; /* processor time of a run, of all threads; 0: not known */
	double max_error; /* against the reference, relative to its range */
	uint64_t span_ns; /* what the attempt took */
	uint64_t limit_ns; /* the limit it ran under; 0: not known */
	char detail[160]; /* why not OK, or what a tool's figures rest on */
};

static inline bool
sample_has_figures(const struct sample *s)
{
	return s->outcome == OUTCOME_OK || s->outcome == OUTCOME_NOISY;
}

/* A failed attempt, with its reason in words. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
struct sample
sample_failed(enum outcome outcome, const char *fmt, ...);

/* (S1) and (S3). Debug builds call it on whatever is stored or becomes a price. */
void sample_verify(const struct sample *s);

#endif
