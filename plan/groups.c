#include "plan/groups.h"

#include <assert.h>

#include "search/convert.h"

/* A unit is what runs in one go: a group, a run that matters, or a single step.
 * It is known by the first of its steps. */
struct regrouping {
	const struct problem *p;
	const struct candidates *all;
	const struct cover *cover;
	uint32_t *unit; /* [nsteps] */
	uint32_t *unit_of; /* [nnodes] */
	uint32_t *waiting; /* [nsteps] uses of what other units make, by unit */
	uint32_t *order; /* [nsteps] steps as they are laid */
	bool *tied; /* [nsteps] to the step before: never in another run */
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
order_units(struct regrouping *r)
{
	uint32_t n = 0, nsteps = r->cover->nsteps, u;

	for (uint32_t i = 0; i < nsteps; i++)
		count_uses(r, i, 1);
	while (n < nsteps) {
		assert(n == 0 || r->unit[r->order[n - 1]] <= r->order[n - 1]);
		for (u = 0; u < nsteps; u++)
			if (r->unit[u] == u && r->waiting[u] == 0)
				break;
		if (u == nsteps)
			return false;
		r->waiting[u] = UINT32_MAX; /* done */
		for (uint32_t i = u; i < nsteps; i++)
			if (r->unit[i] == u) {
				r->order[n++] = i;
				count_uses(r, i, UINT32_MAX);
			}
	}
	return true;
}

static void
keep_order(struct regrouping *r)
{
	for (uint32_t i = 0; i < r->cover->nsteps; i++)
		r->order[i] = i;
}

static bool
reads(const struct problem_candidate *c, struct problem_port what)
{
	for (uint32_t k = 0; k < c->ninputs; k++)
		if (c->input[k].value == what.value
		    && c->input[k].format == what.format)
			return true;
	return false;
}

/* What a step makes in a format that cannot be brought in ties those to it that
 * read it so. */
static void
tie_readers(struct regrouping *r, uint32_t maker, struct problem_port made)
{
	const struct cover_step *step = r->cover->step;
	uint32_t tied = maker;

	for (uint32_t i = maker + 1;
	     i < r->cover->nsteps && step[i].run == step[maker].run; i++)
		if (reads(candidate_at(r, i), made))
			while (tied < i)
				r->tied[++tied] = true;
}

static void
tie_steps(struct regrouping *r, struct arena *a)
{
	struct converter_memo memo;

	convert_init(&memo, r->p, a);
	for (uint32_t i = 0; i < r->cover->nsteps; i++) {
		const struct problem_candidate *c = candidate_at(r, i);

		for (uint32_t k = 0; k < c->noutputs; k++) {
			uint32_t bit = UINT32_C(1) << c->output[k].format;

			if (convert_cost(&memo,
			        r->p->value[c->output[k].value].class, bit, bit)
			    == COST_NEVER)
				tie_readers(r, i, c->output[k]);
		}
	}
}

static void
lay(struct cover *out, const struct regrouping *r, struct arena *a)
{
	uint32_t n = r->cover->nsteps;
	uint32_t *candidate = arena_new(a, uint32_t, n);
	bool *fresh = arena_new(a, bool, n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = r->order[i], before = i ? r->order[i - 1] : at;

		candidate[i] = r->cover->step[at].candidate;
		fresh[i] = r->unit[at] != r->unit[before] && !r->tied[at]
		    && (is_run(r, at) || is_run(r, before));
	}
	cover_complete(out, r->p, candidate, fresh, n, a);
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

	if (!has_groups(&r))
		return;
	arena_init(&scratch);
	r.unit = arena_new(&scratch, uint32_t, from.nsteps);
	r.unit_of = arena_new(&scratch, uint32_t, p->nnodes);
	r.waiting = arena_new(&scratch, uint32_t, from.nsteps);
	r.order = arena_new(&scratch, uint32_t, from.nsteps);
	r.tied = arena_new(&scratch, bool, from.nsteps);
	find_units(&r);
	/* Part of a group may be left out, and the way lead out and back in:
	 * then the order stays, and runs are cut where the unit changes. */
	if (!order_units(&r))
		keep_order(&r);
	lay(c, &r, a);
	if (c->cost == COST_NEVER) {
		keep_order(&r);
		tie_steps(&r, &scratch);
		lay(c, &r, a);
	}
	assert(c->nsteps == from.nsteps);
	arena_release(&scratch);
}
