/* Murty's partition: the covers other than the best are those without its first
 * step, those with it but without its second, and so on. */
#include "search/top.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/clock.h"
#include "search/budget.h"
#include "search/parallel.h"

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
	uint32_t noutput; /* covers found so far */
	uint64_t deadline; /* of all branches; 0: none */
};

/* At least 1 ns: 0 means no budget. */
static uint64_t
time_left(uint64_t deadline)
{
	uint64_t now = clock_ns();

	return now < deadline ? deadline - now : 1;
}

/* Move what the cover points to into an arena that lives longer. */
static void
copy_cover(struct cover *c, struct arena *a)
{
	c->step = arena_copy(a, c->step, c->nsteps * sizeof *c->step);
	c->conversion = arena_copy(
	    a, c->conversion, c->nconversions * sizeof *c->conversion);
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

/* Branches to be solved, and what each worker needs for that. */
struct batch {
	struct top *top;
	struct branch *branch; /* [n] */
	struct err *err; /* [n] */
	struct arena *scratch, *covers; /* [THREADS_MAX] of each worker */
};

static void
solve_branch(void *context, uint32_t i, uint32_t worker)
{
	struct batch *b = context;
	const struct top *t = b->top;
	struct branch *x = &b->branch[i];
	struct arena *scratch = &b->scratch[worker];
	struct arena_mark mark = arena_mark(scratch);
	struct search_options o = *t->o;
	struct problem sub;

	if (t->deadline)
		o.time_budget_ns = time_left(t->deadline);
	if (t->noutput > 0)
		o.memory_budget =
		    (o.memory_budget ? o.memory_budget : SEARCH_MEMORY)
		    / THREADS_MAX;
	problem_restrict(&sub, t->p, x->allowed, scratch);
	if (search_exact(&x->best, &sub, &o, scratch, &b->err[i])
	    && x->best.found)
		copy_cover(&x->best.cover, &b->covers[worker]);
	arena_back(scratch, mark);
}

/* Solve all, and keep those that have a cover, in their order. */
static bool
add_branches(struct top *t, struct branch *branch, uint32_t n, struct err *err)
{
	struct arena scratch[THREADS_MAX], covers[THREADS_MAX];
	struct batch b = {
	    t, branch, arena_new(t->arena, struct err, n), scratch, covers};
	bool ok = true;

	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		arena_init(&scratch[i]);
		arena_init(&covers[i]);
	}
	parallel_each(n, t->o->threads, solve_branch, &b);
	for (uint32_t i = 0; i < n && ok; i++) {
		if (b.err[i].kind != ERR_NONE) {
			*err = b.err[i];
			ok = false;
		}
		if (!ok || !branch[i].best.found)
			continue;
		copy_cover(&branch[i].best.cover, t->arena);
		t->branch = arena_grow(
		    t->arena, t->branch, &t->cap, t->n + 1, sizeof *t->branch);
		t->branch[t->n++] = branch[i];
	}
	for (uint32_t i = 0; i < THREADS_MAX; i++) {
		arena_release(&scratch[i]);
		arena_release(&covers[i]);
	}
	return ok;
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
	struct branch *branch = arena_new(t->arena, struct branch, c->nsteps);

	for (uint32_t i = 0; i < c->nsteps; i++) {
		uint32_t id = c->step[i].candidate;

		allowed[id] = false;
		branch[i].allowed =
		    arena_copy(t->arena, allowed, t->p->ncandidates);
		allowed[id] = true;
		force(t->p, allowed, id);
	}
	return add_branches(t, branch, c->nsteps, err);
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

static bool
find_top(struct search_top *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct top t = {.p = p, .o = o, .arena = a};
	struct branch root = {.allowed = arena_new(a, bool, p->ncandidates)};

	out->n = 0;
	if (o->time_budget_ns)
		t.deadline =
		    clock_ns() + budget_share(o->time_budget_ns, o->spent_ns);
	memset(root.allowed, true, p->ncandidates);
	if (out->k == 0 || !add_branches(&t, &root, 1, err))
		return out->k == 0;
	while (t.n > 0) {
		uint32_t at = cheapest(&t);
		struct branch b = t.branch[at];

		out->best[out->n++] = b.best;
		t.noutput = out->n;
		if (out->n == out->k)
			return true;
		memmove(&t.branch[at], &t.branch[at + 1],
		    (--t.n - at) * sizeof *t.branch);
		if (!split(&t, &b, err))
			return false;
	}
	return true;
}

bool
search_top(struct search_top *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	uint64_t from = clock_ns();
	bool ok = find_top(out, p, o, a, err);

	if (o->spent_ns)
		*o->spent_ns += clock_ns() - from;
	return ok;
}
