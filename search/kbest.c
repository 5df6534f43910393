/* Murty's partition: the covers other than the best are those without its first
 * step, those with it but without its second, and so on. A branch is only solved
 * for covers that are cheaper than the k known so far. */
#include "search/kbest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "search/branch.h"
#include "search/budget.h"
#include "search/parallel.h"
#include "search/backward_dp.h"
#include "ir/base/order.h"

/* TUNING: branches solved with one bar, whatever the number of threads: more keep
 * threads busy, fewer lower the bar sooner, which the first ones need most. */
#define BATCH_FIRST 2
#define BATCH 16

struct branch {
	bool *allowed; /* [ncandidates] */
	struct search_result best;
};

struct top {
	const struct problem *p;
	const struct search_options *o;
	struct arena *arena;
	struct branch *open; /* [n] covers to list next, cheapest first */
	uint32_t n, wanted; /* known; still to be listed */
	cost_ns rest; /* covers of all other branches cost at least this */
	uint32_t *owner; /* [nnodes] the step of the cover that is split */
	struct split_readers split; /* readers of local formats */
	struct problem relaxed; /* without them, for prices */
	const struct dual *prices; /* of the whole problem; NULL: none */
	struct branch_tools *tools; /* [THREADS_MAX] */
	struct arena scratch;
};

/* Move what the cover points to into an arena that lives longer. */
static void
copy_cover(struct cover *c, struct arena *a)
{
	c->step = arena_copy(a, c->step, c->nsteps * sizeof *c->step);
	c->conversion = arena_copy(
	    a, c->conversion, c->nconversions * sizeof *c->conversion);
}

static void
leave_out(struct top *t, cost_ns lower_bound)
{
	if (lower_bound < t->rest)
		t->rest = lower_bound;
}

/* What a cover has to beat to be one of those wanted. */
static cost_ns
bar(const struct top *t)
{
	return t->n < t->wanted ? COST_NEVER
	                        : t->open[t->wanted - 1].best.cover.cost;
}

/* Put it among the open ones, behind its equals; the last may fall out. */
static void
insert(struct top *t, const struct branch *b)
{
	uint32_t at = t->n;

	if (!b->best.found || b->best.cover.cost >= bar(t)) {
		leave_out(t, b->best.lower_bound);
		return;
	}
	while (at > 0 && t->open[at - 1].best.cover.cost > b->best.cover.cost)
		at--;
	if (t->n == t->wanted)
		leave_out(t, t->open[--t->n].best.lower_bound);
	memmove(&t->open[at + 1], &t->open[at], (t->n - at) * sizeof *t->open);
	assert(
	    at == 0 || t->open[at - 1].best.cover.cost <= b->best.cover.cost);
	assert(t->n < t->wanted && at <= t->n);
	t->open[at] = *b;
	copy_cover(&t->open[at].best.cover, t->arena);
	t->open[at].allowed =
	    arena_copy(t->arena, b->allowed, t->p->ncandidates);
	t->n++;
}

/* ---- a batch of branches ---- */

struct branch_batch {
	struct top *top;
	const struct branch *parent;
	const uint32_t *step; /* of each branch */
	cost_ns bar;
	struct branch branch[BATCH];
	struct err err[BATCH];
	struct arena space[BATCH];
};

/* Covers with the first steps of the parent's, but without the candidate of the
 * next one. */
static bool *
allow(const struct top *t, const struct branch *parent, uint32_t step,
    struct arena *a)
{
	const struct cover *c = &parent->best.cover;
	bool *allowed = arena_copy(a, parent->allowed, t->p->ncandidates);

	for (uint32_t id = 0; id < t->p->ncandidates; id++) {
		const struct problem_candidate *x = &t->p->candidate[id];

		for (uint32_t i = 0; i < x->nnodes && allowed[id]; i++) {
			uint32_t owner = t->owner[x->node[i]];

			allowed[id] =
			    owner >= step || c->step[owner].candidate == id;
		}
	}
	assert(allowed[c->step[step].candidate]);
	allowed[c->step[step].candidate] = false;
	return allowed;
}

