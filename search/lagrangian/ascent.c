#include <string.h>

#include "search/lagrangian/parts.h"

/* TUNING: a step aims at more than the best bound so far. How much more that is at
 * first hardly matters: a step that raises the bound makes it larger by one part
 * of PATIENCE, one that does not smaller, so that about half of them do. Below
 * 1/CONVERGED of the bound there is nothing left to gain: as a rule the best bound
 * there is is about that close. Steep problems need more patience, and those who
 * have it allow more rounds. */
#define PATIENCE(rounds) (1 + (rounds) / 50)
#define CONVERGED 8192

/* TUNING: multipliers that are further from the aim than this part of it are no better
 * than none. */
#define NEARLY 8

struct ascent {
	struct dual *d;
	int32_t *slope; /* [nnodes + noptions] */
	int32_t *step; /* [nnodes + noptions] smoothed, in 1/256 */
	int64_t *best; /* [nnodes + noptions] of account[] */
	struct worklist moving; /* rows whose slope or step is not 0 */
	struct worklist changed; /* rows that are not as in best[] */
};

static void
pull(struct ascent *s, uint32_t row, int32_t by)
{
	s->slope[row] += by;
	worklist_add(s->moving, row);
}

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
			pull(s, p->nnodes + x->best, -1);
		return;
	}
	for (uint32_t u = p->user_start[x->value];
	     u < p->user_start[x->value + 1]; u++) {
		if (x->ninside && dual_is_inside(s->d, x, u))
			continue;
		dual_use_pays(s->d, u, mask, x->target, &option);
		if (option != UINT32_MAX)
			pull(s, p->nnodes + option, -1);
	}
}

/* What the relaxed problem takes at a place. */
static void
take(struct ascent *s, uint32_t place)
{
	struct dual *d = s->d;
	uint32_t pays = d->p->nnodes, supplies = pays + d->noptions;

	for (uint32_t i = d->row_start[place]; i < d->row_start[place + 1];
	     i++) {
		uint32_t row = d->row[i];

		if (row < pays)
			s->slope[row]--;
		else if (row < supplies)
			pull(s, row, 1);
		else
			count_takes(s, &d->supply[row - supplies]);
	}
}

static void
find_slope(struct ascent *s)
{
	struct dual *d = s->d;
	const struct problem *p = d->p;

	memset(s->slope, 0, (p->nnodes + d->noptions) * sizeof *s->slope);
	for (uint32_t n = 0; n < p->nnodes; n++)
		s->slope[n] = 1;
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (d->chosen[n] != UINT32_MAX)
			take(s, d->chosen[n]);
	for (uint32_t v = 0; v < p->nvalues; v++)
		if (p->value[v].producer == NO_NODE)
			count_takes(s, &d->supply[d->supply_start[v]]);
	for (uint32_t n = 0; n < p->nnodes; n++)
		s->moving.has[n] |= s->slope[n] != 0;
}

/* a * b / c, where b is at most 2^16 and c below 2^47. */
static int64_t
portion(int64_t a, int64_t b, int64_t c)
{
	return a / c * b + a % c * b / c;
}

/* The slope is smoothed over steps; its squared length. */
static int64_t
smooth(struct ascent *s)
{
	struct worklist m = s->moving;
	int64_t norm = 0;

	for (uint32_t i = worklist_from(m, 0); i < m.n;
	     i = worklist_from(m, i + 1)) {
		s->step[i] = s->slope[i] * 256 + s->step[i] * 7 / 8;
		norm += (int64_t)s->step[i] * s->step[i];
		if (s->step[i] == 0)
			worklist_remove(m, i);
	}
	return norm;
}

static void
change(struct ascent *s, uint32_t row, int64_t by)
{
	struct dual *d = s->d;

	if (row >= d->p->nnodes && d->account[row] + by < 0)
		by = -d->account[row];
	if (by == 0)
		return;
	dual_change(d, row, by);
	worklist_add(s->changed, row);
}

/* Move along the smoothed slope: what is missing, divided by the slope's squared
 * length (Polyak's step). */
static bool
move(struct ascent *s, int64_t missing)
{
	int64_t norm = smooth(s), length;

	/* Steps count in 1/256, their squares in 1/65536. */
	if (norm == 0 || norm >= INT64_C(1) << 47)
		return false;
	length = portion(missing, 65536, norm);
	if (length == 0 || length > INT64_C(1) << 36)
		return false;
	for (uint32_t i = worklist_from(s->moving, 0); i < s->moving.n;
	     i = worklist_from(s->moving, i + 1)) {
		int64_t by = length * s->step[i] / 256;

		change(s, i, i < s->d->p->nnodes ? -by : by);
	}
	return true;
}

