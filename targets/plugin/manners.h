/* What a plug-in may not do while it executes, looked for in its first run. */
#ifndef TARGETS_PLUGIN_MANNERS_H
#define TARGETS_PLUGIN_MANNERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/err.h"

/* Which verdicts are the same: one more where what is looked for, what a region is
 * written as or how it is run changes. It is in the key, so what earlier programs
 * held against a plug-in is found out anew. 2: processor times that went back, read
 * as spinning before. 3: first runs that translate code, taken for bounds before. */
#define MANNERS_VERSION 3

/* What is to be as it was. */
struct manners {
	uint32_t ninputs, noutputs;
	const void *const *in; /* [ninputs] */
	void *const *out; /* [noutputs] */
	const size_t *in_bytes, *out_bytes;
	bool may_spin;
	struct manners_state *state;
};

/* Before the run: remember inputs, mark what is behind the outputs. */
void manners_before(struct manners *m);

/* Behind it: false, saying in one line what it did. */
bool manners_after(struct manners *m, struct err *err);

/* Have threads that should sleep used more than it takes to come to rest? Both are
 * processor times of all threads but the one that asks: differences of two clocks,
 * so the later one may be a little less. */
bool manners_spins(uint64_t before, uint64_t now);

#endif
