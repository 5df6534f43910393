#include "plan/solve.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "plan/conflict.h"
#include "plan/problem.h"
#include "plan/wholes.h"
#include "search/top.h"

struct job {
	const struct plan_request *r;
	struct arena *arena;
	struct problem problem;
	struct search_result best;
	struct wholes wholes; /* what is known of whole regions */
	uint32_t rounds; /* searches until no region's price moved */
	cost_ns cost; /* of best, with its regions priced as wholes */
	uint32_t *ask; /* [candidates->n] to be priced */
	uint32_t nask;
};

static bool
solve(struct job *j, struct search_result *out, struct err *err)
{
	const char *name = j->r->searcher ? j->r->searcher : "exact";
	struct problem with = j->problem;

	if (j->wholes.nmoved && !wholes_apply(&j->wholes, &with, err))
		return false;
	if (!search_named(out, &with, name, &j->r->search, j->arena, err))
		return false;
	if (j->wholes.nmoved && out->found)
		wholes_expand(&j->wholes, &out->cover);
	return true;
}

/* Which candidates of the cover have no price yet? One of each key. */
static void
list_unpriced(struct job *j, const struct cover *cover)
{
	j->nask = 0;
	for (uint32_t i = 0; i < cover->nsteps; i++) {
		uint32_t id = cover->step[i].candidate, k;
		const struct price *p = j->r->prices->candidate;

		for (k = 0; k < j->nask; k++)
			if (p[j->ask[k]].key == p[id].key)
				break;
		if (p[id].state == PRICE_BOUND && k == j->nask)
			j->ask[j->nask++] = id;
	}
}

/* TUNING: rivals whose bound is above this many times that of a candidate asked
 * for are left for when they are asked for themselves. */
#define RIVAL_BOUND 4

/* Look at what was listed, and at what begins with the same nodes: it would be
 * asked for next. */
static bool
glance_at_listed(struct job *j, bool *any, struct err *err)
{
	const struct candidates *all = j->r->candidates;
	const struct price *p = j->r->prices->candidate;
	cost_ns *limit =
	    arena_new(j->arena, cost_ns, j->r->graph->nnodes); /* by node */
	uint32_t *list = arena_new(j->arena, uint32_t, all->n), n = 0;

	for (uint32_t k = 0; k < j->nask; k++) {
		const struct candidate *c = &all->candidate[j->ask[k]];

		limit[c->node[0]] = p[j->ask[k]].bound * RIVAL_BOUND;
	}
	for (uint32_t c = 0; c < all->n; c++)
		if (p[c].state == PRICE_BOUND
		    && p[c].bound <= limit[all->candidate[c].node[0]])
			list[n++] = c;
	return pricer_glance(j->r->pricer, j->r->prices, list, n, any, err);
}

/* Price what was listed; *moved: did any of it get a price? */
static bool
price_listed(struct job *j, bool *moved, struct err *err)
{
	*moved = false;
	if (!j->r->pricer)
		return true;
	if (!j->r->eager_pricing && !glance_at_listed(j, moved, err))
		return false;
	if (*moved) { /* bounds rose: are they still on the cheapest? */
		problem_reprice(&j->problem, j->r->prices, j->arena);
		return true;
	}
	if (!pricer_price(j->r->pricer, j->r->prices, j->ask, j->nask, err))
		return false;
	for (uint32_t k = 0; k < j->nask; k++)
		*moved |=
		    j->r->prices->candidate[j->ask[k]].state != PRICE_BOUND;
	problem_reprice(&j->problem, j->r->prices, j->arena);
	return true;
}

static bool
price_everything(struct job *j, struct err *err)
{
	bool moved;

	j->nask = 0;
	for (uint32_t c = 0; c < j->r->candidates->n; c++)
		if (j->r->prices->candidate[c].state == PRICE_BOUND)
			j->ask[j->nask++] = c;
	return price_listed(j, &moved, err);
}

/* Prices ran out: the best plan that uses known prices only, bounded by what
 * was proven with all of them. */
