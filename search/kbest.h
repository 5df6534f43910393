/* The best covers, not only the best one. */
#ifndef SEARCH_TOP_H
#define SEARCH_TOP_H

#include "search/solve.h"

struct search_top {
	struct search_result *best; /* [k], the caller's; ascending */
	uint32_t k, n; /* asked for; found */
};

/* The k cheapest covers that differ in the candidates they choose. best[i] is
 * proven when no more than i covers are cheaper; no cover that is not listed costs
 * less than its lower_bound. Fewer than k where there are no more, or where the
 * time ended: then nothing further is begun. Branches are solved o->threads at a
 * time; each may have an eighth of the memory, so that the answer does not depend
 * on that. */
bool search_top(struct search_top *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err);

#endif
