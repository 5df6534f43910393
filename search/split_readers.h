/* Readers that are never in the run that makes what they read, because something
 * only other targets can run has to come between. For them a local format is
 * always brought in, which bounds can know beforehand. */
#ifndef SEARCH_APART_H
#define SEARCH_APART_H

#include "ir/base/arena.h"
#include "search/problem.h"

struct split_readers {
	/* [ncandidates + 1] its first port in port[]; NULL: nothing is known */
	const uint32_t *start;
	bool *port; /* by candidate and input */
	/* [nformats] what it is brought in as, in the problem without local
	 * formats */
	uint32_t brought[FORMATS_MAX];
};

/* Find them. Without local formats there are none. */
void split_readers_find(
    struct split_readers *out, const struct problem *p, struct arena *a);

/* Does the candidate read the value so? */
bool split_readers_has(const struct split_readers *x, const struct problem *p,
    uint32_t candidate, uint32_t value);

/* The problem as if no format were local: a value converted for one run is there for
 * all. Only readers that are apart from the maker ask for a format of their own,
 * which is brought in once. No cover costs more for that. */
struct problem split_readers_relax(
    const struct split_readers *x, const struct problem *p, struct arena *a);

#endif
