/* A state of the order search: what a label knows, and all that what may come
 * after it depends on. */
#ifndef SEARCH_ORDER_STATE_H
#define SEARCH_ORDER_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "ir/base/bitset.h"
#include "search/problem.h"

/* A fed or produced value somebody still needs: the formats it came in, those
 * asked for so far (their tree is paid), and what the current run knows of it.
 * Words only, without gaps: keys are made of them. */
struct live_forward {
	uint32_t value;
	uint32_t fresh; /* made in the current run, where that matters */
	uint32_t have;
	uint32_t need; /* beyond `have`; local ones: brought in by some run */
	uint32_t inside; /* local formats it is in within the current run */
};

/* Everything but the cost is part of the key: labels whose states have equal
 * keys have the same future, and the cheapest stays. */
struct forward_state {
	struct bitset covered;
	uint32_t last; /* target of the current run; NO_LIMIT: none */
	uint32_t run_nodes; /* where sizes are limited */
	uint32_t ntargets;
	uint32_t *runs; /* [ntargets] where counts are limited */
	uint64_t *used; /* [ntargets] where capacity is limited */
	struct live_forward *live; /* ascending values, room for all */
	uint32_t nlive;
	cost_ns cost; /* paid so far */
};

/* Nothing covered, no value live, no run. */
struct forward_state forward_state_new(
    const struct problem *p, struct arena *a);

/* Both of one problem. */
void forward_state_copy(
    struct forward_state *to, const struct forward_state *from);

/* The live value; NULL: it is not live. */
static inline struct live_forward *
live_forward_find(const struct forward_state *x, uint32_t value)
{
	for (uint32_t i = 0; i < x->nlive; i++)
		if (x->live[i].value == value)
			return &x->live[i];
	return NULL;
}

/* Make a value live that was not; where it is now. */
struct live_forward *live_forward_add(
    struct forward_state *x, const struct live_forward *live);

/* (F1) live values ascend; (F2) each is somewhere or asked for; (F3) what holds within
 * a region is local; (F4) no capacity is exceeded. */
void forward_state_verify(
    const struct forward_state *x, const struct problem *p);

/* Words the key of any state of the problem fits in. */
size_t forward_key_room(const struct problem *p);

/* Write the state's key; its bytes. */
size_t forward_state_pack(const struct forward_state *x, uint32_t *key);

/* The state with this key; its cost is not changed. */
void forward_state_unpack(
    struct forward_state *x, const uint32_t *key, size_t n);

#endif
