#include "plan/confirmation.h"

#include "plan/propose.h"
#include "plan/whole.h"

const char *
confirmation_word(enum confirmation_kind kind)
{
	static const char *const word[] = {[CONFIRM_NOTHING] = "",
	    [CONFIRM_CONFIRMED] = "confirmed",
	    [CONFIRM_REFUSED] = "not confirmed",
	    [CONFIRM_PREDICTED] = "predicted"};

	return word[kind];
}

bool
plan_is_mix(const struct plan *p)
{
	const uint32_t fallback = fallback_of(p->mix, p->mix->n);
	uint32_t first = fallback;

	for (uint32_t i = 0; i < p->nregions; i++) {
		const uint32_t t = p->region[i].target;

		if (first == fallback)
			first = t;
		else if (t != fallback && t != first)
			return true;
	}
	return false;
}

bool
plan_is_picked(const struct plan *p)
{
	return plan_is_mix(p) || plan_has_parts(p);
}

/* Each may fall back, so what all fall back to is never cheaper alone. */
const struct plan_baseline *
plan_best_single(const struct plan *p)
{
	const uint32_t fallback = fallback_of(p->mix, p->mix->n);
	const struct plan_baseline *best = NULL;

	for (uint32_t t = 0; t < p->mix->n && t < p->nbaselines; t++) {
		const struct plan_baseline *b = &p->baseline[t];

		if (t != fallback && b->plan && b->cost != COST_NEVER
		    && (!best || b->cost < best->cost))
			best = b;
	}
	return best;
}
