/* Covers laid anew by groups, against what they must be: legal, no run with two
 * groups, and a group in several runs only where no order would do. Argument:
 * number of cases (default 2000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/groups.h"
#include "search/check.h"
#include "search/solve.h"
#include "tests/support/problems.h"

struct subject {
	const struct problem *p;
	const struct cover *before, *after;
	const struct candidate *all;
};

/* A limit on runs overrules groups. */
static uint32_t
group_of(const struct subject *s, const struct cover *c, uint32_t step)
{
	uint32_t id = c->step[step].candidate;
	const struct problem_target *t =
	    &s->p->target[s->p->candidate[id].target];
	bool limited = t->part_of || t->fed_only || t->max_runs != NO_LIMIT
	    || t->max_run_nodes != NO_LIMIT;

	return limited ? 0 : s->all[id].group;
}

static uint32_t
target_at(const struct subject *s, const struct cover *c, uint32_t step)
{
	return s->p->candidate[c->step[step].candidate].target;
}

/* Do two steps of the cover before go together? */
static bool
is_one(const struct subject *s, uint32_t a, uint32_t b)
{
	const struct cover *c = s->before;
	uint32_t group = group_of(s, c, a), target = target_at(s, c, a);

	if (a == b)
		return true;
	if (target != target_at(s, c, b) || group != group_of(s, c, b))
		return false;
	return group
	    || (s->p->tracked[target] && c->step[a].run == c->step[b].run);
}

static bool
feeds(const struct subject *s, uint32_t a, uint32_t b)
{
	const struct problem_candidate *from =
	    &s->p->candidate[s->before->step[a].candidate];
	const struct problem_candidate *to =
	    &s->p->candidate[s->before->step[b].candidate];

	for (uint32_t i = 0; i < from->noutputs; i++)
		for (uint32_t k = 0; k < to->ninputs; k++)
			if (from->output[i].value == to->input[k].value)
				return true;
	return false;
}

static uint32_t
first_with(const struct subject *s, uint32_t step)
{
	uint32_t first = 0;

	while (!is_one(s, first, step))
		first++;
	return first;
}

/* Does what goes together wait for something that waits for it? Warshall. */
static bool
is_cyclic(const struct subject *s, struct arena *a)
{
	uint32_t n = s->before->nsteps;
	bool *way = arena_new(a, bool, (size_t)n *n), cyclic = false;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			if (feeds(s, i, k) && !is_one(s, i, k))
				way[first_with(s, i) * n + first_with(s, k)] =
				    true;
	for (uint32_t m = 0; m < n; m++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < n; k++)
				way[i * n + k] |=
				    way[i * n + m] && way[m * n + k];
	for (uint32_t i = 0; i < n; i++)
		cyclic |= way[i * n + i];
	return cyclic;
}

/* Is a group in several runs? *mixed: a run holds two. */
static bool
is_split(const struct subject *s, bool *mixed)
{
	const struct cover *c = s->after;
	bool split = false;

	for (uint32_t i = 0; i < c->nsteps; i++)
		for (uint32_t k = i + 1; k < c->nsteps; k++) {
			bool same = target_at(s, c, i) == target_at(s, c, k)
			    && group_of(s, c, i) == group_of(s, c, k);
			bool run = c->step[i].run == c->step[k].run;

			*mixed |= run && !same;
			split |= same && !run && group_of(s, c, i) > 0;
		}
	return split;
}

static bool
is_right(struct rng *r, const struct problem *p, uint64_t seed, struct arena *a)
{
	struct candidate *all = arena_new(a, struct candidate, p->ncandidates);
	struct candidates list = {.n = p->ncandidates, .candidate = all};
	struct search_options o = {0};
	struct err err = {.kind = ERR_NONE};
	struct search_result found;
	struct cover after;
	struct subject s = {p, &found.cover, &after, all};
	bool mixed = false, split;

	for (uint32_t i = 0; i < p->ncandidates; i++)
		all[i].group = (uint32_t)rng_below(r, 3);
	if (!search_exact(&found, p, &o, a, &err) || !found.found)
		return err.kind == ERR_NONE;
	after = found.cover;
	groups_apply(&after, p, &list, a);
	/* A run that is cut may leave behind what cannot be brought in again. */
	if (p->local && after.cost == COST_NEVER)
		return true;
	split = is_split(&s, &mixed);
	if (!cover_check(&after, p, a, &err))
		return fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, err.text)
		    < 0;
	if (after.cost < found.lower_bound || mixed
	    || (split && !p->has_marks && !is_cyclic(&s, a)))
		return fprintf(stderr, "seed %" PRIu64 ": %s\n", seed,
		           mixed       ? "two groups in a run"
		               : split ? "a group in two runs"
		                       : "cheaper than the cheapest")
		    < 0;
	return true;
}

int
main(int argc, char **argv)
{
	static const struct problem_mix mix = {9, 8, 3, 3, .launches = true,
	    .limits = true, .marks = true, .taps = true, .resources = true,
	    .parts = true, .local = true};
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000, bad = 0;

	for (uint64_t seed = 0; seed < n; seed++) {
		struct rng r = rng_seeded(seed);
		struct arena a;

		arena_init(&a);
		bad += !is_right(&r, problem_random(&r, &mix, &a), seed, &a);
		arena_release(&a);
	}
	printf("%" PRIu64 " cases, %" PRIu64 " failed\n", n, bad);
	return bad > 0;
}
