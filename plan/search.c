#include "plan/search.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "plan/groups.h"
#include "plan/problem.h"
#include "plan/quest.h"
#include "plan/trace.h"
#include "search/budget.h"
#include "search/cost.h"
#include "search/kbest.h"
#include "search/problem_index.h"

/* TUNING: bytes of labels, whatever the graph and for each of its nodes, of a
 * search whose cover is there to be priced. Nothing hangs on its proof. */
#define QUICK_BYTES (UINT64_C(8) << 20)
#define QUICK_NODE_BYTES (UINT64_C(8) << 10)

uint64_t
quest_quick_bytes(const struct quest *q)
{
	uint64_t bytes = QUICK_BYTES + q->problem.nnodes * QUICK_NODE_BYTES;
	uint64_t most = q->r->search.memory_budget;

	return most && most < bytes ? most : bytes;
}

void
quest_group(struct quest *q, struct cover *cover)
{
	groups_apply(cover, &q->problem, q->r->candidates, q->arena);
}

/* How a search is made. */
enum effort {
	EFFORT_GUESS, /* at what prices are taken for: it says what to price */
	EFFORT_QUICK, /* with little memory */
	EFFORT_THOROUGH, /* with all the memory there is to prove the answer */
};

/* The problem as it is searched; what is known of regions is of the one with
 * bounds. */
static bool
problem_for(struct quest *q, enum effort effort, struct problem *out,
    struct arena *scratch, struct err *err)
{
	*out = q->problem;
	if (q->wholes.nmoved)
		return wholes_apply(&q->wholes, out, err);
	if (effort == EFFORT_GUESS)
		problem_guess(out, &q->problem, q->r->prices, scratch);
	return true;
}

/* Without a bound and a proof where it was at guesses. */
static bool
solve(struct quest *q, enum effort effort, struct search_result *out,
    struct err *err)
{
	const char *name = q->r->searcher ? q->r->searcher : "exact";
	struct search_options o = search_turn(&q->r->search);
	struct arena scratch;
	struct problem p;
	bool ok;

	if (effort != EFFORT_THOROUGH)
		o.memory_budget = quest_quick_bytes(q);
	arena_init(&scratch);
	ok = problem_for(q, effort, &p, &scratch, err)
	    && search_named(out, &p, name, &o, q->arena, err);
	arena_release(&scratch);
	if (!ok)
		return false;
	trace_solve(q->r->trace,
	    effort == EFFORT_GUESS       ? "guess"
	        : effort == EFFORT_QUICK ? "quick"
	                                 : "thorough",
	    out);
	if (q->wholes.nmoved && out->found)
		wholes_expand(&q->wholes, &out->cover);
	if (out->found)
		quest_group(q, &out->cover);
	if (effort == EFFORT_GUESS && out->found) {
		out->lower_bound = 0;
		out->proven = false;
	}
	return true;
}

/* Is anything taken for more than its bound? */
static bool
has_guesses(const struct quest *q)
{
	const struct price *p = q->r->prices->candidate;

	for (uint32_t c = 0; c < q->r->candidates->n; c++)
		if (price_guess(&p[c]) > price_least(&p[c]))
			return true;
	return false;
}

bool
quest_is_late(const struct quest *q)
{
	return search_is_over(&q->r->search);
}

void
quest_reprice(struct quest *q)
{
	q->epoch++;
	q->fell += problem_reprice(&q->problem, q->r->prices, q->arena);
}

bool
quest_is_asked(const struct quest *q)
{
	bool same = true;

	for (uint32_t t = 0; t < q->r->mix->n; t++)
		same &= q->problem.target[t].capacity == q->asked[t].capacity
		    && q->problem.target[t].max_runs == q->asked[t].max_runs;
	return same;
}

cost_ns
quest_bound(const struct quest *q)
{
	return q->bound_fell == q->fell ? q->best.lower_bound : 0;
}

bool
quest_rebound(struct quest *q, struct err *err)
{
	struct search_options o = search_turn(&q->r->search);
	struct search_result r;

	assert(quest_is_asked(q));
	if (!search_exact(&r, &q->problem, &o, q->arena, err))
		return false;
	trace_solve(q->r->trace, "bound", &r);
	q->best.lower_bound = r.lower_bound;
	q->bound_fell = q->fell;
	return true;
}

/* Everything there is, of either kind. */
static bool
price_everything(struct quest *q, struct err *err)
{
	const struct prices *p = q->r->prices;
	bool moved;

	q->nask = 0;
	for (uint32_t c = 0; c < q->r->candidates->n; c++)
		if (p->candidate[c].state == PRICE_BOUND)
			q->ask[q->nask++] = c;
	quest_list_conversions(q);
	return quest_price_listed(q, &moved, err);
}

