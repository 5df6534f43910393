#include "plan/explain.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "ir/base/bitset.h"
#include "plan/problem.h"
#include "search/problem_index.h"

/* ---- an irreducible infeasible subset of the constraints ---- */

/* TUNING: searches spent on finding a smaller conflict than the first. */
#define TRIES_MAX 400u

struct constraint_iis {
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
may_solve(struct constraint_iis *s)
{
	struct arena_mark mark = arena_mark(s->arena);
	struct err err = {.kind = ERR_NONE};
	struct search_result found;
	struct problem p;
	bool may = true;

	s->tries++;
	if (problem_build(&p, s->r, s->skip, s->arena, &err)) {
		make_free(&p);
		if (problem_index(&p, s->arena, &err)
		    && search_exact(&found, &p, &s->r->search, s->arena, &err))
			may = found.found || !found.proven;
	}
	arena_back(s->arena, mark);
	return may;
}

/* Leave out items from..to-1, unless there is a plan without them. */
static void
leave_out(struct constraint_iis *s, uint32_t from, uint32_t to)
{
	struct arena_mark mark = arena_mark(s->arena);
	bool *were =
	    arena_copy(s->arena, s->skip + from, (to - from) * sizeof *were);

	memset(s->skip + from, true, (to - from) * sizeof *were);
	if (may_solve(s))
		memcpy(s->skip + from, were, (to - from) * sizeof *were);
	arena_back(s->arena, mark);
}

/* Ever smaller pieces go, down to single ones: what is left then cannot. */
static void
shrink(struct constraint_iis *s)
{
	uint32_t piece = 1;

	while (piece < s->n)
		piece *= 2;
	for (; piece > 0; piece /= 2)
		for (uint32_t at = 0; at < s->n; at += piece) {
			uint32_t end = s->n - at < piece ? s->n : at + piece;

			if (memchr(s->skip + at, false, end - at))
				leave_out(s, at, end);
		}
}

static uint32_t
count_in(const struct constraint_iis *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += !s->skip[i];
	return n;
}

/* Is there a conflict of one constraint, or of two? Left in s->skip. */
static bool
find_small(struct constraint_iis *s, uint32_t size)
{
	memset(s->skip, true, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		s->skip[i] = false;
		for (uint32_t k = i + 1; size == 2 && k < s->n; k++) {
			if (s->tries >= TRIES_MAX)
				return false;
			s->skip[k] = false;
			if (!may_solve(s))
				return true;
			s->skip[k] = true;
		}
		if (s->tries >= TRIES_MAX)
			return false;
		if (size == 1 && !may_solve(s))
			return true;
		s->skip[i] = true;
	}
	return false;
}

uint32_t
constraints_conflict(bool *in, const struct plan_request *r, struct arena *a)
{
	uint32_t n = r->constraints ? r->constraints->n : 0, size;
	struct constraint_iis s = {r, a, n, arena_new(a, bool, n), 0};

	memset(in, false, n);
	memset(s.skip, true, n);
	if (n == 0 || !may_solve(&s))
		return 0;
	memset(s.skip, false, n);
	shrink(&s);
	for (uint32_t i = 0; i < n; i++)
		in[i] = !s.skip[i];
	size = count_in(&s);
	assert(size > 0);
	s.tries = 0;
	for (uint32_t few = 1; few < size && few <= 2; few++)
		if (find_small(&s, few)) {
			for (uint32_t i = 0; i < n; i++)
				in[i] = !s.skip[i];
			return few;
		}
	return size;
}

/* ---- in words ---- */

/* A plan that is replayed has its own candidates only. */
static bool
is_asked_for(const struct planner *pl, uint32_t candidate)
{
	return !pl->r->only || pl->r->only[candidate];
}

/* Which nodes some candidate of a few targets may still run, and why others not. */
struct node_failures {
	struct bitset runnable;
	const struct price **failed; /* [nodes] the last that did, or NULL */
};

static struct node_failures
failures_of(const struct planner *pl, uint64_t targets)
{
	const struct candidates *all = pl->r->candidates;
	const uint32_t nodes = pl->r->graph->nnodes;
	struct node_failures f = {bitset_new(pl->arena, nodes),
	    arena_new(pl->arena, const struct price *, nodes)};

	for (uint32_t i = 0; i < all->n; i++) {
		const struct candidate *c = &all->candidate[i];
		const struct price *p = prices_candidate(pl->r->prices, i);

		if (!is_asked_for(pl, i) || !(targets >> c->target & 1))
			continue;
		for (uint32_t k = 0; k < c->nnodes; k++)
			if (p->state == PRICE_FAILED)
				f.failed[c->node[k]] = p;
			else
				bitset_add(f.runnable, c->node[k]);
	}
	return f;
}

/* "node 'conv1' (#3, Conv)" */
static const char *
node_words(const struct planner *pl, node_id node)
{
	const struct graph *g = pl->r->graph;

	return arena_printf(pl->arena, "node '%s' (#%" PRIu32 ", %s)",
	    node_label(g, node, pl->arena), node, graph_node(g, node)->op_type);
}

/* No node is without candidates: the first that failed, which others may need beside
 * them. */
static bool
name_first_failed(const struct planner *pl, struct err *err)
{
	const struct candidates *all = pl->r->candidates;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct price *p = prices_candidate(pl->r->prices, i);

		if (is_asked_for(pl, i) && p->state == PRICE_FAILED)
			return err_set(err, ERR_NO_COVER,
			    "no legal plan exists without candidates that "
			    "failed, as at %s: %s",
			    node_words(pl, all->candidate[i].node[0]),
			    p->detail);
	}
	return err_set(err, ERR_NO_COVER, "no legal plan exists");
}