static bool
settle(struct job *j, struct err *err)
{
	struct problem known = j->problem;
	struct search_result r;
	uint32_t bounds = j->nask;

	known.candidate = arena_copy(j->arena, known.candidate,
	    known.ncandidates * sizeof *known.candidate);
	for (uint32_t c = 0; c < known.ncandidates; c++)
		if (j->r->prices->candidate[c].state != PRICE_KNOWN)
			known.candidate[c].banned = true;
	problem_reindex(&known, j->arena);
	if (!search_exact(&r, &known, &j->r->search, j->arena, err))
		return false;
	if (!r.found) {
		notes_add(j->r->notes,
		    "%" PRIu32 " composites of the plan are not priced; lower "
		    "bounds stand in for them",
		    bounds);
		j->best.proven = false;
		return true;
	}
	r.proven = r.cover.cost <= j->best.lower_bound;
	r.lower_bound = j->best.lower_bound;
	j->best = r;
	return true;
}

/* Why none of these targets runs a node: the last of its candidates to have
 * failed. */
static const struct price *
failure_at(const struct job *j, node_id node, uint64_t targets)
{
	const struct candidates *all = j->r->candidates;
	const struct price *failed = NULL;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct candidate *c = &all->candidate[i];
		bool covers = false;

		for (uint32_t k = 0; k < c->nnodes; k++)
			covers |= c->node[k] == node;
		if (!covers || !(targets >> c->target & 1))
			continue;
		if (j->r->prices->candidate[i].state != PRICE_FAILED)
			return NULL;
		failed = &j->r->prices->candidate[i];
	}
	return failed;
}

/* No plan although nothing was asked for: name a node whose every candidate
 * failed. Always false. */
static bool
name_failure(const struct job *j, struct err *err)
{
	const struct graph *g = j->r->graph;

	for (node_id node = 0; node < g->nnodes; node++) {
		const struct price *failed = failure_at(j, node, ~UINT64_C(0));

		if (failed)
			return err_set(err, ERR_NO_COVER,
			    "node '%s' (#%" PRIu32 ", %s): nothing can run it: "
			    "%s",
			    node_label(g, node, j->arena), node,
			    graph_node(g, node)->op_type, failed->detail);
	}
	return err_set(err, ERR_NO_COVER,
	    "no legal plan exists: candidates that failed leave no cover");
}

/* A pin or a ban that cannot be met because what is left for a node failed: in
 * words, or "". */
static const char *
failure_under(const struct job *j, const struct constraint *c)
{
	const uint64_t left =
	    c->kind == CONSTRAIN_PIN ? c->targets : ~c->targets;

	if (c->kind != CONSTRAIN_PIN && c->kind != CONSTRAIN_FORBID)
		return "";
	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct price *failed = failure_at(j, c->node[i], left);

		if (failed)
			return arena_printf(j->arena, " (%s)", failed->detail);
	}
	return "";
}

/* No plan: name constraints that rule all of them out. Always false. */
static bool
explain_none(struct job *j, struct err *err)
{
	const struct constraints *c = j->r->constraints;
	uint32_t n = c ? c->n : 0;
	bool *in = arena_new(j->arena, bool, n);
	const char *text = "", *comma = "";

	if (!j->best.proven)
		return err_set(err, ERR_NO_COVER,
		    "no legal plan was found before the budget ran out");
	if (constraints_conflict(in, j->r, j->arena) == 0)
		return name_failure(j, err);
	for (uint32_t i = 0; i < n; i++)
		if (in[i]) {
			text =
			    arena_printf(j->arena, "%s%s\"%s\"%s", text, comma,
			        c->item[i].text, failure_under(j, &c->item[i]));
			comma = ", ";
		}
	return err_set(err, ERR_NO_COVER,
	    "these constraints leave no legal plan: %s", text);
}

/* The loop of lazy pricing. */
static bool
search_prices(struct job *j, struct err *err)
{
	for (;;) {
		bool moved;

		if (!solve(j, &j->best, err))
			return false;
		if (!j->best.found)
			return explain_none(j, err);
		list_unpriced(j, &j->best.cover);
		if (j->nask == 0)
			return true;
		if (!price_listed(j, &moved, err))
			return false;
		if (!moved)
			return settle(j, err);
	}
}

