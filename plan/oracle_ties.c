#include <assert.h>

#include "costmodel/fit.h"
#include "plan/pricing.h"
#include "plan/problem.h"
#include "plan/propose.h"
#include "plan/substitutes.h"
#include "plan/trace.h"
#include "search/cover.h"

/* SOURCE: prices of one session of a shared machine differ by this much from
 * another's; twice the spread where that is more. Permille. */
#define NEAR 20
#define NEAR_MOST 100
/* TUNING: choices below this share of a plan cannot matter. */
#define SMALLEST_SHARE 1000

/* Closer than their noise, or than `tolerance`. */
static bool
is_near(const struct price *x, const struct price *y, uint64_t tolerance)
{
	uint64_t apart = x->ns > y->ns ? x->ns - y->ns : y->ns - x->ns;
	uint64_t noise = x->ns * NEAR / 1000, most = x->ns * NEAR_MOST / 1000;

	noise = 2 * price_spread(x) > noise ? 2 * price_spread(x) : noise;
	noise = 2 * price_spread(y) > noise ? 2 * price_spread(y) : noise;
	noise = noise < most ? noise : most;
	return apart <= (noise > tolerance ? noise : tolerance);
}

static bool
is_measured(const struct price *p)
{
	return p->state == PRICE_KNOWN && p->source == PRICE_MEASURED;
}

/* Has this pair of keys been compared, either way round? */
static bool
is_compared(const struct planner *pl, uint32_t a, uint32_t b)
{
	const struct prices *p = pl->r->prices;

	for (uint32_t i = 0; i < pl->nties; i++) {
		uint32_t x = p->candidate[pl->tie[i].a],
		         y = p->candidate[pl->tie[i].b];

		if ((x == p->candidate[a] && y == p->candidate[b])
		    || (x == p->candidate[b] && y == p->candidate[a]))
			return true;
	}
	return false;
}

static void
add_tie(struct planner *pl, uint32_t a, uint32_t b)
{
	pl->tie = arena_grow(
	    pl->arena, pl->tie, &pl->tie_cap, pl->nties + 1, sizeof *pl->tie);
	pl->tie[pl->nties++] = (struct plan_tie){.a = a, .b = b};
}

static bool
may_be_used(const struct planner *pl, uint32_t candidate)
{
	return is_measured(prices_candidate(pl->r->prices, candidate))
	    && candidate_allowed(&pl->problem.candidate[candidate]);
}

static void
list_near(struct planner *pl, const struct cover *c, uint32_t chosen)
{
	const struct prices *p = pl->r->prices;
	uint64_t tolerance =
	    substitutes_tolerance(c, prices_candidate(p, chosen));
	const uint32_t *among;
	uint32_t n;

	if (!is_measured(prices_candidate(p, chosen))
	    || prices_candidate(p, chosen)->ns < c->cost / SMALLEST_SHARE)
		return;
	among = substitutes_among(pl, chosen, &n);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = among[k];

		if (i != chosen && may_be_used(pl, i)
		    && p->candidate[i] != p->candidate[chosen]
		    && is_substitute(pl, chosen, i)
		    && is_near(prices_candidate(p, chosen),
		        prices_candidate(p, i), tolerance)
		    && !is_compared(pl, chosen, i))
			add_tie(pl, chosen, i);
	}
}

/* Compare what is near and was not compared yet; prices are then those that fit all
 * comparisons. *moved: some did. */
static bool
compare(struct planner *pl, const struct cover *c, bool *moved, struct err *err)
{
	uint32_t first = pl->nties, n;
	struct pricer_pair *pair;

	for (uint32_t i = 0; i < c->nsteps; i++)
		list_near(pl, c, c->step[i].candidate);
	n = pl->nties - first;
	pair = arena_new(pl->arena, struct pricer_pair, n);
	for (uint32_t i = 0; i < n; i++)
		pair[i] = (struct pricer_pair){
		    .a = pl->tie[first + i].a, .b = pl->tie[first + i].b};
	if (n && !pricer_compare(pl->r->pricer, pair, n, err))
		return false;
	for (uint32_t i = 0; i < n; i++)
		trace_ask(pl->r->trace, "compare",
		    (uint32_t[]){pair[i].a, pair[i].b}, 2);
	pl->nties = first;
	for (uint32_t i = 0; i < n; i++) {
		const struct fit_pair turns = {
		    pair[i].a, pair[i].b, pair[i].low, pair[i].high};

		if (!pair[i].known)
			continue;
		assert(turns.low <= turns.high && turns.a != turns.b);
		/* never ahead of what is read */
		pl->tie[pl->nties++] = (struct plan_tie){turns.a, turns.b,
		    turns.low, turns.high, fit_is_tie(&turns)};
	}
	*moved = n && pricer_fit(pl->r->pricer);
	trace_learn(pl->r->trace, "comparisons", pl->nties - first, pl->nties);
	return true;
}

/* ---- fewer boundaries ---- */

/* A step's candidates of one price, the chosen one first. */
struct choice {
	uint32_t *candidate, n;
	uint32_t *changes, *from; /* [n] fewest up to here; by which before */
};

