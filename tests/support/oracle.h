/* Every cover of a small problem in every order, split into runs in every way,
 * for tests that know what a sequence costs better than the problem says. */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include "search/cover.h"

#define ORACLE_NODES 16

struct oracle {
	const struct problem *p;
	/* Of the sequence as it is now; what is taken from the arena is given
	 * back. */
	cost_ns (*cost)(const struct oracle *o, struct arena *a);
	uint32_t chosen[ORACLE_NODES], n; /* candidates in order */
	bool fresh[ORACLE_NODES]; /* starts a run */
	bool done[ORACLE_NODES]; /* nodes */
	cost_ns best; /* what the cheapest of all costs */
};

/* Fill o->best. */
void oracle_try_all(struct oracle *o, struct arena *a);

#endif