static bool
has_bounds(const struct job *j, const struct search_result *r)
{
	const struct cover *c = &r->cover;

	for (uint32_t i = 0; r->found && i < c->nsteps; i++)
		if (j->r->prices->candidate[c->step[i].candidate].state
		    == PRICE_BOUND)
			return true;
	return false;
}

/* A searcher asked for by name, and a replay, answer for themselves. */
static bool
may_improve(const struct job *j)
{
	return !j->r->only
	    && (!j->r->searcher || strcmp(j->r->searcher, "exact") == 0);
}

/* File a baseline, and take its cover if a search that was cut short found
 * nothing as cheap. */
static void
note_baseline(struct job *j, struct plan_baseline *b, const char *name,
    const struct search_result *r)
{
	bool news;

	b->name = name;
	b->cost =
	    r->found ? wholes_cost(&j->wholes, &r->cover, &news) : COST_NEVER;
	b->bound = !r->proven || has_bounds(j, r);
	if (may_improve(j) && r->found && !has_bounds(j, r)
	    && b->cost < j->cost) {
		j->best.cover = r->cover;
		j->best.searcher = name;
		j->cost = b->cost;
	}
}

/* The target that can run anything: what a single target falls back to. */
static uint32_t
fallback_of(const struct mix *m, uint32_t target)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (strcmp(m->target[t].kind->name, "host") == 0)
			return t;
	return target;
}

/* Baseline number t: a target with its fallback, or (t == mix->n) eager. */
static bool
solve_baseline(
    struct job *j, uint32_t t, struct search_result *r, struct err *err)
{
	const struct mix *m = j->r->mix;
	const uint32_t allowed[2] = {t, fallback_of(m, t)};

	if (t == m->n)
		return search_eager(
		    r, &j->problem, &j->r->search, j->arena, err);
	return search_single(
	    r, &j->problem, allowed, &j->r->search, j->arena, err);
}

/* The same until its cover has no bounds any more, where that was asked for.
 * The fallback alone is never priced for this: it is a reference, and slow. */
static bool
price_baseline(
    struct job *j, uint32_t t, struct search_result *r, struct err *err)
{
	bool wanted = j->r->price_baselines && t != fallback_of(j->r->mix, t);
	bool moved = true;

	for (;;) {
		if (!solve_baseline(j, t, r, err))
			return false;
		if (!wanted || !moved || !r->found)
			return true;
		list_unpriced(j, &r->cover);
		if (j->nask == 0)
			return true;
		if (!price_listed(j, &moved, err))
			return false;
	}
}

/* Where regions may be cheaper than the sum of what is in them, the search sees
 * no reason to make large ones: offer those of a target alone. */
static bool
offer_discounts(struct job *j, bool *news, struct err *err)
{
	const struct mix *m = j->r->mix;

	for (uint32_t t = 0; t < m->n; t++) {
		const uint32_t allowed[2] = {t, fallback_of(m, t)};
		struct search_result r;
		bool more = false;

		if (!m->target[t].kind->discounts)
			continue;
		if (!search_single(
		        &r, &j->problem, allowed, &j->r->search, j->arena, err))
			return false;
		if (r.found)
			wholes_cost(&j->wholes, &r.cover, &more);
		*news |= more;
	}
	return true;
}

static bool
has_discounts(const struct mix *m)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (m->target[t].kind->discounts)
			return true;
	return false;
}

/* TUNING: searches at most. Every one but the last has priced a region that was
 * not priced before, of which there are finitely many, but a great many. */
#define ROUNDS_MAX 16

/* The loop of prices, and around it: price the regions of the cover as wholes,
 * tell the search, and repeat until it proposes nothing that is not known. The
 * best of all rounds, at its cost as it would be emitted, is taken. */
