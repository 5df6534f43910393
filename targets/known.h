/* What is known of the numbers of a run before kernels look at them: where few tensors
 * were looked at and are small, how large can all others be? What is known to be
 * finite everywhere needs no guard of its own (targets/guarded.h). */
#ifndef TARGETS_KNOWN_H
#define TARGETS_KNOWN_H

#include "ir/base/bitset.h"
#include "targets/pattern.h"

/* What is looked at is small below 2 to this power, in a run. */
#define KNOWN_POWER 20

/* Of each value: below which power of two its numbers are (struct value, `below`), in a
 * run where what is `looked_at` is small. Inputs are looked at, and what goes into a
 * product where nothing is known of it, or where sums might get too large. */
void known_find(const struct graph *g);

/* Nothing that the match reads or computes can be NaN or infinite in such a run, and
 * what is to be looked at is there to be. */
bool known_match(const struct graph *g, const struct match *m);

/* The largest power of two below which all that the match reads may be, so that nothing
 * it computes can be NaN or infinite, whichever way; 0: nobody knows. */
int known_power(const struct graph *g, const struct match *m);

/* Add to the needed values those that what is known of them rests on; of these, the ones
 * that are `looked_at` are to be looked at. */
void known_needs(const struct graph *g, struct bitset needed);

#endif
