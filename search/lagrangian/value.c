#include "search/lagrangian/model.h"

#include "search/lagrangian/parts.h"

bool
dual_is_inside(const struct dual *d, const struct dual_supply *s, uint32_t use)
{
	for (uint32_t i = 0; i < s->ninside; i++)
		if (d->inside[s->inside + i] == use)
			return true;
	return false;
}

int64_t
dual_use_pays(const struct dual *d, uint32_t use, uint32_t mask, uint32_t from,
    uint32_t *option)
{
	const struct dual_use *u = &d->use[use];
	int64_t best = 0;

	*option = UINT32_MAX;
	for (uint32_t o = u->first; o < u->first + u->noptions; o++) {
		int64_t pay;

		if (!(mask >> d->option[o].format & 1))
			continue;
		pay = d->pay[o] - dual_leaving(d, u, from, &d->option[o]);
		if (pay > best) {
			best = pay;
			*option = o;
		}
	}
	return best;
}

/* What somebody pays for a format at the prices there are. */
struct offer {
	uint32_t format; /* a mask of one */
	int64_t pay;
};

/* The formats a use pays for, and the most; number written to offer[]. */
static uint32_t
offers_of(const struct dual *d, const struct dual_use *u, uint32_t from,
    struct offer *offer)
{
	uint32_t n = 0;

	for (uint32_t o = u->first; o < u->first + u->noptions; o++) {
		const struct dual_option *x = &d->option[o];
		int64_t pay = d->pay[o] - dual_leaving(d, u, from, x);
		uint32_t format = UINT32_C(1) << x->format, i = 0;

		if (pay <= 0)
			continue;
		while (i < n && offer[i].format != format)
			i++;
		if (i == n)
			offer[n++] = (struct offer){format, pay};
		else if (pay > offer[i].pay)
			offer[i].pay = pay;
	}
	return n;
}

static int64_t
best_offer(const struct offer *offer, uint32_t n, uint32_t mask)
{
	int64_t best = 0;

	for (uint32_t i = 0; i < n; i++)
		if (offer[i].format & mask && offer[i].pay > best)
			best = offer[i].pay;
	return best;
}

/* The only use takes the best way, or none. */
static int64_t
gain_by_way(struct dual *d, struct dual_supply *s)
{
	int64_t best = s->base;

	s->best = UINT32_MAX;
	for (uint32_t i = s->first_way; i < s->first_way + s->nways; i++) {
		int64_t gain = d->way[i].cost - d->pay[d->way[i].option];

		if (gain < best) {
			best = gain;
			s->best = d->way[i].option;
		}
	}
	return best;
}

/* Use by use, for all subsets at once: few options bring anything. */
static int64_t
gain_by_subset(struct dual *d, struct dual_supply *s)
{
	const struct problem *p = d->p;
	struct offer offer[FORMATS_MAX];
	int64_t gain[DUAL_SUBSETS_MAX], all = 0, best;

	for (uint32_t i = 0; i < s->nsubsets; i++)
		gain[i] = d->subset[s->first + i].cost;
	for (uint32_t u = p->user_start[s->value];
	     u < p->user_start[s->value + 1]; u++) {
		uint32_t n;

		if (s->ninside > 0 && dual_is_inside(d, s, u))
			continue;
		n = offers_of(d, &d->use[u], s->target, offer);
		all -= best_offer(offer, n, UINT32_MAX);
		for (uint32_t i = 0; n > 0 && i < s->nsubsets; i++)
			gain[i] -=
			    best_offer(offer, n, d->subset[s->first + i].mask);
	}
	s->best = UINT32_MAX;
	best = s->nsubsets == 0 ? all : INT64_MAX;
	for (uint32_t i = 0; i < s->nsubsets; i++)
		if (gain[i] < best) {
			best = gain[i];
			s->best = s->first + i;
		}
	return best;
}

void
dual_change(struct dual *d, uint32_t row, int64_t by)
{
	const struct problem *p = d->p;
	uint32_t value;

	d->account[row] += by;
	for (uint32_t i = d->column_start[row]; i < d->column_start[row + 1];
	     i++) {
		d->reduced[d->column[i]] += by;
		worklist_add(d->stale_node, d->high_node[d->column[i]]);
	}
	if (row < p->nnodes) {
		d->level -= by;
	} else if (row < p->nnodes + d->noptions) {
		value = d->option[row - p->nnodes].value;
		for (uint32_t s = d->supply_start[value];
		     s < d->supply_start[value + 1]; s++)
			worklist_add(d->stale_supply, s);
	} else {
		value = d->supply[row - p->nnodes - d->noptions].value;
		if (p->value[value].producer == NO_NODE)
			d->level += by;
	}
}

static void
refresh_supply(struct dual *d, uint32_t s)
{
	struct dual_supply *x = &d->supply[s];
	int64_t gain =
	    x->nways == NO_LIMIT ? gain_by_subset(d, x) : gain_by_way(d, x);

	if (gain != d->gain[s])
		dual_change(
		    d, d->p->nnodes + d->noptions + s, gain - d->gain[s]);
}

static void
refresh_node(struct dual *d, uint32_t n)
{
	const struct problem *p = d->p;
	uint32_t chosen = UINT32_MAX;
	int64_t worth = 0;

	for (uint32_t k = p->high_start[n]; k < p->high_start[n + 1]; k++)
		if (d->reduced[k] < worth) {
			worth = d->reduced[k];
			chosen = k;
		}
	d->level += worth - d->worth[n];
	d->worth[n] = worth;
	d->chosen[n] = chosen;
}

int64_t
dual_evaluate(struct dual *d)
{
	struct worklist w = d->stale_supply;

	for (uint32_t s = worklist_from(w, 0); s < w.n;
	     s = worklist_from(w, s + 1)) {
		worklist_remove(w, s);
		refresh_supply(d, s);
	}
	w = d->stale_node;
	for (uint32_t n = worklist_from(w, 0); n < w.n;
	     n = worklist_from(w, n + 1)) {
		worklist_remove(w, n);
		refresh_node(d, n);
	}
	return d->level;
}

cost_ns
dual_bound(const struct dual *d)
{
	return d->bound <= 0
	    ? 0
	    : (cost_ns)(d->bound + DUAL_SCALE - 1) / DUAL_SCALE;
}

int64_t
dual_fed(const struct dual *d, uint32_t value)
{
	return d->gain[d->supply_start[value]];
}
