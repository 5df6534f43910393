/* The best covers, not only the best one. */
#ifndef SEARCH_TOP_H
#define SEARCH_TOP_H

#include "search/solve.h"

struct search_top {
	struct search_result *best; /* [k], the caller's; ascending */
	uint32_t k, n; /* asked for; found */
};

/* The k cheapest covers that differ in the candidates they choose. Each is
 * proven to be the next one as far as its own `proven` says. Solves about k
 * times as many problems as a cover has steps, o->threads at a time; each may
 * have an eighth of the memory, so that the answer does not depend on that. */
bool search_top(struct search_top *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err);

#endif
