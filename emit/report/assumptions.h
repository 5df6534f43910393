/* Figures that simulators assume, by what they could cost: the regret of keeping
 * the plan at the worse end of a figure's range. */
#ifndef EMIT_REPORT_ASSUMPTIONS_H
#define EMIT_REPORT_ASSUMPTIONS_H

#include "emit/report/view.h"

struct assumed_end {
	double value, breaks_at;
	bool flips, has_break; /* has_break: breaks_at is told */
	uint64_t kept, best;
	uint32_t moved; /* nodes */
};

struct assumed {
	const char *parameter, *unit;
	uint32_t target; /* or PAGE_NONE */
	double value;
	struct assumed_end end[2]; /* low, high */
	uint32_t worse; /* the end of most regret */
	uint64_t regret;
};

struct assumptions {
	bool looked; /* sensitivity was part of the search */
	uint32_t n, left; /* varied; not, for lack of time */
	struct assumed *item; /* most regret first */
};

void assumptions_init(struct assumptions *s, const struct page_view *v);

/* What keeping the plan costs at an end; NS_NEVER: it is not legal there. */
uint64_t regret_of(const struct assumed_end *e);

/* Below a thousandth of the plan nobody would act on it. */
bool matters(const struct assumed *a, const struct page_view *v);

/* The one that moves the plan's cost most; NULL: none does. */
const struct assumed *widest(const struct assumptions *s);

/* What the total costs at both ends, cheapest first. */
void ends_of(const struct assumed *a, uint64_t *low, uint64_t *high);

#endif