static bool
search_regions(struct job *j, struct err *err)
{
	struct search_result best;
	bool news, discounts = has_discounts(j->r->mix);

	if (!search_prices(j, err))
		return false;
	best = j->best;
	j->cost = wholes_cost(&j->wholes, &best.cover, &news);
	if (may_improve(j) && discounts && !offer_discounts(j, &news, err))
		return false;
	for (j->rounds = 1; news && may_improve(j) && j->rounds < ROUNDS_MAX;
	     j->rounds++) {
		cost_ns cost;

		if (!search_prices(j, err))
			return false;
		cost = wholes_cost(&j->wholes, &j->best.cover, &news);
		if (cost >= j->cost)
			continue;
		j->cost = cost;
		best.cover = j->best.cover;
	}
	j->best = best;
	if (discounts || j->cost < best.lower_bound) {
		j->best.lower_bound = 0; /* sums of parts bound nothing */
		j->best.proven = false;
	}
	return true;
}

static const char *
baseline_name(struct job *j, uint32_t t)
{
	const struct mix *m = j->r->mix;
	uint32_t fallback = t < m->n ? fallback_of(m, t) : t;

	if (t == m->n)
		return "eager";
	if (t == fallback)
		return m->target[t].text;
	return arena_printf(
	    j->arena, "%s + %s", m->target[t].text, m->target[fallback].text);
}

static bool
run_baselines(struct job *j, struct plan *out, struct err *err)
{
	uint32_t n = j->r->mix->n + 1;
	struct plan_baseline *list =
	    arena_new(j->arena, struct plan_baseline, n);
	struct search_result r;

	for (uint32_t t = 0; t < n; t++) {
		if (!price_baseline(j, t, &r, err))
			return false;
		note_baseline(j, &list[t], baseline_name(j, t), &r);
	}
	out->baseline = list;
	out->nbaselines = n;
	return true;
}

bool
plan_search(struct plan *out, const struct plan_request *r, struct arena *a,
    struct err *err)
{
	struct job j = {.r = r, .arena = a};

	*out = (struct plan){.graph = r->graph,
	    .mix = r->mix,
	    .candidates = r->candidates,
	    .prices = r->prices};
	if (r->pricer && !pricer_price_conversions(r->pricer, r->prices, err))
		return false;
	if (!problem_build(&j.problem, r, NULL, a, err))
		return false;
	j.ask = arena_new(a, uint32_t, r->candidates->n);
	wholes_init(&j.wholes, out, &j.problem, a);
	if ((r->eager_pricing && !price_everything(&j, err))
	    || !search_regions(&j, err))
		return false;
	out->rounds = j.rounds;
	out->moved = j.wholes.moved;
	out->nmoved = j.wholes.nmoved;
	if (!r->only && !r->no_baselines && !run_baselines(&j, out, err))
		return false;
	plan_build(out, &j.best.cover, a);
	assert(out->cost == j.cost);
	out->lower_bound = j.best.lower_bound;
	out->proven = j.best.proven && out->cost == out->lower_bound;
	out->searcher = r->only ? "replay" : j.best.searcher;
	if (r->only) {
		out->proven = false; /* nothing was searched */
		out->lower_bound = 0;
	}
	return plan_verify(out, err);
}

bool
plan_top(struct plan *out, uint32_t k, uint32_t *n,
    const struct plan_request *r, struct arena *a, struct err *err)
{
	struct search_top top = {arena_new(a, struct search_result, k), k, 0};
	struct problem all, known;
	bool *allowed = arena_new(a, bool, r->candidates->n);

	if (!problem_build(&all, r, NULL, a, err))
		return false;
	for (uint32_t c = 0; c < r->candidates->n; c++)
		allowed[c] = r->prices->candidate[c].state == PRICE_KNOWN;
	problem_restrict(&known, &all, allowed, a);
	if (!search_top(&top, &known, &r->search, a, err))
		return false;
	*n = top.n;
	for (uint32_t i = 0; i < *n; i++) {
		out[i] = (struct plan){.graph = r->graph,
		    .mix = r->mix,
		    .candidates = r->candidates,
		    .prices = r->prices,
		    .searcher = "exact"};
		plan_build(&out[i], &top.best[i].cover, a);
		if (!plan_verify(&out[i], err))
			return false;
	}
	return true;
}
