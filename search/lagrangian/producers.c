#include <string.h>

#include "search/lagrangian/parts.h"
#include "search/mask.h"

static void
add_subset(struct dual *d, struct dual_supply *s, uint32_t mask)
{
	cost_ns cost =
	    convert_cost(d->memo, d->p->value[s->value].class, s->have, mask);

	if (cost == COST_NEVER || cost > DUAL_COST_MAX)
		return;
	d->subset = arena_grow(d->arena, d->subset, &d->subset_cap,
	    d->nsubsets + 1, sizeof *d->subset);
	d->subset[d->nsubsets++] =
	    (struct dual_subset){mask | s->have, dual_scaled(cost)};
	s->nsubsets++;
}

/* All sets of formats its outside uses could make it pay for: no more formats
 * than uses. */
static void
make_subsets(struct dual *d, struct dual_supply *s)
{
	const struct problem *p = d->p;
	uint32_t asked = 0, nuses = 0, required = p->value[s->value].required;

	for (uint32_t u = p->user_start[s->value];
	     u < p->user_start[s->value + 1]; u++) {
		if (dual_is_inside(d, s, u))
			continue;
		nuses++;
		for (uint32_t o = 0; o < d->use[u].noptions; o++)
			asked |= UINT32_C(1)
			    << d->option[d->use[u].first + o].format;
	}
	s->given = s->have | required;
	asked &= ~s->given;
	s->asked = asked;
	s->all_subsets = mask_count(asked) <= nuses;
	s->first = d->nsubsets;
	/* Readers that are apart ask for formats of their own: then there may be
	 * more than trees are known for. */
	if (mask_count(asked) > 31
	    || UINT32_C(1) << mask_count(asked) > DUAL_SUBSETS_MAX
	    || mask_count(asked | (required & ~s->have)) > DEMANDS_MAX)
		return;
	for (uint32_t sub = asked;; sub = (sub - 1) & asked) {
		if (mask_count(sub) <= nuses)
			add_subset(d, s, sub | required);
		if (sub == 0)
			break;
	}
}

/* The supply that is like this one, made when it is new; the uses that would be
 * inside are the last ones of d->inside. */
static uint32_t
file_supply(struct dual *d, struct dual_supply s, const uint32_t *others,
    uint32_t *nothers)
{
	for (uint32_t i = 0; i < *nothers; i++) {
		const struct dual_supply *x = &d->supply[others[i]];

		if (x->have == s.have && x->target == s.target
		    && x->ninside == s.ninside
		    && memcmp(&d->inside[x->inside], &d->inside[s.inside],
		           s.ninside * sizeof *d->inside)
		        == 0) {
			d->ninside = s.inside;
			return others[i];
		}
	}
	d->supply = arena_grow(d->arena, d->supply, &d->supply_cap,
	    d->nsupplies + 1, sizeof *d->supply);
	make_subsets(d, &s);
	d->supply[d->nsupplies] = s;
	return d->nsupplies++;
}

static void
add_inside(struct dual *d, uint32_t use)
{
	d->inside = arena_grow(d->arena, d->inside, &d->inside_cap,
	    d->ninside + 1, sizeof *d->inside);
	d->inside[d->ninside++] = use;
}

/* Supplies of one value: what it is fed in, or each distinct way candidates
 * that hold its producer make it. made[] lists (candidate, output) of it. */
static void
supply_value(struct dual *d, uint32_t value, const uint32_t *makers,
    const uint32_t *slot, uint32_t nmakers)
{
	const struct problem *p = d->p;
	uint32_t *mine = arena_new(d->arena, uint32_t, nmakers + 1), n = 0;
	struct dual_supply s = {
	    .value = value, .target = NO_LIMIT, .inside = d->ninside};

	if (p->value[value].producer == NO_NODE) {
		s.have = p->value[value].initial;
		file_supply(d, s, mine, &n);
		return;
	}
	for (uint32_t i = 0; i < nmakers; i++) {
		const struct problem_candidate *c = &p->candidate[makers[i]];
		uint32_t before = d->nsupplies, at;

		s.inside = d->ninside;
		s.have = 0;
		for (uint32_t k = 0; k < c->noutputs; k++)
			if (c->output[k].value == value)
				s.have = UINT32_C(1) << c->output[k].format;
		s.target =
		    d->path_use[value] != UINT32_MAX && d->launch[c->target] > 0
		    ? c->target
		    : NO_LIMIT;
		for (uint32_t u = p->user_start[value];
		     u < p->user_start[value + 1]; u++)
			if (candidate_holds(c, p->user[u]))
				add_inside(d, u);
		s.ninside = d->ninside - s.inside;
		at = file_supply(d, s, mine, &n);
		if (at == before)
			mine[n++] = at;
		d->makes[slot[i]] = at;
	}
}

