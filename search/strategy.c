#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "search/split_readers.h"
#include "search/capacity/multiplier.h"
#include "search/capacity/rcsp.h"
#include "search/check.h"
#include "search/lagrangian/model.h"
#include "search/interval.h"
#include "search/forward_dp.h"
#include "search/relaxation.h"
#include "search/solution.h"
#include "search/solve.h"
#include "search/backward_dp.h"

/* TUNING: where nodes have no more than RATE_PLAIN labels on average the DP needs
 * neither multipliers nor an incumbent; else a narrow beam finds a first cover, and
 * DUAL_ROUNDS steps of the dual and a wider beam guided by it come next. The bound is
 * tight whatever the first cover costs, so that may be a poor one (BEAM_FIRST), and
 * the first look past the bound a short one (NEAR_FIRST). Where a multiplier stands
 * in for a capacity labels also differ in what they use, and the gap is its own: more
 * steps and more labels pay off (RATE_MULTIPLIER). There, and where formats are local,
 * the optimum of the dual is known (ROUNDS_KNOWN). Where that look gives up, more steps
 * of the dual (ROUNDS_MORE) cost less than more labels. Pairs of labels compared are what
 * a wide graph takes; those that end well take less than 100 a node (RATE_COMPARED). */
#define BEAM_FIRST 2
#define BEAM_GUIDED 64
#define NEAR_FIRST 8192
#define BEAM_ALONE 64
#define RATE_PLAIN 36
#define RATE_NEAR 400
#define RATE_MULTIPLIER 20000
#define RATE_COMPARED 160
#define ROUNDS_KNOWN 3000
#define ROUNDS_MORE 1000
#define EXTRAPOLATE_AFTER 2048

struct strategy {
	const struct problem *p, *relaxed; /* without local formats */
	struct backward_limits limits;
	struct search_result *best;
	struct arena *arena; /* the covers' */
	struct search_hints *hints; /* of the caller, or of this search */
	bool optimum_known; /* of the relaxed problem: its bound */
	FILE *trace; /* NULL: none */
	const char *stage; /* under way, for the trace */
};

/* What a stage found and why it ended; costs that are not known are "-". */
static void
trace_stage(
    const struct strategy *x, cost_ns upper, const struct search_result *r)
{
	const struct search_result *best = x->best;
	char below[24] = "any", incumbent[24] = "-";

	if (!x->trace)
		return;
	if (upper != COST_NEVER)
		snprintf(below, sizeof below, "%" PRIu64, upper);
	if (best->found)
		snprintf(
		    incumbent, sizeof incumbent, "%" PRIu64, best->cover.cost);
	fprintf(x->trace,
	    "search: %-11s below %s: %s, %" PRIu64 " labels; bound %" PRIu64
	    ", incumbent %s\n",
	    x->stage, below,
	    r->found        ? "a cover"
	        : r->proven ? "none"
	                    : "gave up",
	    r->labels, best->lower_bound, incumbent);
}

/* One run of the backward DP for covers cheaper than `upper`; keep what it finds
 * and proves. */
static void
run_below(struct strategy *x, cost_ns upper)
{
	struct search_result r;

	assert(!x->limits.multiplier || x->limits.dual || x->limits.beam == 0);
	x->limits.upper = upper;
	backward_dp(&r, x->p, &x->limits, x->arena);
	result_keep(x->best, &r);
	trace_stage(x, upper, &r);
}

static cost_ns
upper(const struct strategy *x)
{
	return x->best->found ? x->best->cover.cost : COST_NEVER;
}

static void
run(struct strategy *x)
{
	run_below(x, upper(x));
}

/* The bound is tight as a rule: look for covers only a little above it, then a
 * little more, up to twice, while that stays cheap. */
static void
stage_near(struct strategy *x)
{
	cost_ns near = x->best->lower_bound, gap = near / NEAR_FIRST + 1;

	x->stage = "near";
	x->limits.beam = 0;
	x->limits.max_rate = x->limits.multiplier ? RATE_MULTIPLIER : RATE_NEAR;
	while (!x->best->proven && x->best->lower_bound < upper(x)) {
		cost_ns limit = gap < near ? cost_add(near, gap) : upper(x);

		run_below(x, limit < upper(x) ? limit : upper(x));
		if (x->best->lower_bound < limit)
			break; /* it gave up, or was not stopped by the limit */
		/* A bound below NEAR_FIRST has a gap of 1: half of that is
		 * nothing, and the runs would never end. */
		gap += x->limits.multiplier ? gap / 2 + 1 : gap;
	}
	x->limits.max_rate = 0;
}