/* Of what has no price, what is known to run: the plain reference of every
 * operator, and what a probe has run. */
static bool
is_sure(const struct quest *q, uint32_t candidate)
{
	const struct price *p = &q->r->prices->candidate[candidate];
	uint32_t target = q->r->candidates->candidate[candidate].target;

	return p->state == PRICE_KNOWN
	    || (p->state == PRICE_BOUND
	        && (p->probes > 0 || target == quest_fallback(q->r->mix, 0)));
}

/* The best cover at expected prices; of what is known to run only, if sure. */
static bool
solve_expected(
    struct quest *q, bool sure, struct search_result *out, struct err *err)
{
	struct search_options o = search_turn(&q->r->search);
	bool *allowed = arena_new(q->arena, bool, q->problem.ncandidates);
	struct problem expected;

	for (uint32_t c = 0; c < q->problem.ncandidates; c++)
		allowed[c] = !sure || is_sure(q, c);
	problem_expect(&expected, &q->problem, q->r->prices, allowed, q->arena);
	if (!search_exact(out, &expected, &o, q->arena, err))
		return false;
	trace_solve(q->r->trace, "known", out);
	if (out->found)
		quest_group(q, &out->cover);
	out->lower_bound = 0; /* candidates are missing, estimates are none */
	out->proven = false;
	return true;
}

static uint32_t
count_unsure(const struct quest *q, const struct cover *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->nsteps; i++)
		n += !is_sure(q, c->step[i].candidate);
	return n;
}

/* TUNING: times a cover is priced to the end: another may be cheaper then. */
#define COMPLETIONS_MAX 4

/* Try what the cheapest cover by bounds has that was never run: then it is known to
 * run, and about how fast. */
static bool
try_cover(struct quest *q, struct err *err)
{
	bool any;

	quest_list_unpriced(q, &q->best.cover);
	trace_ask(q->r->trace, "probe", q->ask, q->nask);
	if (!pricer_probe(
	        q->r->pricer, q->r->prices, q->ask, q->nask, &any, err))
		return false;
	quest_reprice(q);
	return true;
}

/* Price what the best cover lacks, as long as there is time. */
static bool
price_cover(struct quest *q, struct err *err)
{
	for (uint32_t i = 0; i < COMPLETIONS_MAX; i++) {
		struct search_result r;
		bool moved;

		if (!pricer_may_measure(q->r->pricer))
			return true;
		if (!solve_expected(q, true, &r, err))
			return false;
		if (!r.found)
			return true;
		quest_list_unpriced(q, &r.cover);
		if (q->nask + q->nconvert == 0)
			return true;
		if (!quest_price_all_listed(q, &moved, err))
			return false;
	}
	return true;
}

/* The same, with the time that was kept for it; nothing is priced after that. */
static bool
complete(struct quest *q, struct err *err)
{
	bool ok;

	if (!q->r->pricer || q->r->completing_ns == 0)
		return true;
	pricer_set_deadline(q->r->pricer, q->r->completing_ns);
	ok = try_cover(q, err) && price_cover(q, err);
	pricer_set_deadline(q->r->pricer, 1);
	return ok;
}

/* Prices ran out: the best cover at what prices there are, and estimates where
 * there are none. What was never run is in it only where there is no other way.
 * The bound stays that of the problem with lower bounds. */
static bool
settle(struct quest *q, struct err *err)
{
	struct search_result r;
	uint32_t unsure;

	if (!complete(q, err) || !solve_expected(q, true, &r, err)
	    || (!r.found && !solve_expected(q, false, &r, err)))
		return false;
	if (!r.found)
		r.cover = q->best.cover;
	unsure = count_unsure(q, &r.cover);
	if (unsure)
		notes_add(q->r->notes,
		    "%" PRIu32 " composites of the plan were never tried: "
		    "they may turn out not to run",
		    unsure);
	q->best.cover = r.cover;
	q->best.searcher = r.searcher;
	q->best.proven = false;
	return true;
}

/* Only the exact search proves more with more memory; others are not run twice for
 * a proof they never give. */
static bool
proves(const struct quest *q)
{
	return !q->r->searcher || strcmp(q->r->searcher, "exact") == 0;
}

/* Something is known that was not: with guesses as soon as there are any, until
 * they lead to nothing new; then with bounds. */
