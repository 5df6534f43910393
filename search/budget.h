/* What a search may use up: time, memory, the user's patience. */
#ifndef SEARCH_BUDGET_H
#define SEARCH_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/clock.h"

struct budget {
	uint64_t soft, hard; /* deadlines by clock_ns(); 0: none */
	size_t bytes; /* of labels; 0: no limit */
	const atomic_bool *stop; /* may be NULL */
};

/* TUNING: of the time, the share left for bringing what was begun to an end. */
#define BUDGET_RESERVE 8u

static inline struct budget
budget_from_now(uint64_t time_ns, size_t bytes, const atomic_bool *stop)
{
	uint64_t now = time_ns ? clock_ns() : 0;

	return (struct budget){.soft = now + time_ns - time_ns / BUDGET_RESERVE,
	    .hard = now + time_ns,
	    .bytes = bytes,
	    .stop = stop};
}

/* The part of a shared time a search may take: half of what is left, so that there
 * is some for the next one. At least 1 ns, because 0 means no limit. */
static inline uint64_t
budget_share(uint64_t time_ns, const uint64_t *spent_ns)
{
	if (time_ns == 0 || !spent_ns)
		return time_ns;
	return *spent_ns < time_ns ? (time_ns - *spent_ns + 1) / 2 : 1;
}

static inline bool
budget_stopped(const struct budget *b)
{
	return b->stop && atomic_load_explicit(b->stop, memory_order_relaxed);
}

/* Time to narrow the search down. */
static inline bool
budget_is_short(const struct budget *b, size_t bytes)
{
	return budget_stopped(b) || (b->bytes && bytes > b->bytes)
	    || (b->soft && clock_ns() > b->soft);
}

/* Time to stop with what there is. */
static inline bool
budget_is_over(const struct budget *b)
{
	return budget_stopped(b) || (b->hard && clock_ns() > b->hard);
}

#endif