/* What the dual's bound is to come to. */
static cost_ns
goal(const struct strategy *x)
{
	if (x->limits.multiplier)
		return x->limits.multiplier->optimum;
	if (x->optimum_known)
		return x->best->lower_bound;
	return x->best->found ? x->best->cover.cost : 0;
}

/* Those of a problem of so many nodes, or none: multipliers are of its rows. */
static struct search_hints *
hints_for(struct search_hints *h, uint32_t nnodes)
{
	if (h->nnodes != nnodes) {
		h->nnodes = nnodes;
		h->is_wide = false;
		h->naccount = 0;
	}
	return h;
}

/* Where the search of a problem like this one ended. */
static void
begin(struct strategy *x, struct dual *dual)
{
	const struct search_hints *h = hints_for(x->hints, dual->p->nnodes);

	if (h->naccount == h->nnodes + dual->noptions)
		dual_begin(dual, h->account, goal(x));
}

static void
leave_hint(struct search_hints *h, const struct dual *dual)
{
	(void)hints_for(h, dual->p->nnodes);
	h->naccount = dual->p->nnodes + dual->noptions;
	h->account = arena_grow(h->arena, h->account, &h->account_cap,
	    h->naccount, sizeof *h->account);
	memcpy(h->account, dual->account, h->naccount * sizeof *h->account);
}

/* Steps of the dual; the bound they give. */
static void
improve(struct strategy *x, struct dual *dual, uint32_t rounds)
{
	const struct capacity_multiplier *multiplier = x->limits.multiplier;
	cost_ns bound;

	dual_improve(dual, goal(x), rounds, &x->limits.budget);
	bound = dual_bound(dual);
	if (multiplier)
		bound -= bound < multiplier_left(multiplier, 0)
		    ? bound
		    : multiplier_left(multiplier, 0);
	if (bound > x->best->lower_bound)
		x->best->lower_bound = bound;
	leave_hint(x->hints, dual);
}

/* Multipliers of the problem's rows, or, where a capacity binds, of the problem with
 * one for that. False: its costs are too large. */
static bool
make_multipliers(struct strategy *x, struct dual *dual,
    const struct problem *priced, struct arena *space)
{
	const struct capacity_multiplier *multiplier = x->limits.multiplier;
	uint32_t rounds =
	    multiplier || x->p->local ? ROUNDS_KNOWN : DUAL_ROUNDS;
	struct converter_memo *memo =
	    arena_new(space, struct converter_memo, 1);

	if (!dual_fits(priced, x->limits.budget.bytes))
		return false;
	convert_init(memo, priced, space);
	if (!dual_init(dual, priced, memo, space))
		return false;
	begin(x, dual);
	improve(x, dual, rounds);
	if (space->bytes < x->limits.budget.bytes)
		x->limits.budget.bytes -= space->bytes;
	x->limits.dual = dual;
	return true;
}

/* Wide graphs: prices first, then runs they prune; a guided beam where those grow
 * too wide. */
static void
stage_multipliers(struct strategy *x, const struct problem *priced)
{
	struct arena space;
	struct dual dual;

	x->limits.max_rate = 0;
	arena_init(&space);
	if (make_multipliers(x, &dual, priced, &space)) {
		stage_near(x);
		if (!x->best->proven && !x->limits.multiplier) {
			improve(x, &dual, ROUNDS_MORE);
			stage_near(x);
		}
		x->stage = "guided beam";
		x->limits.beam = BEAM_GUIDED;
		if (!x->best->proven)
			run(x);
	}
	x->limits.beam = 0;
	x->stage = "all";
	if (!x->best->proven)
		run(x);
	x->limits.dual = NULL;
	arena_release(&space);
}

static bool
has_capacity(const struct problem *p)
{
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (p->target[t].capacity != UINT64_MAX)
			return true;
	return false;
}

/* Capacities that bind: the path through the states where there are few; else they
 * get a multiplier before the problem's rows get theirs. */
