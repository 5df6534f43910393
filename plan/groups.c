#include "plan/groups.h"

#include <string.h>

/* A unit is what runs in one go: a group, a run that matters, or a single step.
 * It is known by the first of its steps. */
struct regrouping {
	const struct problem *p;
	const struct candidates *all;
	const struct cover *cover;
	uint32_t *unit; /* [nsteps] */
	uint32_t *unit_of; /* [nnodes] */
	uint32_t *waiting; /* [nsteps] uses of what other units make, by unit */
};

static const struct problem_candidate *
candidate_at(const struct regrouping *r, uint32_t step)
{
	return &r->p->candidate[r->cover->step[step].candidate];
}

/* 0: the step has none, or a limit on its target's runs overrules it. */
static uint32_t
group_at(const struct regrouping *r, uint32_t step)
{
	const struct problem_target *t =
	    &r->p->target[candidate_at(r, step)->target];

	if (t->part_of || t->fed_only || t->max_runs != NO_LIMIT
	    || t->max_run_nodes != NO_LIMIT)
		return 0;
	return r->all->candidate[r->cover->step[step].candidate].group;
}

static bool
is_run(const struct regrouping *r, uint32_t step)
{
	return group_at(r, step)
	    || r->p->tracked[candidate_at(r, step)->target];
}

static bool
belong_together(const struct regrouping *r, uint32_t a, uint32_t b)
{
	uint32_t group = group_at(r, a);

	if (candidate_at(r, a)->target != candidate_at(r, b)->target
	    || group != group_at(r, b) || !is_run(r, a))
		return false;
	return group || r->cover->step[a].run == r->cover->step[b].run;
}

static void
find_units(struct regrouping *r)
{
	for (uint32_t i = 0; i < r->cover->nsteps; i++) {
		const struct problem_candidate *c = candidate_at(r, i);
		uint32_t first = is_run(r, i) ? 0 : i;

		while (first < i && !belong_together(r, first, i))
			first++;
		r->unit[i] = first;
		for (uint32_t k = 0; k < c->nnodes; k++)
			r->unit_of[c->node[k]] = first;
	}
}

/* Add `by` to what waits for a step. */
static void
count_uses(struct regrouping *r, uint32_t step, uint32_t by)
{
	const struct problem *p = r->p;
	const struct problem_candidate *c = candidate_at(r, step);

	for (uint32_t k = 0; k < c->noutputs; k++) {
		uint32_t v = c->output[k].value;

		for (uint32_t i = p->user_start[v]; i < p->user_start[v + 1];
		     i++)
			if (r->unit_of[p->user[i]] != r->unit[step])
				r->waiting[r->unit_of[p->user[i]]] += by;
	}
}

/* The steps, unit by unit, the earliest that waits for nothing first; false:
 * units wait for each other. */
static bool
order_units(struct regrouping *r, uint32_t *order)
{
	uint32_t n = 0, nsteps = r->cover->nsteps, u;

	for (uint32_t i = 0; i < nsteps; i++)
		count_uses(r, i, 1);
	while (n < nsteps) {
		for (u = 0; u < nsteps; u++)
			if (r->unit[u] == u && r->waiting[u] == 0)
				break;
		if (u == nsteps)
			return false;
		r->waiting[u] = UINT32_MAX; /* done */
		for (uint32_t i = u; i < nsteps; i++)
			if (r->unit[i] == u) {
				order[n++] = i;
				count_uses(r, i, UINT32_MAX);
			}
	}
	return true;
}

static bool
has_groups(const struct regrouping *r)
{
	for (uint32_t i = 0; i < r->cover->nsteps; i++)
		if (group_at(r, i))
			return true;
	return false;
}

void
groups_apply(struct cover *c, const struct problem *p,
    const struct candidates *all, struct arena *a)
{
	const struct cover from = *c;
	struct regrouping r = {.p = p, .all = all, .cover = &from};
	struct arena scratch;
	uint32_t *order, *candidate;
	bool *fresh;

	if (!has_groups(&r))
		return;
	arena_init(&scratch);
	r.unit = arena_new(&scratch, uint32_t, from.nsteps);
	r.unit_of = arena_new(&scratch, uint32_t, p->nnodes);
	r.waiting = arena_new(&scratch, uint32_t, from.nsteps);
	order = arena_new(&scratch, uint32_t, from.nsteps);
	candidate = arena_new(&scratch, uint32_t, from.nsteps);
	fresh = arena_new(&scratch, bool, from.nsteps);
	find_units(&r);
	/* Part of a group may be left out, and the way lead out and back in:
	 * then the order stays, and runs are cut where the unit changes. */
	if (!order_units(&r, order))
		for (uint32_t i = 0; i < from.nsteps; i++)
			order[i] = i;
	for (uint32_t i = 0; i < from.nsteps; i++) {
		candidate[i] = from.step[order[i]].candidate;
		fresh[i] = i > 0 && r.unit[order[i]] != r.unit[order[i - 1]]
		    && (is_run(&r, order[i]) || is_run(&r, order[i - 1]));
	}
	cover_complete(c, p, candidate, fresh, from.nsteps, a);
	arena_release(&scratch);
}
