#include "plan/whole.h"

#include <string.h>

#include "ir/base/bitset.h"

static bool
is_offered(const struct candidates *all, const struct mix *m, uint32_t c)
{
	return rule_of_sets(
	    m->target[all->candidate[c].target].kind, all->candidate[c].rule);
}

/* How many nodes are in any region that the target was offered. */
static uint32_t
count_offered(const struct candidates *all, const struct mix *m,
    uint32_t target, struct arena *scratch)
{
	node_id last = 0;
	uint32_t n = 0;
	struct bitset in;

	for (uint32_t c = 0; c < all->n; c++) {
		const struct candidate *x = &all->candidate[c];

		if (x->nnodes && x->node[x->nnodes - 1] > last)
			last = x->node[x->nnodes - 1];
	}
	in = bitset_new(scratch, last + 1);
	for (uint32_t c = 0; c < all->n; c++)
		if (all->candidate[c].target == target && is_offered(all, m, c))
			for (uint32_t i = 0; i < all->candidate[c].nnodes; i++)
				bitset_add(in, all->candidate[c].node[i]);
	for (node_id id = 0; id <= last; id++)
		n += bitset_has(in, id);
	return n;
}

uint32_t
whole_of(const struct candidates *all, const struct mix *m,
    const struct prices *p, uint32_t target)
{
	uint32_t whole = WHOLE_NONE;
	struct arena scratch;

	if (m->target[target].kind->nset_rules == 0)
		return WHOLE_NONE;
	for (uint32_t c = 0; c < all->n; c++)
		if (all->candidate[c].target == target && is_offered(all, m, c)
		    && prices_candidate(p, c)->state != PRICE_FAILED
		    && (whole == WHOLE_NONE
		        || all->candidate[c].nnodes
		            > all->candidate[whole].nnodes))
			whole = c;
	if (whole == WHOLE_NONE)
		return WHOLE_NONE;
	arena_init(&scratch);
	if (count_offered(all, m, target, &scratch)
	    != all->candidate[whole].nnodes)
		whole = WHOLE_NONE;
	arena_release(&scratch);
	return whole;
}

/* Is the candidate its target's, and less than its whole? */
static bool
is_part_of_whole(
    const struct candidates *all, uint32_t candidate, uint32_t whole)
{
	return whole != WHOLE_NONE
	    && all->candidate[candidate].target == all->candidate[whole].target
	    && all->candidate[candidate].nnodes < all->candidate[whole].nnodes;
}

/* The whole, or another way to run it. */
static bool
is_whole(const struct candidate *c, const struct candidate *whole)
{
	return c->target == whole->target && c->nnodes == whole->nnodes
	    && memcmp(c->node, whole->node, c->nnodes * sizeof *c->node) == 0;
}

bool
meets_whole(const struct candidates *all, uint32_t candidate, uint32_t whole)
{
	const struct candidate *c = &all->candidate[candidate], *w;
	uint32_t k = 0;

	if (whole == WHOLE_NONE || is_whole(c, &all->candidate[whole]))
		return false;
	w = &all->candidate[whole];
	for (uint32_t i = 0; i < c->nnodes; i++) {
		while (k < w->nnodes && w->node[k] < c->node[i])
			k++;
		if (k < w->nnodes && w->node[k] == c->node[i])
			return true;
	}
	return false;
}

static bool
has_parts_of(const struct plan *p, uint32_t whole)
{
	for (uint32_t i = 0; i < p->ncomposites; i++)
		if (is_part_of_whole(
		        p->candidates, p->composite[i].candidate, whole))
			return true;
	return false;
}

bool
plan_has_parts(const struct plan *p)
{
	for (uint32_t t = 0; t < p->mix->n; t++)
		if (has_parts_of(
		        p, whole_of(p->candidates, p->mix, p->prices, t)))
			return true;
	return false;
}
