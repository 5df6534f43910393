/* Covers laid anew by groups, against what they must be: legal, no run with two
 * groups that could be cut, and a group in several runs only where no order would
 * do. Argument: number of cases (default 2000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/groups.h"
#include "search/check.h"
#include "search/solve.h"
#include "tests/support/problems.h"

static uint32_t tied; /* covers that had to stay as they were somewhere */

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

static bool
same_group(
    const struct subject *s, const struct cover *c, uint32_t i, uint32_t k)
{
	return target_at(s, c, i) == target_at(s, c, k)
	    && group_of(s, c, i) == group_of(s, c, k);
}

/* Is a group in several runs? */
static bool
is_split(const struct subject *s)
{
	const struct cover *c = s->after;

	for (uint32_t i = 0; i < c->nsteps; i++)
		for (uint32_t k = i + 1; k < c->nsteps; k++)
			if (group_of(s, c, i) > 0 && same_group(s, c, i, k)
			    && c->step[i].run != c->step[k].run)
				return true;
	return false;
}

/* Does step a make in a local format what b reads so, with no way to bring it
 * in? */
static bool
are_tied(const struct subject *s, const struct cover *c, uint32_t a, uint32_t b,
    struct converter_memo *memo)
{
	const struct problem_candidate *from =
	    &s->p->candidate[c->step[a].candidate];
	const struct problem_candidate *to =
	    &s->p->candidate[c->step[b].candidate];

	for (uint32_t i = 0; i < from->noutputs; i++)
		for (uint32_t k = 0; k < to->ninputs; k++) {
			struct problem_port x = from->output[i];
			uint32_t bit = 1u << x.format;

			if (x.value == to->input[k].value
			    && x.format == to->input[k].format
			    && convert_cost(
			           memo, s->p->value[x.value].class, bit, bit)
			        == COST_NEVER)
				return true;
		}
	return false;
}

/* Must steps k - 1 and k of a run stay together? */
static bool
cannot_cut(const struct subject *s, const struct cover *c, uint32_t k,
    struct converter_memo *memo)
{
	uint32_t run = c->step[k].run;

	for (uint32_t a = 0; a < k; a++)
		for (uint32_t b = k; b < c->nsteps; b++)
			if (c->step[a].run == run && c->step[b].run == run
			    && are_tied(s, c, a, b, memo))
				return true;
	return false;
}

/* Does a run hold two groups that could be cut? *uncut: that could not. */
static bool
is_mixed(const struct subject *s, bool *uncut, struct arena *a)
{
	const struct cover *c = s->after;
	struct converter_memo memo;

	convert_init(&memo, s->p, a);
	*uncut = false;
	for (uint32_t k = 1; k < c->nsteps; k++) {
		if (c->step[k].run != c->step[k - 1].run
		    || same_group(s, c, k - 1, k))
			continue;
		if (!cannot_cut(s, c, k, &memo))
			return true;
		*uncut = true;
	}
	return false;
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
	bool mixed, uncut, split;

	for (uint32_t i = 0; i < p->ncandidates; i++)
		all[i].group = (uint32_t)rng_below(r, 3);
	if (!search_exact(&found, p, &o, a, &err) || !found.found)
		return err.kind == ERR_NONE;
	after = found.cover;
	groups_apply(&after, p, &list, a);
	mixed = is_mixed(&s, &uncut, a);
	split = is_split(&s);
	tied += uncut;
	if (!cover_check(&after, p, a, &err))
		return fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, err.text)
		    < 0;
	if (after.cost < found.lower_bound || mixed
	    || (split && !p->has_marks && !uncut && !is_cyclic(&s, a)))
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
	printf("%" PRIu64 " cases, %" PRIu32
	       " with groups that cannot be cut, %" PRIu64 " failed\n",
	    n, tied, bad);
	return bad > 0;
}