/* No plan although nothing was asked for: name a node that nothing takes, or whose every
 * candidate failed. Always false. */
static bool
name_failure(const struct planner *pl, struct err *err)
{
	const struct node_failures f = failures_of(pl, ~UINT64_C(0));

	for (node_id node = 0; node < pl->r->graph->nnodes; node++) {
		if (bitset_has(f.runnable, node))
			continue;
		if (f.failed[node])
			return err_set(err, ERR_NO_COVER,
			    "%s: nothing can run it: %s", node_words(pl, node),
			    f.failed[node]->detail);
		return err_set(err, ERR_NO_COVER,
		    "no legal plan exists: no candidate takes %s",
		    node_words(pl, node));
	}
	return name_first_failed(pl, err);
}

/* A pin or a ban that cannot be met because what is left for a node failed: in
 * words, or "". */
static const char *
failure_under(const struct planner *pl, const struct constraint *c)
{
	const uint64_t left =
	    c->kind == CONSTRAIN_PIN ? c->targets : ~c->targets;
	struct node_failures f;

	if (c->kind != CONSTRAIN_PIN && c->kind != CONSTRAIN_FORBID)
		return "";
	f = failures_of(pl, left);
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const node_id node = c->node[i];

		if (f.failed[node] && !bitset_has(f.runnable, node))
			return arena_printf(
			    pl->arena, " (%s)", f.failed[node]->detail);
	}
	return "";
}

/* Every plan that was found has a region that a tool refuses. Always false. */
static bool
explain_refused(const struct planner *pl, struct err *err)
{
	const struct prices *p = pl->r->prices;

	for (uint32_t i = p->nregions; i-- > 0;)
		if (prices_get(p, p->region[i])->state == PRICE_FAILED)
			return err_set(err, ERR_NO_COVER,
			    "no plan was found without a region that its "
			    "tool refuses: %s",
			    prices_get(p, p->region[i])->detail);
	return err_set(err, ERR_NO_COVER, "no plan has a price");
}

/* Name constraints that rule all plans out. Always false. */
static bool
explain_constraints(const struct planner *pl, struct err *err)
{
	const struct constraints *c = pl->r->constraints;
	uint32_t n = c ? c->n : 0;
	bool *in = arena_new(pl->arena, bool, n);
	const char *text = "", *comma = "";

	if (constraints_conflict(in, pl->r, pl->arena) == 0)
		return name_failure(pl, err);
	for (uint32_t i = 0; i < n; i++)
		if (in[i]) {
			text = arena_printf(pl->arena, "%s%s\"%s\"%s", text,
			    comma, c->item[i].text,
			    failure_under(pl, &c->item[i]));
			comma = ", ";
		}
	return err_set(err, ERR_NO_COVER,
	    "these constraints leave no legal plan: %s", text);
}

bool
planner_explain(const struct planner *pl, struct err *err)
{
	assert(!pl->incumbent.found || pl->incumbent.plan.cost == COST_NEVER);
	if (pl->incumbent.found)
		return explain_refused(pl, err);
	if (pl->overflow.kind)
		return err_set(err, ERR_NO_COVER,
		    "no plan that was asked for fits the memory of '%s': its "
		    "regions keep %" PRIu64 " bytes of a tile and need %" PRIu64
		    " to run, of %" PRIu64,
		    pl->overflow.kind->name, pl->overflow.resident,
		    pl->overflow.scratch, pl->overflow.limit);
	if (!pl->proven_empty)
		return err_set(err, ERR_NO_COVER,
		    "no legal plan was found before the budget ran out");
	return explain_constraints(pl, err);
}