static void
stage_capacity(struct strategy *x)
{
	const struct budget *budget = &x->limits.budget;
	bool has = has_capacity(x->p);
	struct search_result *best = x->best;
	struct problem priced = *x->relaxed;
	struct capacity_multiplier multiplier;

	if (has
	    && multiplier_search(&multiplier, best, x->p, budget, x->arena)) {
		multiplier_apply(&multiplier, &priced, x->relaxed, x->arena);
		x->limits.multiplier = &multiplier;
	}
	result_settle(best);
	if (has && !best->proven)
		rcsp_search(best, x->p, RCSP_ROOM, budget, x->arena);
	if (!best->proven)
		stage_multipliers(x, &priced);
	x->limits.multiplier = NULL;
}

/* Were labels alone too many in a problem like this one? */
static bool
was_wide(const struct strategy *x)
{
	return hints_for(x->hints, x->p->nnodes)->is_wide;
}

static void
note_width(struct strategy *x)
{
	hints_for(x->hints, x->p->nnodes)->is_wide = !x->best->proven;
}

/* Narrow graphs need no more than this; else a beam finds a first cover. */
static void
stage_plain(struct strategy *x, const struct search_options *o)
{
	x->stage = "plain";
	x->limits.max_rate = RATE_PLAIN;
	x->limits.max_compared = RATE_COMPARED;
	if (!was_wide(x))
		run(x);
	note_width(x);
	x->limits.max_rate = x->limits.max_compared = 0;
	if (!x->best->found) {
		x->stage = "first beam";
		x->limits.beam = o->beam ? o->beam : BEAM_FIRST;
		run(x);
	}
	x->limits.beam = 0;
}

/* The same candidates in the same order and runs, at what they cost here. */
static void
recost(struct cover *out, const struct problem *p, const struct cover *from,
    struct arena *a)
{
	struct arena space;
	uint32_t *candidate;
	bool *fresh;

	arena_init(&space);
	candidate = arena_new(&space, uint32_t, from->nsteps);
	fresh = arena_new(&space, bool, from->nsteps);
	for (uint32_t i = 0; i < from->nsteps; i++) {
		candidate[i] = from->step[i].candidate;
		fresh[i] = i > 0 && from->step[i].run != from->step[i - 1].run;
	}
	cover_complete(out, p, candidate, fresh, from->nsteps, a);
	arena_release(&space);
}

static void solve_backward(struct search_result *out, const struct problem *p,
    const struct search_options *o, const struct budget *budget,
    struct arena *a);

/* Where formats are local: without that first. Its optimum is the answer where no
 * value has to be brought in twice, and else a bound and where to start from. */
static void
stage_relaxed(struct strategy *x, const struct search_options *o)
{
	struct search_result *best = x->best;
	struct search_options inner = *o;
	struct arena space; /* of the cover as it is there */

	inner.hints = x->hints;
	arena_init(&space);
	solve_backward(best, x->relaxed, &inner, &x->limits.budget, &space);
	if (best->found) {
		recost(&best->cover, x->p, &best->cover, x->arena);
		x->optimum_known = best->proven;
		best->found = best->cover.cost != COST_NEVER;
		best->proven =
		    best->found && best->cover.cost == best->lower_bound;
	}
	arena_release(&space);
}

static void
solve_backward(struct search_result *out, const struct problem *p,
    const struct search_options *o, const struct budget *budget,
    struct arena *a)
{
	struct search_hints own;
	struct strategy x = {.p = p,
	    .best = out,
	    .arena = a,
	    .hints = o->hints ? o->hints : &own,
	    .trace = o->trace,
	    .stage = ""};
	struct converter_memo memo;
	struct arena space;
	struct problem relaxed;
	struct split_readers split;

	arena_init(&space);
	own = (struct search_hints){.arena = &space};
	convert_init(&memo, p, &space);
	*out = (struct search_result){.why = ""};
	split_readers_find(&split, p, &space);
	relaxed = split_readers_relax(&split, p, &space);
	x.relaxed = &relaxed;
	x.limits = (struct backward_limits){.memo = &memo,
	    .budget = *budget,
	    .split = &split,
	    .extrapolate_after = EXTRAPOLATE_AFTER};
	if (p->local)
		stage_relaxed(&x, o);
	else
		stage_plain(&x, o);
	if (!out->proven)
		stage_capacity(&x);
	if (!out->proven)
		out->why = "the label or time budget ran out";
	arena_release(&space);
}

/* The general search for what is cheaper than the best cover so far, or any. */
static void
run_forward(struct search_result *best, const struct problem *p,
    struct forward_limits *limits, struct arena *a)
{
	struct search_result r;

