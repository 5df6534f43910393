/* What a search may use up: time, memory, the user's patience. */
#ifndef SEARCH_BUDGET_H
#define SEARCH_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/clock.h"
#include "search/solve.h"

struct budget {
	uint64_t soft, hard; /* deadlines by the clock; 0: none */
	uint64_t (*clock)(void);
	size_t bytes; /* of labels; 0: no limit */
	const atomic_bool *stop; /* may be NULL */
};

/* TUNING: of the time, the share left for bringing what was begun to an end. */
#define BUDGET_RESERVE 8u

static inline uint64_t
search_clock(const struct search_options *o)
{
	return o->clock ? o->clock() : clock_ns();
}

/* No time is left, or the user wants what there is. */
static inline bool
search_is_over(const struct search_options *o)
{
	return (o->stop && atomic_load_explicit(o->stop, memory_order_relaxed))
	    || (o->deadline_ns && search_clock(o) >= o->deadline_ns);
}

/* For one of several searches under a deadline: half of the time that is left,
 * so that there is some for the next one. */
static inline struct search_options
search_turn(const struct search_options *o)
{
	struct search_options turn = *o;
	uint64_t now = o->deadline_ns ? search_clock(o) : 0;

	if (now < o->deadline_ns)
		turn.deadline_ns = now + (o->deadline_ns - now + 1) / 2;
	return turn;
}

static inline struct budget
budget_of(const struct search_options *o)
{
	uint64_t now = o->deadline_ns ? search_clock(o) : 0;
	uint64_t left = now < o->deadline_ns ? o->deadline_ns - now : 0;

	return (struct budget){.soft = o->deadline_ns - left / BUDGET_RESERVE,
	    .hard = o->deadline_ns,
	    .clock = o->clock ? o->clock : clock_ns,
	    .bytes = o->memory_budget ? o->memory_budget : SEARCH_MEMORY,
	    .stop = o->stop};
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
	    || (b->soft && b->clock() >= b->soft);
}

/* Time to stop with what there is. */
static inline bool
budget_is_over(const struct budget *b)
{
	return budget_stopped(b) || (b->hard && b->clock() >= b->hard);
}

#endif
