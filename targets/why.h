/* Why a predicate refused: every failed condition, with actual and required
 * value. `explain` prints them. */
#ifndef TARGETS_WHY_H
#define TARGETS_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"

struct reason {
	const char *condition; /* a stable name: "batch_at_most_8" */
	const char *actual; /* "batch = 9" */
	const char *required; /* "1..8" */
	bool holds;
};

/* A condition taken as true (what if it held?). */
struct assumption {
	const char *condition;
	uint64_t targets; /* mask over the mix: whose rules */
};

/* How often rules of a target asked for a condition, and found it wanting. */
struct condition_count {
	const char *condition;
	uint32_t target, asked, failed;
};

struct condition_counts {
	struct condition_count *item;
	uint32_t n, cap;
	struct arena *arena;
	/* Where a condition was found last, by the place of its name: number of
	 * the item + 1, or 0. */
	uint32_t found[256];
};

struct why {
	struct arena *arena; /* NULL: count only, put nothing into words */
	struct reason *reason; /* [n], in the order they were checked */
	uint32_t n, cap, nfailed;
	uint32_t target; /* whose rule asks; index into the mix */
	uint32_t nassume;
	const struct assumption *assume; /* [nassume] */
	struct condition_counts *counts; /* NULL: nobody counts */
	bool failures_only; /* what holds is not put into words either */
};

/* `a` may be NULL: conditions are then counted, not put into words, which is
 * what makes asking every predicate about every match cheap. */
void why_init(struct why *w, struct arena *a);

/* Record one condition; gives back whether it holds (or is assumed). All
 * conditions are checked and recorded: no short cut on the first failure. */
#ifdef __GNUC__
__attribute__((format(printf, 5, 6)))
#endif
bool
why_need(struct why *w, bool holds, const char *condition, const char *required,
    const char *actual_fmt, ...);

#endif
