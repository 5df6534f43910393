/* What two plans over one graph differ in: where nodes run,
 * what is paid, and whether the difference is larger than the noise of what was
 * measured. */
#ifndef PLAN_SHIFT_H
#define PLAN_SHIFT_H

#include "plan/plan.h"

struct plan_shift {
	const struct plan *from, *to;
	/* to - from, ns; of each term */
	int64_t delta, term[NTERMS];
	/* Half ranges of the measured prices that only one of them pays. */
	uint64_t noise;
	/* Some of what only one of them pays is a lower bound; is estimated. */
	bool unpriced, guessed;
	uint32_t nmoved, ngone, nnew;
	const node_id *moved; /* [nmoved] ascending; run on another target */
	const uint32_t *gone; /* [ngone] from->conversion[] that `to` lacks */
	const uint32_t *new; /* [nnew] to->conversion[] that `from` lacks */
};

/* The plans may have candidates and mixes of their own, but the targets of the
 * mixes and the graphs are the same. */
void plan_shift_make(struct plan_shift *s, const struct plan *from,
    const struct plan *to, struct arena *a);

/* The target a node runs on. */
const struct target *plan_target_of(const struct plan *p, node_id node);

/* Launches of a target that the plan pays. */
uint32_t plan_launches_of(const struct plan *p, uint32_t target);

#endif