static enum effort
effort_after(const struct quest *q, enum effort effort, bool *guessed)
{
	if (!proves(q))
		return EFFORT_THOROUGH;
	if (!*guessed && q->r->pricer && has_guesses(q)) {
		*guessed = true;
		return EFFORT_GUESS;
	}
	return effort == EFFORT_THOROUGH ? EFFORT_QUICK : effort;
}

/* Nothing was priced: may more effort be worth it? What is proven is proven with
 * bounds, so a search at guesses is always followed by one. */
static bool
try_harder(const struct quest *q, enum effort *effort)
{
	bool more = *effort == EFFORT_GUESS
	    || (*effort == EFFORT_QUICK && !q->best.proven && !q->quick
	        && !quest_is_late(q));

	if (more)
		++*effort;
	return more;
}

/* Solve once, and price what the cover lacks; *moved: something did. */
static bool
solve_and_price(
    struct quest *q, enum effort effort, bool *moved, struct err *err)
{
	*moved = false;
	if (!solve(q, effort, &q->best, err))
		return false;
	q->bound_fell = q->fell;
	q->nask = q->nconvert = 0;
	q->overfull = q->slices && q->best.found
	    && slices_overfull(
	        q->slices, &q->problem, &q->best.cover, &q->overflow);
	if (q->overfull || !q->best.found)
		return true;
	quest_list_unpriced(q, &q->best.cover);
	if (q->nask + q->nconvert > 0 && !quest_price_listed(q, moved, err))
		return false;
	*moved |= q->bound_fell != q->fell; /* without a price for any of it */
	return true;
}

bool
quest_search(struct quest *q, struct err *err)
{
	bool moved, guessed = false;
	enum effort effort = effort_after(q, EFFORT_QUICK, &guessed);

	do {
		if (!solve_and_price(q, effort, &moved, err))
			return false;
		if (q->overfull)
			return true;
		if (moved)
			effort = effort_after(q, effort, &guessed);
	} while (moved || try_harder(q, &effort));
	if (!q->best.found)
		return quest_explain_none(q, err);
	return q->nask + q->nconvert == 0 || settle(q, err);
}

bool
quest_ask_regions(struct quest *q, const struct cover *cover, struct err *err)
{
	uint32_t *run = arena_new(q->arena, uint32_t, cover->nsteps);

	for (uint32_t i = 0, n; q->r->pricer && i < cover->nsteps; i += n) {
		for (n = 0; i + n < cover->nsteps
		     && cover->step[i + n].run == cover->step[i].run;
		     n++)
			run[n] = cover->step[i + n].candidate;
		if (n > 1)
			trace_ask(q->r->trace, "region", run, n);
		if (!pricer_price_region(
		        q->r->pricer, q->r->prices, run, n, err))
			return false;
	}
	return true;
}

bool
quest_weigh(struct quest *q, const struct cover *cover, struct plan *out)
{
	struct arena scratch;
	bool fits;

	*out = (struct plan){.graph = q->r->graph,
	    .mix = q->r->mix,
	    .candidates = q->r->candidates,
	    .prices = q->r->prices,
	    .at_least = q->at_least};
	plan_build(out, cover, q->arena);
	arena_init(&scratch);
	fits = plan_fits(out, &q->overflow, &scratch);
	arena_release(&scratch);
	return fits;
}

/* How much is proven: a bound of prices that have not fallen since, and a plan all
 * of which has a price. Of a replay nothing is: it was not searched. A cheaper plan
 * than the bound means that regions cost less than their parts. */
static bool
conclude(struct plan *out, struct quest *q, struct err *err)
{
	if (q->r->only) {
		out->lower_bound = 0;
		out->proven = false;
		return true;
	}
	if (q->best.lower_bound && q->bound_fell != q->fell
	    && !quest_rebound(q, err))
		return false;
	out->lower_bound = quest_bound(q);
	if (out->lower_bound > out->cost)
		out->lower_bound = 0;
	out->proven = out->lower_bound == out->cost && plan_unpriced(out) == 0;
	assert(out->lower_bound <= out->cost);
	assert(!out->proven || q->bound_fell == q->fell);
	return true;
}

static bool
search_once(struct plan *out, const struct plan_request *r, struct arena *a,
    struct err *err)
{
	struct quest q = {.r = r, .arena = a};
	const struct plan about = {.graph = r->graph,
	    .mix = r->mix,
	    .candidates = r->candidates,
	    .prices = r->prices};

