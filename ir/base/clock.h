/* Clocks in nanoseconds, for budgets, limits and elapsed time. In search/ no result
 * depends on them unless a time budget was given. */
#ifndef IR_BASE_CLOCK_H
#define IR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Times before the epoch come out right when read as int64_t. */
static inline uint64_t
timespec_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* A clock that is always there. */
static inline uint64_t
clock_read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return timespec_ns(&t);
}

static inline uint64_t
clock_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* What all threads of this process have had of the processors. Under a limit of
 * processor time (RLIMIT_CPU) that is as of the last tick, unless a thread asks for
 * its own first. */
static inline uint64_t
clock_cpu_ns(void)
{
	(void)clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
