/* A monotonic clock, for budgets only: no result depends on it unless a time
 * budget was given. */
#ifndef SEARCH_CLOCK_H
#define SEARCH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
