/* What differs between two results, and why. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "cli/match.h"
#include "cli/result_view.h"

enum verdict_of_diff { DIFF_SAME, DIFF_FASTER, DIFF_SLOWER };

enum reason_of_move {
	MOVED_NO_TARGET, /* its target is not in the other mix */
	MOVED_PREDICATE, /* a predicate refuses it there now */
	MOVED_NO_MATCH, /* no rule of its target matches any more */
	MOVED_CONSTRAINT, /* it may not, or had to and has no more */
	MOVED_PRICE, /* legal, but the plan is cheaper without */
	MOVED_NOISE, /* ... by less than the noise */
	MOVED_UNKNOWN, /* the result does not say what else was legal */
};

/* A node that both sides have, on another target. */
struct move {
	uint32_t before, after; /* node of a, of b */
	enum reason_of_move reason;
	const char *text;
};

/* The same composite (target, rule, implementation, nodes) at another price. */
struct repriced {
	uint32_t before, after; /* composite of a, of b */
	int64_t delta;
};

struct diff {
	const struct result_view *a, *b;
	enum verdict_of_diff verdict;
	int64_t delta; /* b - a, ns */
	uint64_t noise; /* half ranges of the measured prices that differ */
	struct nodes_match match;
	uint32_t nmoves, nrepriced, nways, nfacts;
	const struct move *move; /* by node of a */
	const struct repriced *repriced; /* largest change first */
	const char *const *fact; /* environment: "dnnl version: 3.1 -> 3.2" */
};

/* TUNING: below a percent nobody acts, whatever the noise says. */
#define DIFF_THRESHOLD 0.01

/* `threshold`: the share of a's cost that does not matter. */
void diff_make(struct diff *d, const struct result_view *a,
    const struct result_view *b, double threshold, struct arena *arena);

/* Fill reason and text of a move. */
void diff_explain(const struct diff *d, struct move *m, struct arena *a);

/* The target of `to` that is target t of `from`: as written, else by kind;
 * UINT32_MAX: none. */
uint32_t diff_target_in(
    const struct result_view *to, const struct result_view *from, uint32_t t);

const char *reason_word(enum reason_of_move r);
const char *verdict_word(enum verdict_of_diff v);

#endif