static void
solve_branch(void *context, uint32_t i, uint32_t worker)
{
	struct branch_batch *b = context;
	const struct top *t = b->top;
	struct branch *x = &b->branch[i];
	struct search_options o = *t->o;
	struct branch_ask ask = {
	    .floor = b->parent->best.lower_bound, .bar = b->bar};

	o.memory_budget =
	    (o.memory_budget ? o.memory_budget : SEARCH_MEMORY) / THREADS_MAX;
	ask.allowed = x->allowed =
	    allow(t, b->parent, b->step[i], &b->space[i]);
	branch_search(
	    &x->best, &ask, &o, &t->tools[worker], &b->space[i], &b->err[i]);
}

static bool
solve_batch(struct branch_batch *b, uint32_t n, struct err *err)
{
	bool ok = true;

	b->bar = bar(b->top);
	for (uint32_t i = 0; i < n; i++) {
		arena_init(&b->space[i]);
		err_clear(&b->err[i]);
	}
	parallel_each(n, b->top->o->threads, solve_branch, b);
	for (uint32_t i = 0; i < n; i++) {
		if (ok && b->err[i].kind != ERR_NONE) {
			*err = b->err[i];
			ok = false;
		}
		if (ok)
			insert(b->top, &b->branch[i]);
		arena_release(&b->space[i]);
	}
	return ok;
}

/* The least excess of what may cover each node in the chosen one's place. */
static cost_ns *
least_others(const struct top *t, const struct branch *parent, struct arena *a)
{
	const struct cover *c = &parent->best.cover;
	bool *others = arena_copy(a, parent->allowed, t->p->ncandidates);

	for (uint32_t i = 0; i < c->nsteps; i++)
		others[c->step[i].candidate] = false;
	return branch_least_excess(t->p, t->prices, others, a);
}

/* The steps, those first whose branches promise the cheapest covers: the sooner
 * they lower the bar, the less is left to do for the others. */
static uint32_t *
order_steps(struct top *t, const struct branch *parent)
{
	const struct cover *c = &parent->best.cover;
	uint32_t *order = arena_new(&t->scratch, uint32_t, c->nsteps);
	/* by what its branch adds to the bound at least */
	struct ranked *worth = arena_new(&t->scratch, struct ranked, c->nsteps);
	cost_ns *least =
	    t->prices ? least_others(t, parent, &t->scratch) : NULL;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		const struct problem_candidate *x =
		    &t->p->candidate[c->step[i].candidate];

		worth[i].id = i;
		for (uint32_t k = 0; least && k < x->nnodes; k++)
			if (least[x->node[k]] > worth[i].by)
				worth[i].by = least[x->node[k]];
	}
	qsort(worth, c->nsteps, sizeof *worth, by_rank);
	for (uint32_t i = 0; i < c->nsteps; i++)
		order[i] = worth[i].id;
	return order;
}

static bool
split(struct top *t, const struct branch *parent, struct err *err)
{
	const struct cover *c = &parent->best.cover;
	struct branch_batch b = {.top = t, .parent = parent};
	struct arena_mark mark;
	uint32_t *order;
	bool ok = true;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		const struct problem_candidate *x =
		    &t->p->candidate[c->step[i].candidate];

		for (uint32_t k = 0; k < x->nnodes; k++)
			t->owner[x->node[k]] = i;
	}
	mark = arena_mark(&t->scratch);
	order = order_steps(t, parent);
	for (uint32_t i = 0, n = BATCH_FIRST; ok && i < c->nsteps; i += n) {
		if (i > 0 && n < BATCH)
			n *= 2;
		if (n > c->nsteps - i)
			n = c->nsteps - i;

		if (search_is_over(t->o)) {
			leave_out(t, parent->best.lower_bound);
			break;
		}
		b.step = &order[i];
		ok = solve_batch(&b, n, err);
	}
	arena_back(&t->scratch, mark);
	return ok;
}