static bool
is_tied(const struct planner *pl, uint32_t chosen, uint32_t other)
{
	const struct prices *p = pl->r->prices;

	for (uint32_t i = 0; i < pl->nties; i++) {
		uint32_t x = p->candidate[pl->tie[i].a],
		         y = p->candidate[pl->tie[i].b];

		if (pl->tie[i].tied
		    && ((x == p->candidate[chosen] && y == p->candidate[other])
		        || (y == p->candidate[chosen]
		            && x == p->candidate[other])))
			return prices_candidate(p, chosen)->ns
			    == prices_candidate(p, other)->ns;
	}
	return false;
}

static struct choice
choice_of(const struct planner *pl, uint32_t chosen)
{
	uint32_t n;
	const uint32_t *among = substitutes_among(pl, chosen, &n);
	const uint32_t most = (n < pl->nties ? n : pl->nties) + 1;
	struct choice c = {.n = 1,
	    .candidate = arena_new(pl->arena, uint32_t, most),
	    .changes = arena_new(pl->arena, uint32_t, most),
	    .from = arena_new(pl->arena, uint32_t, most)};

	c.candidate[0] = chosen;
	for (uint32_t k = 0; pl->nties && k < n; k++) {
		const uint32_t i = among[k];

		if (i != chosen && c.n < most && may_be_used(pl, i)
		    && is_substitute(pl, chosen, i) && is_tied(pl, chosen, i))
			c.candidate[c.n++] = i;
	}
	return c;
}

static void
extend(const struct planner *pl, const struct choice *before, struct choice *c)
{
	const struct candidate *all = pl->r->candidates->candidate;

	for (uint32_t i = 0; i < c->n; i++) {
		c->changes[i] = UINT32_MAX;
		for (uint32_t k = 0; k < before->n; k++) {
			uint32_t n = before->changes[k]
			    + (all[before->candidate[k]].target
			        != all[c->candidate[i]].target);

			if (n >= c->changes[i])
				continue;
			c->changes[i] = n;
			c->from[i] = k;
		}
	}
}

/* Among what is tied, the candidates [nsteps] with the fewest changes of target
 * from step to step. */
static void
choose(const struct planner *pl, const struct cover *c, uint32_t *candidate)
{
	struct choice *at = arena_new(pl->arena, struct choice, c->nsteps);
	uint32_t best = 0;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		at[i] = choice_of(pl, c->step[i].candidate);
		if (i)
			extend(pl, &at[i - 1], &at[i]);
	}
	for (uint32_t i = c->nsteps; i-- > 0;) {
		if (i == c->nsteps - 1)
			for (uint32_t k = 1; k < at[i].n; k++)
				if (at[i].changes[k] < at[i].changes[best])
					best = k;
		candidate[i] = at[i].candidate[best];
		best = at[i].from[best];
	}
}

/* TUNING: a comparison may bring another candidate onto the cheapest cover,
 * with near ties of its own. */
#define TIE_ROUNDS 4

/* Prices of substitutes, then near ties of the cover: choices between candidates
 * whose prices are closer than their noise. Each is measured again in turn with the
 * chosen one. (O4) TIE_ROUNDS times, and never once a region was priced. */
bool
ask_ties(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	struct node_visit *x = &pl->visit;
	bool moved, priced;

	if (!pl->r->pricer || pl->r->what_if || x->compared
	    || x->tie_rounds == TIE_ROUNDS)
		return true;
	assert(x->rounds == 0);
	if (!substitutes_price(pl, &p->best.cover, &priced, err)
	    || !compare(pl, &p->best.cover, &moved, err))
		return false;
	x->compared = !moved && !priced;
	if (x->compared)
		return true;
	x->tie_rounds++;
	pricing_update(pl);
	effort_after(pl, true);
	*v = ORACLE_LEARNED;
	return true;
}

static uint32_t
target_of(const struct planner *pl, uint32_t candidate)
{
	return pl->problem.candidate[candidate].target;
}

/* What stays within a per cent is tied; then the fewest changes of target win, if
 * that costs no more. (O4) It learns nothing. */
bool
ask_changes(
    struct planner *pl, struct proposal *p, enum verdict *v, struct err *err)
{
	struct cover *c = &p->best.cover, other;
	uint32_t *candidate = arena_new(pl->arena, uint32_t, c->nsteps);
	bool *fresh = arena_new(pl->arena, bool, c->nsteps);

	(void)err;
	if (!pl->r->pricer || pl->nties == 0 || pl->visit.rounds > 0)
		return true;
	choose(pl, c, candidate);
	for (uint32_t i = 0; i < c->nsteps; i++)
		fresh[i] = i && c->step[i].run != c->step[i - 1].run
		    && target_of(pl, c->step[i].candidate)
		        == target_of(pl, c->step[i - 1].candidate);
	cover_complete(
	    &other, &pl->problem, candidate, fresh, c->nsteps, pl->arena);
	if (other.cost <= c->cost) {
		*c = other;
		*v = ORACLE_REPLACED;
	}
	return true;
}
