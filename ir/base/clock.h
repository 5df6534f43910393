/* A monotonic clock in nanoseconds, for budgets, limits and elapsed time. In
 * search/ no result depends on it unless a time budget was given. */
#ifndef IR_BASE_CLOCK_H
#define IR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What all threads of this process have had of the processors. Under a limit of
 * processor time (RLIMIT_CPU) that is as of the last tick, unless a thread asks for
 * its own first. */
static inline uint64_t
clock_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
