/* What tests share: where outside data lies, and a small random generator. */
#ifndef TESTS_SUPPORT_SUPPORT_H
#define TESTS_SUPPORT_SUPPORT_H

#include <stdint.h>
#include <stdio.h>

/* Exit status of a test that could not run for want of data. */
#define TEST_SKIPPED 77

/* $MARQ_SHARED joined with `name`, or NULL when that does not exist. */
const char *shared_path(const char *name);

/* $MARQ_SOURCE joined with `name` (or `name` below the current directory). */
const char *source_path(const char *name);

/* How many random cases to try when nobody names a number: `whole`, or so many
 * per cent of them as $MARQ_TEST_SHARE says; never none. */
uint64_t cases_of(uint64_t whole);

/* Where the planner is to write what it does: standard output with
 * MARQ_TRACE=plan, else NULL. tools/same compares it. */
FILE *trace_wanted(void);

/* xorshift64*: the same numbers everywhere, so a seed reproduces a failure. */
struct rng {
	uint64_t state;
};
struct rng rng_seeded(uint64_t seed);
uint64_t rng_next(struct rng *r);
/* Uniform in 0..n-1. */
uint32_t rng_below(struct rng *r, uint32_t n);

#endif
