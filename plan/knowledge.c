#include "plan/knowledge.h"

#include <assert.h>
#include <string.h>

#include "search/problem_index.h"

void
knowledge_init(struct knowledge *k, const struct plan *about,
    const struct problem *base, struct arena *a)
{
	*k = (struct knowledge){.about = about,
	    .base = base,
	    .arena = a,
	    .penalty = arena_new(a, cost_ns, base->ncandidates),
	    .cut = arena_new(a, bool, base->nvalues)};
	knowledge_forget(k);
}

void
knowledge_forget(struct knowledge *k)
{
	k->columns = (struct columns){.about = k->about, .arena = k->arena};
	k->moved = NULL;
	k->nmoved = k->moved_cap = 0;
	map_init(&k->seen, k->arena);
	memset(k->penalty, 0, k->base->ncandidates * sizeof *k->penalty);
	memset(k->cut, 0, k->base->nvalues * sizeof *k->cut);
}

static cost_ns
own_price(const struct knowledge *k, uint32_t candidate)
{
	return price_least(prices_candidate(k->about->prices, candidate));
}

/* Parts of a region that costs more than their sum cost as much more. */
static void
raise(struct knowledge *k, const uint32_t *part, uint32_t n, cost_ns sum,
    cost_ns whole)
{
	for (uint32_t i = 0; i < n; i++) {
		double share = (double)own_price(k, part[i]) / (double)sum;
		cost_ns price = (cost_ns)(share * (double)whole + 1);

		if (price > k->penalty[part[i]])
			k->penalty[part[i]] = price;
	}
}

static bool
makes(const struct problem_candidate *c, uint32_t value)
{
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (c->output[i].value == value)
			return true;
	return false;
}

/* A region that cannot be is cut in two at its middle: what one half makes and the
 * other reads keeps them apart. Halves that share nothing cannot be held apart;
 * then none of its parts can be chosen. */
static void
cut(struct knowledge *k, const uint32_t *part, uint32_t n)
{
	const struct problem_candidate *all = k->base->candidate;
	bool any = false;

	for (uint32_t to = n / 2; to < n; to++)
		for (uint32_t i = 0; i < all[part[to]].ninputs; i++) {
			uint32_t value = all[part[to]].input[i].value;

			for (uint32_t from = 0; from < n / 2; from++)
				if (makes(&all[part[from]], value))
					any = k->cut[value] = true;
		}
	for (uint32_t i = 0; !any && i < n; i++)
		k->penalty[part[i]] = COST_NEVER;
}

/* A region that was not priced before; does its price differ from its parts'? */
static bool
learn(struct knowledge *k, const uint32_t *part, uint32_t n, cost_ns whole)
{
	const uint32_t *copy = arena_copy(k->arena, part, n * sizeof *part);
	const struct candidate *first = &k->about->candidates->candidate[*part];
	cost_ns sum = parts_cost(k->about, part, n);
	uint32_t nnodes = 0, number = k->seen.nkeys;

	assert(n > 1);
	if (map_add(&k->seen, copy, n * sizeof *copy, number) != number)
		return false;
	for (uint32_t i = 0; i < n; i++)
		nnodes += k->base->candidate[part[i]].nnodes;
	if (whole == sum)
		return false;
	k->moved = arena_grow(
	    k->arena, k->moved, &k->moved_cap, k->nmoved + 1, sizeof *k->moved);
	k->moved[k->nmoved++] = (struct plan_move){.target = first->target,
	    .node = first->node[0],
	    .ncomposites = n,
	    .nnodes = nnodes,
	    .parts = sum,
	    .whole = whole};
	if (whole == COST_NEVER) {
		cut(k, copy, n);
		return true;
	}
	if (whole > sum && sum > 0)
		raise(k, copy, n, sum, whole);
	columns_offer(&k->columns, k->base, copy, n);
	return true;
}

bool
knowledge_learn(struct knowledge *k, const struct cover *c)
{
	uint32_t *part = arena_new(k->arena, uint32_t, c->nsteps);
	bool news = false;

	for (uint32_t i = 0, n; i < c->nsteps; i += n) {
		cost_ns cost;

		n = cover_region(c, i, part);
		if (plan_region_cost(k->about, part, n, &cost))
			news |= learn(k, part, n, cost);
	}
	return news;
}

bool
knowledge_apply(const struct knowledge *k, struct problem *out, struct err *err)
{
	const struct problem *p = k->base;

	columns_apply(&k->columns, p, out);
	out->value =
	    arena_copy(k->arena, p->value, p->nvalues * sizeof *p->value);
	for (uint32_t v = 0; v < p->nvalues; v++)
		out->value[v].mark |= k->cut[v];
	for (uint32_t i = 0; i < p->ncandidates; i++) {
		struct problem_candidate *c = &out->candidate[i];

		if (candidate_usable(c) && k->penalty[i] > c->cost)
			c->cost = k->penalty[i];
	}
	return problem_index(out, k->arena, err)
	    || err_in(err, "search problem with regions");
}

void
knowledge_expand(const struct knowledge *k, struct cover *c)
{
	columns_expand(&k->columns, k->base, c);
}

void
knowledge_verify(const struct knowledge *k)
{
	const struct problem *p = k->base;

	assert(k->nmoved <= k->seen.nkeys); /* (Y2) */
	for (uint32_t i = 0; i < k->columns.n; i++) {
		const struct column *c = &k->columns.column[i];

		assert(c->nparts > 0);
		for (uint32_t n = 0; n < c->nparts; n++) {
			assert(c->part[n] < p->ncandidates);
			assert(p->candidate[c->part[n]].target
			    == c->candidate.target);
		}
	}
	for (uint32_t i = 0; i < k->nmoved; i++) {
		assert(k->moved[i].ncomposites > 1);
		assert(k->moved[i].parts != k->moved[i].whole);
	}
	for (uint32_t i = 0; k->nmoved == 0 && i < p->ncandidates; i++)
		assert(k->penalty[i] == 0); /* (Y1): nothing guessed */
}
