#include "search/dual.h"

#include "search/dual_parts.h"

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

int64_t
dual_reduced_cost(const struct dual *d, uint32_t c)
{
	int64_t cost = d->own[c];

	for (uint32_t i = d->row_start[c]; i < d->row_start[c + 1]; i++)
		cost += d->account[d->row[i]];
	return cost;
}

int64_t
dual_evaluate(struct dual *d, uint32_t *chosen, int64_t *worth)
{
	const struct problem *p = d->p;
	int64_t bound = 0;

	for (uint32_t s = 0; s < d->nsupplies; s++) {
		struct dual_supply *x = &d->supply[s];

		d->gain[s] = x->nways == NO_LIMIT ? gain_by_subset(d, x)
		                                  : gain_by_way(d, x);
		if (p->value[x->value].producer == NO_NODE)
			bound += d->gain[s];
	}
	for (uint32_t n = 0; n < p->nnodes; n++) {
		chosen[n] = UINT32_MAX;
		worth[n] = 0;
		bound -= d->account[n];
		for (uint32_t k = p->high_start[n]; k < p->high_start[n + 1];
		     k++) {
			int64_t r = dual_reduced_cost(d, p->high[k]);

			if (r < worth[n]) {
				worth[n] = r;
				chosen[n] = p->high[k];
			}
		}
		bound += worth[n];
	}
	return bound;
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
