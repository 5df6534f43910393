#include "plan/propose.h"

#include <assert.h>
#include <string.h>

#include "plan/evaluate.h"
#include "plan/problem.h"
#include "plan/trace.h"
#include "plan/whole.h"
#include "search/budget.h"
#include "ir/base/cost.h"
#include "search/problem_index.h"

/* TUNING: bytes of labels, whatever the graph and for each of its nodes, of a
 * search whose cover is there to be priced. Nothing hangs on its proof. */
#define QUICK_BYTES (UINT64_C(8) << 20)
#define QUICK_NODE_BYTES (UINT64_C(8) << 10)

bool
planner_is_late(const struct planner *pl)
{
	return search_is_over(&pl->r->search);
}

/* ---- the node's problem ---- */

bool
node_is_asked(const struct planner *pl)
{
	const struct problem *p = &pl->problem;
	bool same = true;

	for (uint32_t t = 0; t < pl->r->mix->n; t++)
		same &= p->target[t].capacity == pl->asked[t].capacity
		    && p->target[t].max_runs == pl->asked[t].max_runs;
	for (uint32_t c = 0; c < p->ncandidates; c++)
		same &= p->candidate[c].banned == pl->tree.banned[c];
	return same;
}

bool
node_apply(struct planner *pl, struct err *err)
{
	struct problem *p = &pl->problem;

	if (pl->node.whole && !pl->node.guess && node_is_asked(pl))
		return true;
	p->target =
	    arena_copy(pl->arena, pl->asked, p->ntargets * sizeof *p->target);
	tree_limit(&pl->tree, &pl->node, p);
	assert(!pl->node.whole || pl->node.guess || node_is_asked(pl));
	return problem_index(p, pl->arena, err)
	    || err_in(err, "search problem of a memory level");
}

/* ---- effort ---- */

bool
may_improve(const struct plan_request *r)
{
	return !r->replay
	    && (!r->searcher || strcmp(r->searcher, "exact") == 0);
}

/* Only the exact search proves more with more memory; others are not run twice for
 * a proof they never give. */
static bool
proves(const struct plan_request *r)
{
	return !r->searcher || strcmp(r->searcher, "exact") == 0;
}

/* Is anything taken for more than its bound? */
static bool
has_guesses(const struct planner *pl)
{
	const struct prices *p = pl->r->prices;

	for (uint32_t c = 0; c < pl->r->candidates->n; c++)
		if (price_guess(prices_candidate(p, c))
		    > price_least(prices_candidate(p, c)))
			return true;
	return false;
}

void
effort_after(struct planner *pl, bool anew)
{
	struct node_visit *v = &pl->visit;

	if (anew) {
		v->guessed = false;
		v->effort = EFFORT_QUICK;
	}
	if (!proves(pl->r)) {
		v->effort = EFFORT_THOROUGH;
	} else if (!v->guessed && pl->r->pricer && has_guesses(pl)) {
		v->guessed = true;
		v->effort = EFFORT_GUESS;
	} else if (v->effort == EFFORT_THOROUGH) {
		v->effort = EFFORT_QUICK;
	}
}

/* What is proven is proven with bounds, so a search at guesses is always followed
 * by one with them. */
bool
effort_more(struct planner *pl, const struct proposal *p)
{
	struct node_visit *v = &pl->visit;
	bool more = v->effort == EFFORT_GUESS
	    || (v->effort == EFFORT_QUICK && !p->best.proven && !pl->node.quick
	        && !planner_is_late(pl));

	assert(!more || v->effort < EFFORT_THOROUGH);
	v->effort += more;
	return more;
}

/* ---- solving ---- */

struct search_options
quick_options(const struct planner *pl)
{
	struct search_options o = search_turn(&pl->r->search);
	uint64_t bytes = QUICK_BYTES + pl->problem.nnodes * QUICK_NODE_BYTES;

	if (o.memory_budget == 0 || bytes < o.memory_budget)
		o.memory_budget = bytes;
	return o;
}

/* The problem with all that is known; what is known of regions is of the one with
 * bounds. */
static bool
known_problem(struct planner *pl, struct problem *out, struct arena *scratch,
    struct err *err)
{
	*out = pl->problem;
	if (pl->known.nmoved)
		return knowledge_apply(&pl->known, out, err);
	if (pl->visit.effort == EFFORT_GUESS)
		problem_guess(out, &pl->problem, pl->r->prices, scratch);
	return true;
}

/* A bound is only taken from a relaxed problem: at bounds, and without guesses about
 * regions (Y1). It is then the node's as well. */
static void
take_bound(struct planner *pl, struct proposal *p)
{
	struct plan_node *n = &pl->node;

	if (pl->visit.effort == EFFORT_GUESS && p->best.found)
		p->best.proven = false;
	if (pl->visit.effort == EFFORT_GUESS || pl->known.nmoved)
		p->best.lower_bound = 0;
	assert(p->fell == pl->fell);
	if (n->guess || p->best.lower_bound <= node_bound(n, pl->fell))
		return;
	assert(pl->mode & (MODE_SEARCH | MODE_FIXED));
	n->bound = p->best.lower_bound;
	n->fell = pl->fell;
}

