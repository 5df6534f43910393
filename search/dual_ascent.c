#include <string.h>

#include "search/dual_parts.h"

struct ascent {
	struct dual *d;
	uint32_t *chosen; /* [nnodes] */
	int64_t *worth; /* [nnodes] */
	int32_t *slope; /* [nnodes + noptions] */
	int32_t *step; /* [nnodes + noptions] smoothed, in 1/256 */
	int64_t *best; /* [nnodes + noptions] of account[] */
};

/* The uses of a supply take their options back. */
static void
count_takes(struct ascent *s, const struct dual_supply *x)
{
	const struct problem *p = s->d->p;
	uint32_t mask = x->nways != NO_LIMIT || x->best == UINT32_MAX
	    ? UINT32_MAX
	    : s->d->subset[x->best].mask;
	uint32_t option;

	if (x->nways != NO_LIMIT) {
		if (x->best != UINT32_MAX)
			s->slope[p->nnodes + x->best]--;
		return;
	}
	for (uint32_t u = p->user_start[x->value];
	     u < p->user_start[x->value + 1]; u++) {
		if (x->ninside && dual_is_inside(s->d, x, u))
			continue;
		dual_use_pays(s->d, u, mask, x->target, &option);
		if (option != UINT32_MAX)
			s->slope[p->nnodes + option]--;
	}
}

static void
find_slope(struct ascent *s)
{
	struct dual *d = s->d;
	const struct problem *p = d->p;

	for (uint32_t n = 0; n < p->nnodes; n++)
		s->slope[n] = 1;
	memset(&s->slope[p->nnodes], 0, d->noptions * sizeof *s->slope);
	for (uint32_t n = 0; n < p->nnodes; n++) {
		uint32_t c = s->chosen[n];

		if (c == UINT32_MAX)
			continue;
		for (uint32_t i = 0; i < p->candidate[c].nnodes; i++)
			s->slope[p->candidate[c].node[i]]--;
		for (uint32_t i = d->pays_start[c]; i < d->pays_start[c + 1];
		     i++)
			s->slope[p->nnodes + d->pays[i]]++;
		for (uint32_t i = d->makes_start[c]; i < d->makes_start[c + 1];
		     i++)
			count_takes(s, &d->supply[d->makes[i]]);
	}
	for (uint32_t v = 0; v < p->nvalues; v++)
		if (p->value[v].producer == NO_NODE)
			count_takes(s, &d->supply[d->supply_start[v]]);
}

/* a * b / c, where b is below 2^16 and c below 2^47. */
static int64_t
portion(int64_t a, int64_t b, int64_t c)
{
	return a / c * b + a % c * b / c;
}

/* Move along the smoothed slope: share/1024 of what is missing to `upper`,
 * divided by the slope's squared length (Polyak's step). */
static bool
move(struct ascent *s, int64_t missing, uint32_t share)
{
	struct dual *d = s->d;
	uint32_t n = d->p->nnodes, total = n + d->noptions;
	int64_t norm = 0, length;

	for (uint32_t i = 0; i < total; i++) {
		s->step[i] = s->slope[i] * 256 + s->step[i] * 179 / 256;
		norm += (int64_t)s->step[i] * s->step[i];
	}
	/* Steps count in 1/256, their squares in 1/65536. */
	if (norm == 0 || norm >= INT64_C(1) << 47)
		return false;
	length = portion(missing, (int64_t)share * 64, norm);
	if (length == 0 || length > INT64_C(1) << 36)
		return false;
	for (uint32_t i = 0; i < n; i++)
		d->account[i] -= length * s->step[i] / 256;
	for (uint32_t i = 0; i < d->noptions; i++) {
		d->pay[i] += length * s->step[n + i] / 256;
		if (d->pay[i] < 0)
			d->pay[i] = 0;
	}
	return true;
}

/* Back to the best prices seen, with the bound they give for every prefix of
 * the nodes. */
static void
recall(struct ascent *s)
{
	struct dual *d = s->d;
	size_t total = (size_t)d->p->nnodes + d->noptions;

	memcpy(d->account, s->best, total * sizeof *d->account);
	d->bound = dual_evaluate(d, s->chosen, s->worth);
	dual_sum_uses(d);
	for (uint32_t n = 0; n < d->p->nnodes; n++)
		d->rest[n + 1] = d->rest[n] - d->account[n] + s->worth[n];
	for (uint32_t c = 0; c < d->p->ncandidates; c++) {
		const struct problem_candidate *x = &d->p->candidate[c];

		if (candidate_usable(x))
			d->excess[c] = (cost_ns)(dual_reduced_cost(d, c)
			                   - s->worth[x->node[x->nnodes - 1]])
			    / DUAL_SCALE;
	}
}

static void
first_prices(struct dual *d)
{
	const struct problem *p = d->p;

	for (uint32_t n = 0; n < p->nnodes; n++)
		d->account[n] = INT64_MIN;
	for (uint32_t k = 0; k < p->low_start[p->nnodes]; k++) {
		const struct problem_candidate *c = &p->candidate[p->low[k]];
		int64_t share = dual_scaled(c->cost) / c->nnodes;

		for (uint32_t i = 0; i < c->nnodes; i++)
			if (-share > d->account[c->node[i]])
				d->account[c->node[i]] = -share;
	}
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (d->account[n] == INT64_MIN)
			d->account[n] = 0; /* nothing covers it: no cover */
}

void
dual_improve(
    struct dual *d, cost_ns upper, uint32_t rounds, const struct budget *budget)
{
	const struct problem *p = d->p;
	size_t total = (size_t)p->nnodes + d->noptions;
	struct ascent s = {.d = d,
	    .chosen = arena_new(d->arena, uint32_t, p->nnodes),
	    .worth = arena_new(d->arena, int64_t, p->nnodes),
	    .slope = arena_new(d->arena, int32_t, total),
	    .step = arena_new(d->arena, int32_t, total),
	    .best = arena_new(d->arena, int64_t, total)};
	uint32_t share = 1024, stalled = 0; /* share: of 1024 */

	if (d->bound == INT64_MIN)
		first_prices(d);
	for (uint32_t i = 0; i <= rounds; i++) {
		int64_t bound = dual_evaluate(d, s.chosen, s.worth);

		if (bound > d->bound) {
			d->bound = bound;
			memcpy(s.best, d->account, total * sizeof *s.best);
			stalled = 0;
		} else if (++stalled == 20) {
			share = share * 7 / 10;
			stalled = 0;
		}
		if (bound >= dual_scaled(upper) || share == 0
		    || budget_is_over(budget))
			break;
		find_slope(&s);
		if (!move(&s, dual_scaled(upper) - bound, share))
			break;
	}
	recall(&s);
}
