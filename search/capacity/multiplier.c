#include "search/capacity/multiplier.h"

#include <assert.h>
#include <string.h>

#include "ir/base/clock.h"
#include "search/problem_index.h"

/* A capacity is at most 2^30 units and a rate at most 2^33, so their product
 * fits; with them a multiplier is as fine as 2^30 / 2^20 ns on the whole capacity. */
#define UNITS_MAX (UINT64_C(1) << 30)
#define RATE_MAX (UINT64_C(1) << 33)
#define RATE_BITS 20
/* TUNING: multipliers tried. The bound is concave in it and made of pieces; each
 * try but the last finds one, and a dozen has been enough. */
#define TRIES_MAX 30

/* The optimum at one multiplier. */
struct multiplier_trial {
	uint64_t rate, used;
	cost_ns cost; /* of the cover, without multipliers */
	struct cover cover;
};

struct multiplier_search {
	const struct problem *p;
	const struct budget *budget;
	struct arena *arena;
	struct capacity_multiplier *best_multiplier;
	struct search_result *best;
};

cost_ns
multiplier_cost(const struct capacity_multiplier *t, uint64_t resource)
{
	assert(t->rate <= RATE_MAX && resource >> t->shift <= UNITS_MAX);
	return (resource >> t->shift) * t->rate >> RATE_BITS;
}

cost_ns
multiplier_left(const struct capacity_multiplier *t, uint64_t used)
{
	uint64_t units = ((t->capacity - used) >> t->shift) + 1;

	return (units * t->rate >> RATE_BITS) + 1;
}

void
multiplier_apply(const struct capacity_multiplier *t, struct problem *out,
    const struct problem *p, struct arena *a)
{
	problem_derive(out, p, EDIT_CANDIDATES | EDIT_TARGETS, a);
	for (uint32_t i = 0; i < p->ntargets; i++)
		out->target[i].capacity = UINT64_MAX;
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		struct problem_candidate *x = &out->candidate[c];

		if (candidate_usable(x)
		    && target_owner(p, x->target) == t->target)
			x->cost =
			    cost_add(x->cost, multiplier_cost(t, x->resource));
	}
}

static uint64_t
used_by(const struct problem *p, const struct cover *c, uint32_t target)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		const struct problem_candidate *x =
		    &p->candidate[c->step[i].candidate];

		if (target_owner(p, x->target) == target)
			used = cost_add(used, x->resource);
	}
	return used;
}

uint32_t
capacity_excess(const struct problem *p, const struct cover *c)
{
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (used_by(p, c, t) > p->target[t].capacity)
			return t;
	return NO_LIMIT;
}

/* What is left for one of the searches. Each is only a step: a beam is enough
 * where it gets large. */
static struct search_options
rest_of(const struct budget *b)
{
	return (struct search_options){.deadline_ns = b->soft,
	    .clock = b->clock,
	    .memory_budget = b->bytes ? b->bytes / 8 + 1 : 0,
	    .stop = b->stop};
}

/* Solve at a rate; keep its bound when that is the best, and its cover when it
 * fits and is. False: there is no cover, or no time. */
static bool
try_rate(struct multiplier_search *x, struct capacity_multiplier multiplier,
    struct multiplier_trial *out)
{
	const struct problem *p = x->p;
	struct search_options o = rest_of(x->budget);
	struct err err = {.kind = ERR_NONE};
	struct search_result r;
	struct problem priced;
	cost_ns all;

	if (budget_is_short(x->budget, 0))
		return false;
	multiplier_apply(&multiplier, &priced, p, x->arena);
	if (!search_exact(&r, &priced, &o, x->arena, &err))
		return false;
	all = multiplier.rate ? multiplier_left(&multiplier, 0) : 0;
	multiplier.optimum = r.lower_bound;
	if (r.lower_bound != COST_NEVER && r.lower_bound > all
	    && r.lower_bound - all > x->best->lower_bound) {
		x->best->lower_bound = r.lower_bound - all;
		*x->best_multiplier = multiplier;
	}
	x->best->labels += r.labels;
	if (!r.found)
		return false;
	out->rate = multiplier.rate;
	out->used = used_by(p, &r.cover, multiplier.target);
	out->cost = r.cover.cost;
	for (uint32_t i = 0; i < r.cover.nsteps; i++) {
		uint32_t c = r.cover.step[i].candidate;

		out->cost -= priced.candidate[c].cost - p->candidate[c].cost;
	}
	r.cover.cost = out->cost;
	out->cover = r.cover;
	if (capacity_excess(p, &r.cover) == NO_LIMIT
	    && (!x->best->found || out->cost < x->best->cover.cost)) {
		x->best->found = true;
		x->best->cover = r.cover;
	}
	return true;
}

/* Where the lines of two covers, cost + rate * what is used, meet. */
static uint64_t
rate_between(const struct capacity_multiplier *t,
    const struct multiplier_trial *low, const struct multiplier_trial *high)
{
	double units = (double)(low->used - high->used)
	    / (double)(UINT64_C(1) << t->shift);
	double rate = ((double)high->cost - (double)low->cost) / units
	    * (double)(UINT64_C(1) << RATE_BITS);

	if (rate < 1)
		return 1;
	return rate > (double)RATE_MAX ? RATE_MAX : (uint64_t)rate;
}

/* A rate at which the capacity is kept: doubled until it is. */
static bool
find_high(struct multiplier_search *x, struct capacity_multiplier multiplier,
    const struct multiplier_trial *low, struct multiplier_trial *high)
{
	multiplier.rate = low->cost
	        / ((multiplier.capacity >> multiplier.shift) + 1)
	        * (UINT64_C(1) << RATE_BITS) / 16
	    + 1024;
	for (; multiplier.rate <= RATE_MAX; multiplier.rate *= 4) {
		if (!try_rate(x, multiplier, high))
			return false;
		if (high->used <= multiplier.capacity)
			return true;
	}
	return false;
}

static void
find_rate(struct multiplier_search *x, struct capacity_multiplier multiplier,
    struct multiplier_trial low)
{
	struct multiplier_trial high, next;

	if (!find_high(x, multiplier, &low, &high))
		return;
	for (int i = 0; i < TRIES_MAX; i++) {
		multiplier.rate = rate_between(&multiplier, &low, &high);
		if (multiplier.rate <= low.rate || multiplier.rate >= high.rate
		    || !try_rate(x, multiplier, &next))
			return;
		if (next.used > multiplier.capacity) {
			if (next.used == low.used && next.cost == low.cost)
				return;
			low = next;
		} else {
			if (next.used == high.used && next.cost == high.cost)
				return;
			high = next;
		}
	}
}

bool
multiplier_search(struct capacity_multiplier *t, struct search_result *best,
    const struct problem *p, const struct budget *budget, struct arena *a)
{
	struct multiplier_search x = {.p = p,
	    .budget = budget,
	    .arena = a,
	    .best_multiplier = t,
	    .best = best};
	struct capacity_multiplier multiplier = {.target = NO_LIMIT};
	struct multiplier_trial free;

	*t = multiplier;
	if (!try_rate(&x, multiplier, &free))
		return false;
	multiplier.target = capacity_excess(p, &free.cover);
	if (multiplier.target == NO_LIMIT)
		return false; /* that was the optimum */
	assert(free.cost != COST_NEVER);
	free.used = used_by(p, &free.cover, multiplier.target);
	multiplier.capacity = p->target[multiplier.target].capacity;
	while (multiplier.capacity >> multiplier.shift >= UNITS_MAX)
		multiplier.shift++;
	find_rate(&x, multiplier, free);
	return t->rate > 0;
}