/* ---- all of them ---- */

/* Prices of the whole problem, which all branches share. */
static bool
make_multipliers(struct top *t, struct dual *dual, struct converter_memo *memo,
    cost_ns optimum)
{
	struct budget budget = budget_of(t->o);

	split_readers_find(&t->split, t->p, &t->scratch);
	t->relaxed = split_readers_relax(&t->split, t->p, &t->scratch);
	convert_init(memo, &t->relaxed, &t->scratch);
	if (!backward_handles(t->p) || !dual_fits(&t->relaxed, budget.bytes)
	    || !dual_init(dual, &t->relaxed, memo, &t->scratch))
		return false;
	dual_improve(dual, optimum, DUAL_ROUNDS, &budget);
	return true;
}

/* List the cheapest open one and put what differs from it in its place. */
static bool
list_next(struct search_top *out, struct top *t, struct err *err)
{
	struct branch b = t->open[0];

	assert(t->n > 0 && t->wanted > 0 && b.best.found);
	assert(out->n < out->k);
	memmove(&t->open[0], &t->open[1], --t->n * sizeof *t->open);
	out->best[out->n++] = b.best;
	if (--t->wanted > 0)
		return split(t, &b, err);
	leave_out(t, b.best.lower_bound);
	return true;
}

/* Covers of branches that were not proven may be out of order; and what is said of
 * each rests on all that was not looked into. */
static void
conclude(struct search_top *out, const struct top *t)
{
	for (uint32_t i = 0; i < out->n; i++) {
		struct search_result r = out->best[i];
		uint32_t at = i;

		for (; at > 0 && out->best[at - 1].cover.cost > r.cover.cost;
		     at--)
			out->best[at] = out->best[at - 1];
		out->best[at] = r;
	}
	for (uint32_t i = 0; i < out->n; i++) {
		struct search_result *r = &out->best[i];

		assert(i == 0 || r[-1].cover.cost <= r->cover.cost);
		r->proven = r->cover.cost <= t->rest;
		r->lower_bound = r->proven ? r->cover.cost : t->rest;
		r->why = r->proven ? "" : "the label or time budget ran out";
	}
}

static bool
find_others(struct search_top *out, struct top *t, struct err *err)
{
	struct branch_tools tools[THREADS_MAX];
	struct converter_memo memo;
	struct dual dual;
	bool ok = true;

	arena_init(&t->scratch);
	if (t->wanted > 1
	    && make_multipliers(t, &dual, &memo, t->open[0].best.cover.cost))
		t->prices = &dual;
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		branch_tools_init(&tools[i], t->p, &t->split, t->prices);
	t->tools = tools;
	while (ok && t->wanted > 0 && t->n > 0)
		ok = list_next(out, t, err);
	for (uint32_t i = 0; i < t->n; i++)
		leave_out(t, t->open[i].best.lower_bound);
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		branch_tools_release(&tools[i]);
	arena_release(&t->scratch);
	return ok;
}

bool
search_top(struct search_top *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct top t = {.p = p,
	    .o = o,
	    .arena = a,
	    .open = arena_new(a, struct branch, (size_t)out->k + 1),
	    .wanted = out->k,
	    .rest = COST_NEVER,
	    .owner = arena_new(a, uint32_t, p->nnodes)};
	struct branch root = {.allowed = arena_new(a, bool, p->ncandidates)};
	struct search_options turn = search_turn(o);

	out->n = 0;
	memset(root.allowed, true, p->ncandidates);
	if (out->k == 0)
		return true;
	if (!search_exact(&root.best, p, &turn, a, err))
		return false;
	if (!root.best.found)
		return true;
	t.open[0] = root;
	t.n = 1;
	if (!find_others(out, &t, err))
		return false;
	conclude(out, &t);
	return true;
}
