#include "plan/conflict.h"

#include <string.h>

#include "plan/problem.h"
#include "search/problem_index.h"

/* TUNING: searches spent on finding a smaller conflict than the first. */
#define TRIES_MAX 400u

struct inquiry {
	const struct plan_request *r;
	struct arena *arena;
	uint32_t n; /* constraints */
	bool *skip; /* [n] those left out of the problem */
	uint32_t tries;
};

/* Only whether there is a cover matters: a search that finds all of them free
 * stops at the first. */
static void
make_free(struct problem *p)
{
	size_t n = (size_t)p->nclasses * p->nformats * p->nformats;

	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (p->candidate[c].cost != COST_NEVER)
			p->candidate[c].cost = 0;
	for (size_t i = 0; i < n; i++)
		if (p->conversion[i] != COST_NEVER)
			p->conversion[i] = 0;
	for (uint32_t t = 0; t < p->ntargets; t++)
		p->target[t].launch = 0;
}

/* Is there a plan without what is skipped? Anything but a proof that there is
 * none counts as yes. */
static bool
may_solve(struct inquiry *q)
{
	struct arena_mark mark = arena_mark(q->arena);
	struct err err = {.kind = ERR_NONE};
	struct search_result found;
	struct problem p;
	bool may = true;

	q->tries++;
	if (problem_build(&p, q->r, q->skip, q->arena, &err)) {
		make_free(&p);
		if (problem_index(&p, q->arena, &err)
		    && search_exact(&found, &p, &q->r->search, q->arena, &err))
			may = found.found || !found.proven;
	}
	arena_back(q->arena, mark);
	return may;
}

/* Leave out items from..to-1, unless there is a plan without them. */
static void
leave_out(struct inquiry *q, uint32_t from, uint32_t to)
{
	struct arena_mark mark = arena_mark(q->arena);
	bool *were =
	    arena_copy(q->arena, q->skip + from, (to - from) * sizeof *were);

	memset(q->skip + from, true, (to - from) * sizeof *were);
	if (may_solve(q))
		memcpy(q->skip + from, were, (to - from) * sizeof *were);
	arena_back(q->arena, mark);
}

/* Ever smaller pieces go, down to single ones: what is left then cannot. */
static void
shrink(struct inquiry *q)
{
	uint32_t piece = 1;

	while (piece < q->n)
		piece *= 2;
	for (; piece > 0; piece /= 2)
		for (uint32_t at = 0; at < q->n; at += piece) {
			uint32_t end = q->n - at < piece ? q->n : at + piece;

			if (memchr(q->skip + at, false, end - at))
				leave_out(q, at, end);
		}
}

static uint32_t
count_in(const struct inquiry *q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->n; i++)
		n += !q->skip[i];
	return n;
}

/* Is there a conflict of one constraint, or of two? Left in q->skip. */
static bool
find_small(struct inquiry *q, uint32_t size)
{
	memset(q->skip, true, q->n);
	for (uint32_t i = 0; i < q->n; i++) {
		q->skip[i] = false;
		for (uint32_t k = i + 1; size == 2 && k < q->n; k++) {
			if (q->tries >= TRIES_MAX)
				return false;
			q->skip[k] = false;
			if (!may_solve(q))
				return true;
			q->skip[k] = true;
		}
		if (q->tries >= TRIES_MAX)
			return false;
		if (size == 1 && !may_solve(q))
			return true;
		q->skip[i] = true;
	}
	return false;
}

uint32_t
constraints_conflict(bool *in, const struct plan_request *r, struct arena *a)
{
	uint32_t n = r->constraints ? r->constraints->n : 0, size;
	struct inquiry q = {r, a, n, arena_new(a, bool, n), 0};

	memset(in, false, n);
	memset(q.skip, true, n);
	if (n == 0 || !may_solve(&q))
		return 0;
	memset(q.skip, false, n);
	shrink(&q);
	for (uint32_t i = 0; i < n; i++)
		in[i] = !q.skip[i];
	size = count_in(&q);
	q.tries = 0;
	for (uint32_t s = 1; s < size && s <= 2; s++)
		if (find_small(&q, s)) {
			for (uint32_t i = 0; i < n; i++)
				in[i] = !q.skip[i];
			return s;
		}
	return size;
}
