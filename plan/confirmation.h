/* What became of a plan that mixes targets, or parts of what a target takes whole, when
 * it was run in turn with the best plan of a single one. */
#ifndef PLAN_CONFIRMATION_H
#define PLAN_CONFIRMATION_H

#include "plan/plan.h"

enum confirmation_kind {
	CONFIRM_NOTHING, /* the plan is a single target's, or nobody else has
	                  * one */
	CONFIRM_CONFIRMED, /* it is faster by more than it is than itself */
	CONFIRM_REFUSED, /* it is not: the single target's plan is the plan */
	CONFIRM_PREDICTED, /* it was not run: see why */
};

struct plan_confirmation {
	enum confirmation_kind kind;
	const char
	    *against; /* the single target's plan, as baselines name it */
	double predicted; /* the mix per that, by prices; 0: not known */
	uint32_t pairs; /* 0: predicted */
	uint64_t ratio; /* the same as run, millionths: the median */
	uint64_t self_low, self_high; /* the mix per itself: quartiles */
	const char *why; /* of PREDICTED */
	bool on_record; /* run by an earlier search */
};

/* "confirmed", "not confirmed", "predicted"; "" where there is nothing. */
const char *confirmation_word(enum confirmation_kind kind);

/* Does a plan run on more than one target beside what all fall back to? */
bool plan_is_mix(const struct plan *p);

/* Was it picked among many because it is cheap: does it mix targets, or is it made of
 * parts of what one could take whole? */
bool plan_is_picked(const struct plan *p);

/* The baseline of the single target that costs least; NULL: none has a plan. */
const struct plan_baseline *plan_best_single(const struct plan *p);

#endif
