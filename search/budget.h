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
