/* Where a plan's prices come from: how many of which class, of which machine. */
#ifndef PLAN_ORIGINS_H
#define PLAN_ORIGINS_H

#include "plan/plan.h"

/* What is paid of measured prices of one machine. */
struct plan_origin {
	const char *class; /* exact, compatible or any, as --accept has them */
	const char *machine; /* origin_name() */
	uint32_t n; /* composites and conversions that pay such a price */
};

/* The class of a measured price; NULL: it was measured nowhere. */
const char *price_class(const struct price *p);

/* exact first, by machine; how many into *n, in `a`. */
const struct plan_origin *plan_origins(
    const struct plan *p, uint32_t *n, struct arena *a);

#endif