/* At the visit's effort. */
static bool
propose_node(struct planner *pl, struct proposal *p, struct err *err)
{
	static const char *const word[] = {"guess", "quick", "thorough"};
	const char *name = pl->r->searcher ? pl->r->searcher : "exact";
	struct search_options o = pl->visit.effort == EFFORT_THOROUGH
	    ? search_turn(&pl->r->search)
	    : quick_options(pl);
	struct arena scratch;
	struct problem now;
	bool ok;

	if (!o.hints)
		o.hints = &pl->hints;
	arena_init(&scratch);
	ok = known_problem(pl, &now, &scratch, err)
	    && search_named(&p->best, &now, name, &o, pl->arena, err);
	arena_release(&scratch);
	if (!ok)
		return false;
	trace_solve(pl->r->trace, word[pl->visit.effort], &p->best);
	if (pl->known.nmoved && p->best.found)
		knowledge_expand(&pl->known, &p->best.cover);
	take_bound(pl, p);
	return true;
}

bool
propose_single(struct planner *pl, uint32_t target, struct search_result *out,
    struct err *err)
{
	const uint32_t allowed[2] = {target, fallback_of(pl->r->mix, target)};
	struct search_options o = search_turn(&pl->r->search);

	if (!search_single(out, &pl->problem, allowed, &o, pl->arena, err))
		return false;
	trace_solve(pl->r->trace, "discount", out);
	if (out->found)
		evaluate_group(pl, &out->cover);
	return true;
}

static bool
search_without(struct planner *pl, uint32_t whole, struct search_result *out,
    const struct search_options *o, struct err *err)
{
	const struct candidates *all = pl->r->candidates;
	const uint32_t target[2] = {
	    pl->reference, fallback_of(pl->r->mix, pl->reference)};
	struct arena scratch;
	struct problem p;
	bool *allowed, ok;

	arena_init(&scratch);
	allowed = arena_new(&scratch, bool, pl->problem.ncandidates);
	for (uint32_t c = 0; c < pl->problem.ncandidates; c++)
		allowed[c] = c >= all->n || !meets_whole(all, c, whole);
	problem_restrict(&p, &pl->problem, allowed, &scratch);
	ok = search_single(out, &p, target, o, pl->arena, err);
	arena_release(&scratch);
	return ok;
}

/* One uses a runtime alone by giving it all it takes as one, though something else may
 * seem cheaper for some of that; where constraints forbid it, without. */
static bool
search_alone(struct planner *pl, struct search_result *out,
    const struct search_options *o, struct err *err)
{
	const uint32_t whole = whole_of(
	    pl->r->candidates, pl->r->mix, pl->r->prices, pl->reference);

	return search_without(pl, whole, out, o, err)
	    && (out->found || whole == WHOLE_NONE
	        || search_without(pl, WHOLE_NONE, out, o, err));
}

/* Something to compare with is not worth the memory of a proof. */
static bool
propose_baseline(struct planner *pl, struct proposal *p, struct err *err)
{
	struct search_options o = quick_options(pl);

	assert(node_is_asked(pl));
	if (!(pl->reference == pl->r->mix->n
	            ? search_eager(&p->best, &pl->problem, &o, pl->arena, err)
	            : search_alone(pl, &p->best, &o, err)))
		return false;
	trace_solve(pl->r->trace, "baseline", &p->best);
	return true;
}

bool
propose(struct planner *pl, struct proposal *p, struct err *err)
{
	p->fell = pl->fell;
	if (!(pl->mode & (MODE_SEARCH | MODE_FIXED)
	            ? propose_node(pl, p, err)
	            : propose_baseline(pl, p, err)))
		return false;
	if (p->best.found)
		evaluate_group(pl, &p->best.cover);
	return true;
}

uint32_t
fallback_of(const struct mix *m, uint32_t target)
{
	for (uint32_t t = 0; t < m->n; t++)
		if (target_is_host(&m->target[t]))
			return t;
	return target;
}

bool
is_sure(const struct planner *pl, uint32_t candidate)
{
	const struct price *p = prices_candidate(pl->r->prices, candidate);
	uint32_t target = pl->r->candidates->candidate[candidate].target;

	return p->state == PRICE_KNOWN
	    || (p->state == PRICE_BOUND
	        && (p->probes > 0 || target == fallback_of(pl->r->mix, 0)));
}

bool
propose_known(
    struct planner *pl, bool sure, struct search_result *out, struct err *err)
{
	struct search_options o = search_turn(&pl->r->search);
	bool *allowed = arena_new(pl->arena, bool, pl->problem.ncandidates);
	struct problem expected;

	for (uint32_t c = 0; c < pl->problem.ncandidates; c++)
		allowed[c] = !sure || is_sure(pl, c);
	problem_expect(
	    &expected, &pl->problem, pl->r->prices, allowed, pl->arena);
	if (!search_exact(out, &expected, &o, pl->arena, err))
		return false;
	trace_solve(pl->r->trace, "known", out);
	if (out->found)
		evaluate_group(pl, &out->cover);
	assert(expected.candidate != pl->problem.candidate);
	out->lower_bound = 0; /* candidates are missing, estimates are none */
	out->proven = false;
	return true;
}

bool
propose_bound(struct planner *pl, cost_ns *bound, struct err *err)
{
	struct search_options o = search_turn(&pl->r->search);
	struct search_result r;

	assert(node_is_asked(pl));
	if (!search_exact(&r, &pl->problem, &o, pl->arena, err))
		return false;
	trace_solve(pl->r->trace, "bound", &r);
	*bound = r.lower_bound;
	return true;
}

bool
propose_attended(struct planner *pl, cost_ns *bound, struct err *err)
{
	struct search_options o = quick_options(pl);
	struct search_result r;
	struct problem relaxed;

	if (!tree_relax_alone(&pl->tree, &pl->problem, &relaxed, bound, err)
	    || !search_exact(&r, &relaxed, &o, pl->arena, err))
		return false;
	trace_solve(pl->r->trace, "attended", &r);
	*bound = cost_add(*bound, r.lower_bound);
	return true;
}
