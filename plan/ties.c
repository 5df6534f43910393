#include "plan/problem.h"
#include "plan/quest.h"
#include "plan/trace.h"
#include "search/cover.h"

#define MILLION UINT64_C(1000000)
/* SOURCE: prices of one session of a shared machine differ by this much from
 * another's; twice the spread where that is more. Permille. */
#define NEAR 20
#define NEAR_MOST 100
/* SOURCE: interleaved ratios of equal kernels differ by up to 1.1 % on a quiet
 * machine. */
#define TIED 10000 /* millionths */
/* TUNING: choices below this share of a plan cannot matter. */
#define SMALLEST_SHARE 1000

/* Closer than their noise, or than `doubt`. */
static bool
is_near(const struct price *x, const struct price *y, uint64_t doubt)
{
	uint64_t apart = x->ns > y->ns ? x->ns - y->ns : y->ns - x->ns;
	uint64_t noise = x->ns * NEAR / 1000, most = x->ns * NEAR_MOST / 1000;

	noise = 2 * price_spread(x) > noise ? 2 * price_spread(x) : noise;
	noise = 2 * price_spread(y) > noise ? 2 * price_spread(y) : noise;
	noise = noise < most ? noise : most;
	return apart <= (noise > doubt ? noise : doubt);
}

static bool
is_measured(const struct price *p)
{
	return p->state == PRICE_KNOWN && p->source == PRICE_MEASURED;
}

/* Has this pair of keys been compared, either way round? */
static bool
is_compared(const struct quest *q, uint32_t a, uint32_t b)
{
	const struct price *p = q->r->prices->candidate;

	for (uint32_t i = 0; i < q->nties; i++) {
		uint32_t x = p[q->tie[i].a].key, y = p[q->tie[i].b].key;

		if ((x == p[a].key && y == p[b].key)
		    || (x == p[b].key && y == p[a].key))
			return true;
	}
	return false;
}

static void
add_tie(struct quest *q, uint32_t a, uint32_t b)
{
	q->tie = arena_grow(
	    q->arena, q->tie, &q->tie_cap, q->nties + 1, sizeof *q->tie);
	q->tie[q->nties++] = (struct plan_tie){.a = a, .b = b};
}

static bool
may_be_used(const struct quest *q, uint32_t candidate)
{
	return is_measured(&q->r->prices->candidate[candidate])
	    && candidate_allowed(&q->problem.candidate[candidate]);
}

static void
list_near(struct quest *q, const struct cover *c, uint32_t chosen)
{
	const struct plan_request *r = q->r;
	const struct price *p = r->prices->candidate;
	uint64_t doubt = quest_doubt(c, &p[chosen]);

	if (!is_measured(&p[chosen]) || p[chosen].ns < c->cost / SMALLEST_SHARE)
		return;
	for (uint32_t i = 0; i < r->candidates->n; i++)
		if (i != chosen && may_be_used(q, i)
		    && p[i].key != p[chosen].key && quest_is_rival(q, chosen, i)
		    && is_near(&p[chosen], &p[i], doubt)
		    && !is_compared(q, chosen, i))
			add_tie(q, chosen, i);
}

/* What the comparison says goes into the rival's price. */
static bool
apply(struct quest *q, struct plan_tie *tie)
{
	const struct plan_request *r = q->r;
	const struct price *p = r->prices->candidate;
	uint64_t mid = (tie->low + tie->high) / 2;
	cost_ns before = p[tie->b].ns, now;

	tie->tied = tie->low <= MILLION + TIED && tie->high >= MILLION - TIED;
	now = tie->tied ? p[tie->a].ns
	                : (cost_ns)((double)p[tie->a].ns * (double)mid / 1e6);
	pricer_adjust(r->pricer, r->prices, tie->b, now ? now : 1);
	return now != before;
}

/* Compare what is near and was not compared yet; prices of rivals then follow
 * from the comparison. *moved: some did. */