	if (!problem_build(&q.problem, r, NULL, a, err))
		return false;
	q.asked = arena_copy(
	    a, q.problem.target, r->mix->n * sizeof *q.problem.target);
	q.ask = arena_new(a, uint32_t, r->candidates->n);
	q.doubted = arena_new(a, bool, r->candidates->n);
	wholes_init(&q.wholes, &about, &q.problem, a);
	if ((r->eager_pricing && !price_everything(&q, err))
	    || !quest_search_fitting(&q, err)
	    || (!r->only && !r->no_baselines && !quest_baselines(&q, err)))
		return false;
	if (q.plan.cost == COST_NEVER)
		return quest_explain_refused(&q, err);
	*out = q.plan;
	out->rounds = q.rounds;
	out->moved = q.wholes.moved;
	out->nmoved = q.wholes.nmoved;
	out->baseline = q.baseline;
	out->nbaselines = q.nbaselines;
	out->tie = q.tie;
	out->nties = q.nties;
	out->searcher = r->only ? "replay" : q.best.searcher;
	if (!conclude(out, &q, err))
		return false;
	trace_plan(r->trace, out);
	return plan_verify(out, err);
}

/* TUNING: times the search is repeated at what is on record. Each but the last
 * has had an answer that nobody had before; two or three are usual. */
#define PASSES_MAX 16

/* A plan is decided by what is on record, and by nothing that depends on the order
 * in which it came: so a search that asked for anything is done once more on its
 * answers. Then another run decides the same, and asks for nothing. */
bool
plan_search(struct plan *out, const struct plan_request *r, struct arena *a,
    struct err *err)
{
	bool again = true;

	for (uint32_t pass = 0; again && pass < PASSES_MAX; pass++) {
		uint32_t asked = r->pricer ? pricer_asked(r->pricer) : 0;

		if (!search_once(out, r, a, err))
			return false;
		again = r->pricer && pricer_asked(r->pricer) != asked
		    && pricer_may_measure(r->pricer)
		    && !search_is_over(&r->search);
		if (again && !pricer_restart(r->pricer, r->prices, &again, err))
			return false;
	}
	return true;
}

/* By true costs, which order plans otherwise than the search does. */
static void
insert(struct plan *list, uint32_t n, const struct plan *p)
{
	for (; n > 0 && list[n - 1].cost > p->cost; n--)
		list[n] = list[n - 1];
	list[n] = *p;
}

/* Say what is proven of n plans, ascending. The search bounds sums of parts: its
 * i-th bound holds for all but i choices of candidates, however they are cut into
 * regions, so it bounds the i-th best plan. Where regions may cost less than
 * their parts it bounds nothing. */
static void
prove(struct plan *list, uint32_t n, const struct search_top *top,
    const struct mix *mix)
{
	bool discounts = quest_has_discounts(mix);

	for (uint32_t i = 0; i < n; i++)
		discounts |= list[i].cost < top->best[i].lower_bound;
	for (uint32_t i = 0; i < n; i++) {
		assert(i == 0 || list[i - 1].cost <= list[i].cost);
		list[i].lower_bound = discounts ? 0 : top->best[i].lower_bound;
		list[i].proven = list[i].cost == list[i].lower_bound;
	}
}

bool
plan_top(struct plan *out, uint32_t k, uint32_t *n,
    const struct plan_request *r, struct arena *a, struct err *err)
{
	struct search_top top = {arena_new(a, struct search_result, k), k, 0};
	struct quest q = {.r = r, .arena = a};
	struct problem known;
	bool *allowed = arena_new(a, bool, r->candidates->n);

	*n = 0;
	if (!problem_build(&q.problem, r, NULL, a, err))
		return false;
	for (uint32_t c = 0; c < r->candidates->n; c++)
		allowed[c] = r->prices->candidate[c].state == PRICE_KNOWN;
	problem_restrict(&known, &q.problem, allowed, a);
	if (!search_top(&top, &known, &r->search, a, err))
		return false;
	if (top.n < k && quest_is_late(&q))
		notes_add(r->notes,
		    "the search ended before the %" PRIu32
		    " best plans were found: %" PRIu32 " are",
		    k, top.n);
	for (uint32_t i = 0; i < top.n; i++) {
		quest_group(&q, &top.best[i].cover);
		if (!quest_weigh(&q, &top.best[i].cover, &q.plan)
		    || q.plan.cost == COST_NEVER)
			continue;
		q.plan.searcher = "exact";
		if (!plan_verify(&q.plan, err))
			return false;
		insert(out, (*n)++, &q.plan);
	}
	prove(out, *n, &top, r->mix);
	return true;
}
