/* Two plans run in turn: A B A B ... A. Each run of B is compared with the runs of A
 * about it, and A with itself over the same distance: what that differs by is
 * noise. */
#ifndef EXEC_IN_TURN_H
#define EXEC_IN_TURN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/cost.h"
#include "ir/base/err.h"

/* TUNING: fewer say nothing; more only cost time. Of plans so slow that three take the
 * whole budget, whose runs differ least, three do where they are clear, or leave little
 * hope of a gain. */
#define IN_TURN_LEAST 5
#define IN_TURN_LEAST_SLOW 3
#define IN_TURN_MOST 40

#define IN_TURN_ONE UINT64_C(1000000) /* ratios are in millionths */

struct in_turn {
	uint32_t pairs;
	bool stopped; /* before there were enough of them to say anything */
	uint64_t ratio; /* A per B: the median */
	uint64_t self_low, self_high; /* A per A: quartiles */
	cost_ns a, b; /* medians */
};

/* What is run: plan 0 or 1, once. *disturbed: the figure is no good. */
struct in_turn_runner {
	bool (*run)(void *context, uint32_t which, cost_ns *took,
	    bool *disturbed, struct err *err);
	void *context;
};

struct in_turn_options {
	cost_ns budget; /* for all runs, twice that where it is not sure then
	                 * and A may yet win; IN_TURN_LEAST pairs are
	                 * run anyway, or IN_TURN_LEAST_SLOW of which
	                 * that is settled */
	const atomic_bool *stop; /* may be NULL: ends early */
};

/* Both warm up once. */
bool in_turn_run(struct in_turn *out, const struct in_turn_options *o,
    const struct in_turn_runner *r, struct err *err);

/* The least gain that so many pairs show, in millionths, where there is as little noise as is
 * supposed of few. Of more than that nobody knows before: 0. */
uint64_t in_turn_least_gain(uint32_t pairs);

/* Is A the faster one, by twice what the median of so many pairs may be off by, as far as
 * A against itself tells? */
bool in_turn_wins(const struct in_turn *t);

#endif