/* The ways of a supply with one use outside, or NO_LIMIT. */
static void
make_ways(struct dual *d, struct dual_supply *s)
{
	const struct problem *p = d->p;
	const struct dual_use *only = NULL;

	s->nways = NO_LIMIT;
	for (uint32_t u = p->user_start[s->value];
	     u < p->user_start[s->value + 1]; u++) {
		if (dual_is_inside(d, s, u))
			continue;
		if (only)
			return;
		only = &d->use[u];
	}
	s->nways = 0;
	s->first_way = d->nways;
	s->base = s->nsubsets ? INT64_MAX : 0;
	for (uint32_t i = s->first; i < s->first + s->nsubsets; i++)
		if (d->subset[i].cost < s->base)
			s->base = d->subset[i].cost;
	for (uint32_t o = 0; only && o < only->noptions; o++) {
		const struct dual_option *x = &d->option[only->first + o];
		int64_t leaving = dual_leaving(d, only, s->target, x);
		struct dual_way way = {
		    only->first + o, s->nsubsets ? INT64_MAX : leaving};

		for (uint32_t i = s->first; i < s->first + s->nsubsets; i++)
			if (d->subset[i].mask >> x->format & 1
			    && d->subset[i].cost + leaving < way.cost)
				way.cost = d->subset[i].cost + leaving;
		if (way.cost == INT64_MAX)
			continue;
		d->way = arena_grow(d->arena, d->way, &d->way_cap, d->nways + 1,
		    sizeof *d->way);
		d->way[d->nways++] = way;
		s->nways++;
	}
}

/* Candidates by the values they make, then supplies by value. */
void
dual_make_supplies(struct dual *d)
{
	const struct problem *p = d->p;
	uint32_t *start = arena_new(d->arena, uint32_t, (size_t)p->nvalues + 2);
	uint32_t *first = arena_new(d->arena, uint32_t, (size_t)p->nvalues + 1);
	uint32_t *maker, *slot;

	d->makes_start =
	    arena_new(d->arena, uint32_t, (size_t)p->ncandidates + 1);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *cand = &p->candidate[c];
		uint32_t n = candidate_usable(cand) ? cand->noutputs : 0;

		for (uint32_t i = 0; i < n; i++)
			start[cand->output[i].value + 2]++;
		d->makes_start[c + 1] = d->makes_start[c] + n;
	}
	for (uint32_t v = 0; v < p->nvalues; v++)
		start[v + 2] += start[v + 1];
	maker = arena_new(d->arena, uint32_t, start[p->nvalues + 1]);
	slot = arena_new(d->arena, uint32_t, start[p->nvalues + 1]);
	d->makes = arena_new(d->arena, uint32_t, start[p->nvalues + 1]);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		for (uint32_t i = d->makes_start[c]; i < d->makes_start[c + 1];
		     i++) {
			uint32_t k = i - d->makes_start[c];
			uint32_t v = p->candidate[c].output[k].value;

			maker[start[v + 1]] = c;
			slot[start[v + 1]++] = i;
		}
	for (uint32_t v = 0; v < p->nvalues; v++) {
		first[v] = d->nsupplies;
		supply_value(d, v, &maker[start[v]], &slot[start[v]],
		    start[v + 1] - start[v]);
	}
	first[p->nvalues] = d->nsupplies;
	d->supply_start = first;
	for (uint32_t s = 0; s < d->nsupplies; s++)
		make_ways(d, &d->supply[s]);
}