/* These prices are the best so far. */
static void
remember(struct ascent *s)
{
	struct worklist w = s->changed;

	for (uint32_t i = worklist_from(w, 0); i < w.n;
	     i = worklist_from(w, i + 1)) {
		worklist_remove(w, i);
		s->best[i] = s->d->account[i];
	}
}

/* Back to the best prices seen, with the bound they give for every prefix of
 * the nodes. */
static void
recall(struct ascent *s)
{
	struct dual *d = s->d;

	struct worklist w = s->changed;

	for (uint32_t i = worklist_from(w, 0); i < w.n;
	     i = worklist_from(w, i + 1))
		dual_change(d, i, s->best[i] - d->account[i]);
	d->bound = dual_evaluate(d);
	dual_sum_uses(d);
	for (uint32_t n = 0; n < d->p->nnodes; n++)
		d->rest[n + 1] = d->rest[n] - d->account[n] + d->worth[n];
	for (uint32_t k = 0; k < d->p->high_start[d->p->nnodes]; k++)
		d->excess[d->p->high[k]] =
		    (cost_ns)(d->reduced[k] - d->worth[d->high_node[k]])
		    / DUAL_SCALE;
}

/* Each node costs what its cheapest candidate has to pay for it. */
static void
first_prices(struct ascent *s)
{
	const struct problem *p = s->d->p;
	int64_t *least = s->best;

	for (uint32_t n = 0; n < p->nnodes; n++)
		least[n] = INT64_MAX;
	for (uint32_t k = 0; k < p->low_start[p->nnodes]; k++) {
		const struct problem_candidate *c = &p->candidate[p->low[k]];
		int64_t share = dual_scaled(c->cost) / c->nnodes;

		for (uint32_t i = 0; i < c->nnodes; i++)
			if (share < least[c->node[i]])
				least[c->node[i]] = share;
	}
	for (uint32_t n = 0; n < p->nnodes; n++) {
		if (least[n] == INT64_MAX)
			least[n] = 0; /* nothing covers it: no cover */
		change(s, n, -least[n]);
	}
}

/* A cover that costs more than this counts as so much: it is only what the bound
 * strives for. */
static int64_t
aim(cost_ns upper)
{
	const cost_ns most = UINT64_C(1) << 56;

	return dual_scaled(upper < most ? upper : most);
}

void
dual_begin(struct dual *d, const int64_t *account, cost_ns upper)
{
	const uint32_t total = d->p->nnodes + d->noptions;
	const int64_t goal = aim(upper);

	for (uint32_t i = 0; i < total; i++)
		if (account[i] != d->account[i])
			dual_change(d, i, account[i] - d->account[i]);
	d->bound = dual_evaluate(d);
	if (d->bound >= goal - goal / NEARLY)
		return;
	for (uint32_t i = 0; i < total; i++)
		if (d->account[i] != 0)
			dual_change(d, i, -d->account[i]);
	d->bound = INT64_MIN;
}

void
dual_improve(
    struct dual *d, cost_ns upper, uint32_t rounds, const struct budget *budget)
{
	uint32_t total = d->p->nnodes + d->noptions;
	struct ascent s = {.d = d,
	    .slope = arena_new(d->arena, int32_t, total),
	    .step = arena_new(d->arena, int32_t, total),
	    .best = arena_new(d->arena, int64_t, total),
	    .moving = worklist_new(d->arena, total),
	    .changed = worklist_new(d->arena, total)};
	const int64_t goal = aim(upper);
	int64_t reach = 0, patience = PATIENCE(rounds);

	if (d->bound == INT64_MIN)
		first_prices(&s);
	else
		memcpy(s.best, d->account, total * sizeof *s.best);
	for (uint32_t i = 0; i <= rounds; i++) {
		int64_t bound = dual_evaluate(d);

		if (i == 0)
			reach = goal - bound;
		else if (bound > d->bound)
			reach += reach / patience;
		else
			reach -= reach / patience;
		if (bound > d->bound) {
			d->bound = bound;
			remember(&s);
		}
		if (bound >= goal || reach < d->bound / CONVERGED
		    || budget_is_over(budget))
			break;
		find_slope(&s);
		if (!move(&s, d->bound + reach - bound))
			break;
	}
	recall(&s);
}