static bool
settle(struct quest *q, const struct cover *c, bool *moved, struct err *err)
{
	uint32_t first = q->nties, n;
	struct pricer_pair *pair;

	*moved = false;
	for (uint32_t i = 0; i < c->nsteps; i++)
		list_near(q, c, c->step[i].candidate);
	n = q->nties - first;
	pair = arena_new(q->arena, struct pricer_pair, n);
	for (uint32_t i = 0; i < n; i++)
		pair[i] = (struct pricer_pair){
		    .a = q->tie[first + i].a, .b = q->tie[first + i].b};
	if (n && !pricer_compare(q->r->pricer, pair, n, err))
		return false;
	for (uint32_t i = 0; i < n; i++)
		trace_ask(q->r->trace, "compare",
		    (uint32_t[]){pair[i].a, pair[i].b}, 2);
	q->nties = first;
	for (uint32_t i = 0; i < n; i++) {
		struct plan_tie tie = {
		    pair[i].a, pair[i].b, pair[i].low, pair[i].high, false};

		if (!pair[i].known)
			continue;
		*moved |= apply(q, &tie);
		q->tie[q->nties++] = tie; /* never ahead of what is read */
	}
	trace_learn(q->r->trace, "comparisons", q->nties - first, q->nties);
	return true;
}

/* ---- fewer boundaries ---- */

/* A step's candidates of one price, the chosen one first. */
struct choice {
	uint32_t *candidate, n;
	uint32_t *changes, *from; /* [n] fewest up to here; by which before */
};

static bool
is_tied(const struct quest *q, uint32_t chosen, uint32_t other)
{
	const struct price *p = q->r->prices->candidate;

	for (uint32_t i = 0; i < q->nties; i++) {
		uint32_t x = p[q->tie[i].a].key, y = p[q->tie[i].b].key;

		if (q->tie[i].tied
		    && ((x == p[chosen].key && y == p[other].key)
		        || (y == p[chosen].key && x == p[other].key)))
			return p[chosen].ns == p[other].ns;
	}
	return false;
}

static struct choice
choice_of(const struct quest *q, uint32_t chosen)
{
	const struct plan_request *r = q->r;
	struct choice c = {.n = 1,
	    .candidate = arena_new(q->arena, uint32_t, q->nties + 1),
	    .changes = arena_new(q->arena, uint32_t, q->nties + 1),
	    .from = arena_new(q->arena, uint32_t, q->nties + 1)};

	c.candidate[0] = chosen;
	for (uint32_t i = 0; q->nties && i < r->candidates->n; i++)
		if (i != chosen && c.n <= q->nties && may_be_used(q, i)
		    && quest_is_rival(q, chosen, i) && is_tied(q, chosen, i))
			c.candidate[c.n++] = i;
	return c;
}

static void
extend(const struct quest *q, const struct choice *before, struct choice *c)
{
	const struct candidate *all = q->r->candidates->candidate;

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
choose(const struct quest *q, const struct cover *c, uint32_t *candidate)
{
	struct choice *at = arena_new(q->arena, struct choice, c->nsteps);
	uint32_t best = 0;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		at[i] = choice_of(q, c->step[i].candidate);
		if (i)
			extend(q, &at[i - 1], &at[i]);
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

static uint32_t
target_of(const struct quest *q, uint32_t candidate)
{
	return q->problem.candidate[candidate].target;
}

/* Candidates [nsteps] of the same places and prices instead, if that costs no
 * more. */
static void
take_candidates(struct quest *q, const uint32_t *candidate)
{
	struct cover *c = &q->best.cover, other;
	bool *fresh = arena_new(q->arena, bool, c->nsteps);

	for (uint32_t i = 0; i < c->nsteps; i++)
		fresh[i] = i && c->step[i].run != c->step[i - 1].run
		    && target_of(q, c->step[i].candidate)
		        == target_of(q, c->step[i - 1].candidate);
	cover_complete(
	    &other, &q->problem, candidate, fresh, c->nsteps, q->arena);
	if (other.cost <= c->cost)
		*c = other;
}

/* TUNING: a comparison may bring another candidate onto the cheapest cover,
 * with near ties of its own. */
#define TIE_ROUNDS 4

bool
quest_decide(struct quest *q, struct err *err)
{
	const struct cover *c = &q->best.cover;
	uint32_t *candidate;
	bool moved = true, priced;

	if (!quest_search(q, err))
		return false;
	if (!q->r->pricer || !quest_may_improve(q) || q->overfull)
		return true;
	for (uint32_t round = 0; moved && round < TIE_ROUNDS; round++) {
		if (!quest_price_rivals(q, c, &priced, err)
		    || !settle(q, c, &moved, err))
			return false;
		moved |= priced;
		if (!moved)
			break;
		quest_reprice(q);
		if (!quest_search(q, err))
			return false;
		if (q->overfull)
			return true;
	}
	candidate = arena_new(q->arena, uint32_t, c->nsteps);
	choose(q, c, candidate);
	if (q->nties)
		take_candidates(q, candidate);
	return true;
}