	limits->upper = best->found ? best->cover.cost : COST_NEVER;
	forward_dp(&r, p, limits, a);
	best->labels += r.labels;
	best->why = r.why;
	if (r.found) {
		best->found = true;
		best->cover = r.cover;
	}
	if (r.proven)
		best->lower_bound = best->found ? best->cover.cost : COST_NEVER;
	best->proven = r.proven;
}

/* ... with prices, of the problem itself but for limits on runs: a beam they guide
 * first, because the cheaper the best cover, the more they rule out. */
static void
stage_forward(struct search_result *best, const struct problem *p,
    struct forward_limits *limits, struct arena *a)
{
	struct forward_limits narrow;
	struct converter_memo memo;
	struct problem priced;
	struct arena space;
	struct dual dual;
	cost_ns goal = cost_add(best->lower_bound, best->lower_bound / 8);

	arena_init(&space);
	relax_sizes(&priced, p, &space);
	convert_init(&memo, &priced, &space);
	if (dual_fits(&priced, limits->budget.bytes)
	    && dual_init(&dual, &priced, &memo, &space)) {
		dual_improve(&dual, best->found ? best->cover.cost : goal,
		    DUAL_ROUNDS, &limits->budget);
		limits->dual = &dual;
		if (dual_bound(&dual) > best->lower_bound)
			best->lower_bound = dual_bound(&dual);
	}
	if (space.bytes < limits->budget.bytes)
		limits->budget.bytes -= space.bytes;
	narrow = *limits;
	narrow.budget.bytes = 1;
	run_forward(best, p, &narrow, a);
	if (!best->proven)
		run_forward(best, p, limits, a);
	limits->dual = NULL;
	arena_release(&space);
}

/* Problems the backward DP cannot take: the relaxed one first, whose optimum often
 * is the answer; then the general search for what is cheaper. */
static void
solve_forward(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a)
{
	const struct search_options half = search_turn(o);
	struct forward_limits limits = {
	    .beam = o->beam, .budget = budget_of(o)};
	cost_ns *guess = arena_new(a, cost_ns, p->nnodes);
	struct search_result easier;
	struct budget first;
	struct problem relaxed;
	struct cover cover;

	*out = (struct search_result){.why = ""};
	if (!relax(&relaxed, p, a))
		return;
	if (o->memory_budget == 0)
		limits.budget.bytes = ORDER_MEMORY;
	first = budget_of(&half);
	solve_backward(&easier, &relaxed, o, &first, a);
	out->lower_bound = easier.lower_bound;
	out->labels = easier.labels;
	out->proven = easier.proven && !easier.found;
	if (out->proven)
		return;
	if (easier.found && tighten(&cover, p, &easier.cover, a)) {
		out->found = true;
		out->cover = cover;
	}
	if (!out->found && interval_cover(&cover, p, a)) {
		out->found = true;
		out->cover = cover;
	}
	for (uint32_t i = 0; easier.found && i < easier.cover.nsteps; i++) {
		const struct problem_candidate *c =
		    &p->candidate[easier.cover.step[i].candidate];

		for (uint32_t k = 0; k < c->nnodes; k++)
			guess[c->node[k]] = c->cost / c->nnodes;
	}
	limits.guess = guess;
	if (!out->found || out->cover.cost > out->lower_bound)
		stage_forward(out, p, &limits, a);
	out->proven |= out->found && out->cover.cost == out->lower_bound;
}

bool
search_beam(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct search_options narrow = *o;
	struct converter_memo memo;
	struct backward_limits limits = {.memo = &memo,
	    .upper = COST_NEVER,
	    .beam = o->beam ? o->beam : BEAM_ALONE,
	    .budget = budget_of(o)};

	convert_init(&memo, p, a);
	narrow.memory_budget = 1;
	narrow.beam = limits.beam;
	if (backward_handles(p))
		backward_dp(out, p, &limits, a);
	else
		solve_forward(out, p, &narrow, a);
	out->searcher = "beam";
	return !out->found || cover_check(&out->cover, p, a, err);
}

bool
search_exact(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	struct budget budget = budget_of(o);

	if (backward_handles(p))
		solve_backward(out, p, o, &budget, a);
	else
		solve_forward(out, p, o, a);
	out->searcher = "exact";
	solution_verify(out);
	return !out->found || cover_check(&out->cover, p, a, err);
}
