/* Murty's partition: the covers other than the best are those without its first
 * step, those with it but without its second, and so on. */
#include "search/top.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/clock.h"

struct branch {
	bool *allowed; /* [ncandidates] */
	struct search_result best;
};

struct top {
	const struct problem *p;
	const struct search_options *o;
	struct arena *arena;
	struct branch *branch;
	uint32_t n, cap;
	uint64_t deadline; /* of all branches; 0: none */
};

/* At least 1 ns: 0 means no budget. */
static uint64_t
time_left(uint64_t deadline)
{
	uint64_t now = clock_ns();

	return now < deadline ? deadline - now : 1;
}

static bool
overlap(const struct problem_candidate *a, const struct problem_candidate *b)
{
	uint32_t i = 0, k = 0;

	while (i < a->nnodes && k < b->nnodes)
		if (a->node[i] == b->node[k])
			return true;
		else if (a->node[i] < b->node[k])
			i++;
		else
			k++;
	return false;
}

/* Solve what is left under `allowed`; a branch without a cover is dropped. */
static bool
add_branch(struct top *t, const bool *allowed, struct err *err)
{
	struct branch b = {
	    .allowed = arena_copy(t->arena, allowed, t->p->ncandidates)};
	struct search_options o = *t->o;
	struct problem sub;

	if (t->deadline)
		o.time_budget_ns = time_left(t->deadline);
	problem_restrict(&sub, t->p, allowed, t->arena);
	if (!search_exact(&b.best, &sub, &o, t->arena, err))
		return false;
	if (!b.best.found)
		return true;
	t->branch = arena_grow(
	    t->arena, t->branch, &t->cap, t->n + 1, sizeof *t->branch);
	t->branch[t->n++] = b;
	return true;
}

static void
force(const struct problem *p, bool *allowed, uint32_t candidate)
{
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (c != candidate
		    && overlap(&p->candidate[c], &p->candidate[candidate]))
			allowed[c] = false;
}

static bool
split(struct top *t, const struct branch *b, struct err *err)
{
	const struct cover *c = &b->best.cover;
	bool *allowed = arena_copy(t->arena, b->allowed, t->p->ncandidates);

	for (uint32_t i = 0; i < c->nsteps; i++) {
		uint32_t id = c->step[i].candidate;

		allowed[id] = false;
		if (!add_branch(t, allowed, err))
			return false;
		allowed[id] = true;
		force(t->p, allowed, id);
	}
	return true;
}

/* The cheapest branch, the oldest of equals. */
static uint32_t
cheapest(const struct top *t)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < t->n; i++)
		if (t->branch[i].best.cover.cost
		    < t->branch[best].best.cover.cost)
			best = i;
	return best;
}

bool
search_top(struct search_top *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct top t = {.p = p, .o = o, .arena = a};
	bool *all = arena_new(a, bool, p->ncandidates);

	out->n = 0;
	if (o->time_budget_ns)
		t.deadline = clock_ns() + o->time_budget_ns;
	memset(all, true, p->ncandidates);
	if (out->k == 0 || !add_branch(&t, all, err))
		return out->k == 0;
	while (t.n > 0) {
		uint32_t at = cheapest(&t);
		struct branch b = t.branch[at];

		out->best[out->n++] = b.best;
		if (out->n == out->k)
			return true;
		memmove(&t.branch[at], &t.branch[at + 1],
		    (--t.n - at) * sizeof *t.branch);
		if (!split(&t, &b, err))
			return false;
	}
	return true;
}
