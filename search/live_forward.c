#include "search/live_forward.h"

#include <assert.h>
#include <string.h>

/* Words of a key per word of a set, target and live value. */
#define SET_WORDS 2u
#define TARGET_WORDS 3u
#define LIVE_WORDS ((uint32_t)(sizeof(struct live_forward) / sizeof(uint32_t)))

struct forward_state
forward_state_new(const struct problem *p, struct arena *a)
{
	return (struct forward_state){.covered = bitset_new(a, p->nnodes),
	    .last = NO_LIMIT,
	    .ntargets = p->ntargets,
	    .runs = arena_new(a, uint32_t, p->ntargets),
	    .used = arena_new(a, uint64_t, p->ntargets),
	    .live = arena_new(a, struct live_forward, p->nvalues)};
}

void
forward_state_copy(struct forward_state *to, const struct forward_state *from)
{
	bitset_clear(to->covered);
	bitset_or(to->covered, from->covered);
	memcpy(to->runs, from->runs, from->ntargets * sizeof *to->runs);
	memcpy(to->used, from->used, from->ntargets * sizeof *to->used);
	memcpy(to->live, from->live, from->nlive * sizeof *to->live);
	to->last = from->last;
	to->run_nodes = from->run_nodes;
	to->nlive = from->nlive;
	to->cost = from->cost;
}

void
forward_state_verify(const struct forward_state *x, const struct problem *p)
{
	assert(x->nlive <= p->nvalues && x->ntargets == p->ntargets);
	assert(x->last == NO_LIMIT || x->last < p->ntargets);
	for (uint32_t i = 0; i < x->nlive; i++) {
		const struct live_forward *l = &x->live[i];

		assert(l->value < p->nvalues);
		assert(i == 0 || x->live[i - 1].value < l->value); /* (F1) */
		assert(l->have || l->need || l->inside); /* (F2) */
		assert(!(l->inside & ~p->local)); /* (F3) */
	}
	for (uint32_t t = 0; t < p->ntargets; t++)
		assert(x->used[t] <= p->target[t].capacity); /* (F4) */
}

struct live_forward *
live_forward_add(struct forward_state *x, const struct live_forward *live)
{
	uint32_t at = x->nlive++;

	for (; at > 0 && x->live[at - 1].value > live->value; at--)
		x->live[at] = x->live[at - 1];
	x->live[at] = *live;
	return &x->live[at];
}

size_t
forward_key_room(const struct problem *p)
{
	return (size_t)SET_WORDS * (p->nnodes / 64 + 1) + 2
	    + (size_t)TARGET_WORDS * p->ntargets
	    + (size_t)LIVE_WORDS * p->nvalues;
}

size_t
forward_state_pack(const struct forward_state *x, uint32_t *key)
{
	uint32_t *w = key;

	memcpy(w, x->covered.word, x->covered.nwords * sizeof(uint64_t));
	w += (size_t)SET_WORDS * x->covered.nwords;
	*w++ = x->last;
	*w++ = x->run_nodes;
	memcpy(w, x->runs, x->ntargets * sizeof *x->runs);
	w += x->ntargets;
	memcpy(w, x->used, x->ntargets * sizeof *x->used);
	w += (size_t)2 * x->ntargets;
	memcpy(w, x->live, x->nlive * sizeof *x->live);
	w += (size_t)LIVE_WORDS * x->nlive;
	return (size_t)(w - key) * sizeof *w;
}

void
forward_state_unpack(struct forward_state *x, const uint32_t *key, size_t n)
{
	const uint32_t *w = key, *end = key + n / sizeof *key;

	memcpy(x->covered.word, w, x->covered.nwords * sizeof(uint64_t));
	w += (size_t)SET_WORDS * x->covered.nwords;
	x->last = *w++;
	x->run_nodes = *w++;
	memcpy(x->runs, w, x->ntargets * sizeof *x->runs);
	w += x->ntargets;
	memcpy(x->used, w, x->ntargets * sizeof *x->used);
	w += (size_t)2 * x->ntargets;
	x->nlive = (uint32_t)(end - w) / LIVE_WORDS;
	memcpy(x->live, w, x->nlive * sizeof *x->live);
}
