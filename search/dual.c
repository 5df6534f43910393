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
dual_use_pays(const struct dual *d, uint32_t use, uint32_t mask,
    bool from_tracked, uint32_t *option)
{
	const struct dual_use *u = &d->use[use];
	int64_t best = 0;

	*option = UINT32_MAX;
	for (uint32_t o = u->first; o < u->first + u->noptions; o++) {
		int64_t pay = d->pay[o];

		if (!(mask >> d->option[o].format & 1))
			continue;
		if (u->on_path && from_tracked && !d->option[o].tracked)
			pay -= d->launch;
		if (pay > best) {
			best = pay;
			*option = o;
		}
	}
	return best;
}

/* An option somebody pays for at the prices there are. */
struct offer {
	uint32_t format; /* a mask of one */
	int64_t pay;
};

/* The options of a use that bring anything; number written to offer[]. */
static uint32_t
offers_of(const struct dual *d, const struct dual_use *u, bool from_tracked,
    struct offer *offer)
{
	int64_t leaving = u->on_path && from_tracked ? d->launch : 0;
	uint32_t n = 0;

	for (uint32_t o = u->first; o < u->first + u->noptions; o++) {
		const struct dual_option *x = &d->option[o];
		int64_t pay = d->pay[o] - (x->tracked ? 0 : leaving);

		if (pay > 0)
			offer[n++] =
			    (struct offer){UINT32_C(1) << x->format, pay};
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

/* Use by use, for all subsets at once: few options bring anything. */
static void
update_gain(struct dual *d, struct dual_supply *s)
{
	const struct problem *p = d->p;
	struct offer offer[2 * FORMATS_MAX];
	int64_t gain[DUAL_SUBSETS_MAX], all = 0;

	for (uint32_t i = 0; i < s->nsubsets; i++)
		gain[i] = d->subset[s->first + i].cost;
	for (uint32_t u = p->user_start[s->value];
	     u < p->user_start[s->value + 1]; u++) {
		uint32_t n;

		if (s->ninside > 0 && dual_is_inside(d, s, u))
			continue;
		n = offers_of(d, &d->use[u], s->tracked, offer);
		all -= best_offer(offer, n, UINT32_MAX);
		for (uint32_t i = 0; n > 0 && i < s->nsubsets; i++)
			gain[i] -=
			    best_offer(offer, n, d->subset[s->first + i].mask);
	}
	s->best = UINT32_MAX;
	s->gain = s->nsubsets == 0 ? all : INT64_MAX;
	for (uint32_t i = 0; i < s->nsubsets; i++)
		if (gain[i] < s->gain) {
			s->gain = gain[i];
			s->best = s->first + i;
		}
}

int64_t
dual_reduced_cost(const struct dual *d, uint32_t c)
{
	const struct problem_candidate *cand = &d->p->candidate[c];
	int64_t cost = dual_scaled(cand->cost);

	for (uint32_t i = d->pays_start[c]; i < d->pays_start[c + 1]; i++)
		cost += d->pay[d->pays[i]];
	for (uint32_t i = d->makes_start[c]; i < d->makes_start[c + 1]; i++)
		cost += d->supply[d->makes[i]].gain;
	for (uint32_t i = 0; i < cand->nnodes; i++) {
		cost -= d->price[cand->node[i]];
		if (d->ends_path[cand->node[i]] && cand->target == d->tracked)
			cost += d->launch;
	}
	return cost;
}

int64_t
dual_evaluate(struct dual *d, uint32_t *chosen, int64_t *worth)
{
	const struct problem *p = d->p;
	int64_t bound = 0;

	for (uint32_t s = 0; s < d->nsupplies; s++) {
		update_gain(d, &d->supply[s]);
		if (p->value[d->supply[s].value].producer == NO_NODE)
			bound += d->supply[s].gain;
	}
	for (uint32_t n = 0; n < p->nnodes; n++) {
		chosen[n] = UINT32_MAX;
		worth[n] = 0;
		bound += d->price[n];
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

struct asked {
	bool (*covered)(const void *context, uint32_t node);
	const void *context;
};

static int64_t
left_uses_pay(const struct dual *d, const struct dual_supply *s, uint32_t mask,
    const struct asked *by)
{
	const struct problem *p = d->p;
	int64_t sum = 0;
	uint32_t option;

	for (uint32_t u = p->user_start[s->value];
	     u < p->user_start[s->value + 1]; u++)
		if (!by->covered(by->context, p->user[u])
		    && (s->ninside == 0 || !dual_is_inside(d, s, u)))
			sum += dual_use_pays(d, u, mask, s->tracked, &option);
	return sum;
}

static int64_t
supply_adds(const struct dual *d, const struct dual_supply *s, uint32_t need,
    const struct asked *by)
{
	uint32_t class = d->p->value[s->value].class;
	int64_t best = INT64_MAX;

	if (s->nsubsets == 0)
		return -left_uses_pay(d, s, UINT32_MAX, by);
	for (uint32_t i = s->first; i < s->first + s->nsubsets; i++) {
		uint32_t mask = d->subset[i].mask | need;
		cost_ns cost = convert_cost(d->memo, class, s->have, mask);
		int64_t adds;

		if (cost == COST_NEVER)
			continue;
		adds = dual_scaled(cost) - left_uses_pay(d, s, mask, by);
		if (adds < best)
			best = adds;
	}
	return best;
}

int64_t
dual_value(struct dual *d, const struct dual_live *live,
    bool (*covered)(const void *context, uint32_t node), const void *context)
{
	struct asked by = {covered, context};
	int64_t best = INT64_MAX;

	for (uint32_t i = d->supply_start[live->value];
	     i < d->supply_start[live->value + 1]; i++) {
		const struct dual_supply *s = &d->supply[i];
		int64_t adds;

		if (live->have && s->have != live->have)
			continue;
		adds = supply_adds(d, s, live->need, &by);
		if (adds == INT64_MAX)
			continue;
		if (!live->have)
			adds += (s->tracked && live->leaves ? d->launch : 0)
			    - s->gain;
		if (adds < best)
			best = adds;
	}
	return best;
}

int64_t
dual_fed(const struct dual *d, uint32_t value)
{
	return d->supply[d->supply_start[value]].gain;
}
