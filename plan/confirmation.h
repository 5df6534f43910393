/* What became of the plan that prices say is best, when it was run in turn with the
 * plans of single targets that may be as good. */
#ifndef PLAN_CONFIRMATION_H
#define PLAN_CONFIRMATION_H

#include "plan/plan.h"

enum confirmation_kind {
	CONFIRM_NOTHING, /* no other plan is near */
	CONFIRM_CONFIRMED, /* it is faster by more than it is than itself */
	CONFIRM_LIKELY, /* so prices say, and runs leave it open */
	CONFIRM_LEVEL, /* a single target's; the other is no faster */
	CONFIRM_REFUSED, /* the other, a single target's, is the plan */
	CONFIRM_PREDICTED, /* it was not run: see why */
};

struct plan_confirmation {
	enum confirmation_kind kind;
	const char
	    *against; /* the single target's plan, as baselines name it */
	double predicted; /* the plan per that, by prices; 0: not known */
	uint32_t pairs; /* 0: predicted */
	uint64_t ratio; /* the same as run, millionths: the median */
	uint64_t self_low, self_high; /* the plan per itself: quartiles */
	cost_ns took; /* by the plan that stands, as run; 0: not known */
	const char *why; /* of PREDICTED */
	bool on_record; /* run by an earlier search */
};

/* "confirmed", "likely", "level", "not confirmed", "predicted"; "" where there is nothing. */
const char *confirmation_word(enum confirmation_kind kind);

/* What a run is predicted to take: what it took when it was run, else what prices say. */
cost_ns confirmation_predicts(
    const struct plan_confirmation *c, cost_ns prices);

/* Does a plan run on more than one target beside what all fall back to? */
bool plan_is_mix(const struct plan *p);

/* Was it picked among many because it is cheap: does it mix targets, or is it made of
 * parts of what one could take whole? */
bool plan_is_picked(const struct plan *p);

/* The baseline of the single target that costs least; NULL: none has a plan. */
const struct plan_baseline *plan_best_single(const struct plan *p);

#define RIVALS_MAX 4

/* What the plan is run in turn with, the least cost first: the best single target's,
 * and others whose prices are so near that they may be faster; not the plan
 * itself. */
uint32_t plan_rivals(
    const struct plan *p, const struct plan_baseline *rival[RIVALS_MAX]);

/* Is what a runtime takes for the whole model so near the best single target's? */
bool is_near_best(cost_ns cost, cost_ns best);

/* One of p's baselines: is its target offered whole models? Such prices are off by much more
 * against each other than sums of kernels' prices are. */
bool rival_is_runtime(const struct plan *p, const struct plan_baseline *rival);

#endif
