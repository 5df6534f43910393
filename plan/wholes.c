#include "plan/wholes.h"
#include "search/problem_index.h"

void
wholes_init(struct wholes *w, const struct plan *about,
    const struct problem *base, struct arena *a)
{
	*w = (struct wholes){.about = about, .base = base, .arena = a};
	w->columns = (struct columns){.about = about, .arena = a};
	map_init(&w->seen, a);
	w->raised = arena_new(a, cost_ns, base->ncandidates);
	w->apart = arena_new(a, bool, base->nvalues);
}

static cost_ns
own_price(const struct wholes *w, uint32_t candidate)
{
	return price_least(&w->about->prices->candidate[candidate]);
}

/* Parts of a region that costs more than their sum cost as much more. */
static void
raise(struct wholes *w, const uint32_t *run, uint32_t n, cost_ns sum,
    cost_ns whole)
{
	for (uint32_t i = 0; i < n; i++) {
		double share = (double)own_price(w, run[i]) / (double)sum;
		cost_ns price = (cost_ns)(share * (double)whole + 1);

		if (price > w->raised[run[i]])
			w->raised[run[i]] = price;
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

/* A run that cannot be is cut in two at its middle: what one half makes and the
 * other reads keeps them apart. Halves that share nothing cannot be held apart;
 * then none of its parts can be chosen. */
static void
cut(struct wholes *w, const uint32_t *run, uint32_t n)
{
	const struct problem_candidate *all = w->base->candidate;
	bool any = false;

	for (uint32_t to = n / 2; to < n; to++)
		for (uint32_t k = 0; k < all[run[to]].ninputs; k++) {
			uint32_t value = all[run[to]].input[k].value;

			for (uint32_t from = 0; from < n / 2; from++)
				if (makes(&all[run[from]], value))
					any = w->apart[value] = true;
		}
	for (uint32_t i = 0; !any && i < n; i++)
		w->raised[run[i]] = COST_NEVER;
}

/* A run that was not priced before; does its price differ from its parts'? */
static bool
learn(struct wholes *w, const uint32_t *run, uint32_t n, cost_ns whole)
{
	const uint32_t *copy = arena_copy(w->arena, run, n * sizeof *run);
	const struct candidate *first = &w->about->candidates->candidate[*run];
	cost_ns sum = parts_cost(w->about, run, n);
	uint32_t nnodes = 0, number = w->seen.nkeys;

	if (map_add(&w->seen, copy, n * sizeof *copy, number) != number)
		return false;
	for (uint32_t i = 0; i < n; i++)
		nnodes += w->base->candidate[run[i]].nnodes;
	if (whole == sum)
		return false;
	w->moved = arena_grow(
	    w->arena, w->moved, &w->moved_cap, w->nmoved + 1, sizeof *w->moved);
	w->moved[w->nmoved++] = (struct plan_move){.target = first->target,
	    .node = first->node[0],
	    .ncomposites = n,
	    .nnodes = nnodes,
	    .parts = sum,
	    .whole = whole};
	if (whole == COST_NEVER) {
		cut(w, copy, n);
		return true;
	}
	if (whole > sum && sum > 0)
		raise(w, copy, n, sum, whole);
	columns_offer(&w->columns, w->base, copy, n);
	return true;
}

cost_ns
wholes_cost(struct wholes *w, const struct cover *c, bool *news)
{
	uint32_t *run = arena_new(w->arena, uint32_t, c->nsteps);
	cost_ns cost = c->cost;
	bool never = false;

	*news = false;
	for (uint32_t i = 0, n; i < c->nsteps; i += n) {
		struct estimate price;

		for (n = 0;
		     i + n < c->nsteps && c->step[i + n].run == c->step[i].run;
		     n++)
			run[n] = c->step[i + n].candidate;
		if (!plan_region_price(w->about, run, n, &price))
			continue;
		*news |= learn(w, run, n, price.ns);
		never |= price.ns == COST_NEVER;
		if (!never)
			cost = cost_add(
			    cost - parts_cost(w->about, run, n), price.ns);
	}
	return never ? COST_NEVER : cost;
}

bool
wholes_apply(const struct wholes *w, struct problem *out, struct err *err)
{
	const struct problem *p = w->base;

	columns_apply(&w->columns, p, out);
	out->value =
	    arena_copy(w->arena, p->value, p->nvalues * sizeof *p->value);
	for (uint32_t v = 0; v < p->nvalues; v++)
		out->value[v].mark |= w->apart[v];
	for (uint32_t i = 0; i < p->ncandidates; i++) {
		struct problem_candidate *c = &out->candidate[i];

		if (candidate_usable(c) && w->raised[i] > c->cost)
			c->cost = w->raised[i];
	}
	return problem_index(out, w->arena, err)
	    || err_in(err, "search problem with regions");
}

void
wholes_expand(const struct wholes *w, struct cover *c)
{
	columns_expand(&w->columns, w->base, c);
}
