#include "search/dual.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Larger costs than this (ns) would overflow scaled sums. */
#define COST_MAX (UINT64_C(1) << 40)
/* TUNING: subsets of formats looked at per supply; with more (some 8 formats at
 * several uses), trees count as free, which is weaker but still a bound. */
#define SUBSETS_MAX 64u

static int64_t
scaled(cost_ns c)
{
	return (int64_t)c * DUAL_SCALE;
}

/* ---- construction ---- */

static uint32_t
find_use(const struct problem *p, uint32_t value, uint32_t node)
{
	uint32_t low = p->user_start[value], high = p->user_start[value + 1];

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (p->user[mid] < node)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->user_start[value + 1] && p->user[low] == node
	    ? low
	    : UINT32_MAX;
}

/* One path through the graph, longest in nodes, ending at the last node. Runs
 * of the tracked target along it are runs of the plan. */
static void
choose_path(struct dual *d)
{
	const struct problem *p = d->p;
	uint32_t *length = arena_new(d->arena, uint32_t, p->nnodes);
	uint32_t *use = arena_new(d->arena, uint32_t, p->nvalues);
	uint32_t node = p->nnodes - 1;

	memset(use, 0xff, p->nvalues * sizeof *use);
	d->path_use = use;
	d->ends_path = arena_new(d->arena, bool, p->nnodes);
	if (d->tracked == NO_LIMIT || d->launch == 0)
		return;
	d->ends_path[node] = true;
	for (uint32_t n = 0; n < p->nnodes; n++)
		for (uint32_t i = 0; i < p->node[n].ninputs; i++) {
			uint32_t m = p->value[p->node[n].input[i]].producer;

			if (m != NO_NODE && length[m] >= length[n])
				length[n] = length[m] + 1;
		}
	for (;;) {
		uint32_t value = UINT32_MAX, best = 0;

		for (uint32_t i = 0; i < p->node[node].ninputs; i++) {
			uint32_t v = p->node[node].input[i];
			uint32_t m = p->value[v].producer;

			if (m != NO_NODE
			    && (value == UINT32_MAX || length[m] > best)) {
				value = v;
				best = length[m];
			}
		}
		if (value == UINT32_MAX)
			return;
		use[value] = find_use(p, value, node);
		d->use[use[value]].on_path = true;
		node = p->value[value].producer;
	}
}

/* Options of a use are filed together: two passes, count and fill. */
static uint32_t
option_of(struct dual *d, uint32_t use, uint32_t format, bool tracked)
{
	struct dual_use *u = &d->use[use];
	bool tells = tracked && u->on_path;

	for (uint32_t i = 0; i < u->noptions; i++)
		if (d->option[u->first + i].format == format
		    && d->option[u->first + i].tracked == tells)
			return u->first + i;
	d->option[u->first + u->noptions] = (struct dual_option){format, tells};
	return u->first + u->noptions++;
}

static bool
holds(const struct problem_candidate *c, uint32_t node)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (c->node[i] == node)
			return true;
	return false;
}

/* Visit the uses a candidate pays for: its nodes among the users of what it
 * reads, at the first format it reads each value in. */
static uint32_t
uses_of(const struct dual *d, const struct problem_candidate *c, uint32_t *use,
    uint32_t *format)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->ninputs; i++) {
		if (i > 0 && c->input[i - 1].value == c->input[i].value)
			continue;
		for (uint32_t k = 0; k < c->nnodes; k++) {
			uint32_t u =
			    find_use(d->p, c->input[i].value, c->node[k]);

			if (u == UINT32_MAX)
				continue;
			use[n] = u;
			format[n++] = c->input[i].format;
		}
	}
	return n;
}

static uint32_t
most_uses(const struct problem *p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->ncandidates; i++)
		if (p->candidate[i].ninputs * p->candidate[i].nnodes > most)
			most = p->candidate[i].ninputs * p->candidate[i].nnodes;
	return most;
}

static void
make_options(struct dual *d)
{
	const struct problem *p = d->p;
	uint32_t nuses = p->user_start[p->nvalues], most = most_uses(p);
	uint32_t *room = arena_new(d->arena, uint32_t, (size_t)nuses + 1);
	uint32_t *use = arena_new(d->arena, uint32_t, most);
	uint32_t *format = arena_new(d->arena, uint32_t, most), total = 0;

	d->pays_start =
	    arena_new(d->arena, uint32_t, (size_t)p->ncandidates + 1);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		uint32_t n = candidate_usable(&p->candidate[c])
		    ? uses_of(d, &p->candidate[c], use, format)
		    : 0;

		for (uint32_t i = 0; i < n; i++)
			room[use[i]]++;
		d->pays_start[c + 1] = d->pays_start[c] + n;
	}
	for (uint32_t u = 0; u < nuses; u++) {
		uint32_t most_here = 2 * p->nformats;

		d->use[u].first = total;
		total += room[u] < most_here ? room[u] : most_here;
	}
	d->noptions = total;
	d->option = arena_new(d->arena, struct dual_option, total);
	d->pays = arena_new(d->arena, uint32_t, d->pays_start[p->ncandidates]);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *cand = &p->candidate[c];
		uint32_t at = d->pays_start[c], n;

		if (!candidate_usable(cand))
			continue;
		n = uses_of(d, cand, use, format);
		for (uint32_t i = 0; i < n; i++)
			d->pays[at + i] = option_of(
			    d, use[i], format[i], cand->target == d->tracked);
	}
}

static bool
is_inside(const struct dual *d, const struct dual_supply *s, uint32_t use)
{
	for (uint32_t i = 0; i < s->ninside; i++)
		if (d->inside[s->inside + i] == use)
			return true;
	return false;
}

static void
add_subset(struct dual *d, struct dual_supply *s, uint32_t mask)
{
	cost_ns cost =
	    convert_cost(d->memo, d->p->value[s->value].class, s->have, mask);

	if (cost == COST_NEVER || cost > COST_MAX)
		return;
	d->subset = arena_grow(d->arena, d->subset, &d->subset_cap,
	    d->nsubsets + 1, sizeof *d->subset);
	d->subset[d->nsubsets++] =
	    (struct dual_subset){mask | s->have, scaled(cost)};
	s->nsubsets++;
}

static uint32_t
count_bits(uint32_t mask)
{
	uint32_t n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
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
		if (is_inside(d, s, u))
			continue;
		nuses++;
		for (uint32_t o = 0; o < d->use[u].noptions; o++)
			asked |= UINT32_C(1)
			    << d->option[d->use[u].first + o].format;
	}
	asked &= ~(s->have | required);
	s->first = d->nsubsets;
	if (count_bits(asked) > 31
	    || UINT32_C(1) << count_bits(asked) > SUBSETS_MAX)
		return;
	for (uint32_t sub = asked;; sub = (sub - 1) & asked) {
		if (count_bits(sub) <= nuses)
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

		if (x->have == s.have && x->tracked == s.tracked
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
	struct dual_supply s = {.value = value, .inside = d->ninside};

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
		s.tracked =
		    c->target == d->tracked && d->path_use[value] != UINT32_MAX;
		for (uint32_t u = p->user_start[value];
		     u < p->user_start[value + 1]; u++)
			if (holds(c, p->user[u]))
				add_inside(d, u);
		s.ninside = d->ninside - s.inside;
		at = file_supply(d, s, mine, &n);
		if (at == before)
			mine[n++] = at;
		d->makes[slot[i]] = at;
	}
}

/* Candidates by the values they make, then supplies by value. */
static void
make_supplies(struct dual *d)
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
}

/* Does a value leave some candidate before its last node runs? Then the cut
 * may cross the path more than once, and launches are left out of the bound. */
static bool
leaves_early(const struct problem *p)
{
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *x = &p->candidate[c];

		for (uint32_t i = 0; candidate_usable(x) && i < x->noutputs;
		     i++)
			if (p->value[x->output[i].value].producer
			    != x->node[x->nnodes - 1])
				return true;
	}
	return false;
}

static bool
costs_fit(const struct problem *p)
{
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (p->candidate[c].cost != COST_NEVER
		    && p->candidate[c].cost > COST_MAX)
			return false;
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (p->target[t].launch > COST_MAX)
			return false;
	return p->nnodes > 0 && p->nnodes < 1u << 20;
}

bool
dual_init(struct dual *d, const struct problem *p, uint32_t tracked,
    struct converter_memo *memo, struct arena *a)
{
	if (!costs_fit(p))
		return false;
	*d =
	    (struct dual){.p = p, .arena = a, .memo = memo, .tracked = tracked};
	if (tracked != NO_LIMIT && !leaves_early(p))
		d->launch = scaled(p->target[tracked].launch);
	d->use = arena_new(a, struct dual_use, p->user_start[p->nvalues]);
	for (uint32_t u = 0; u < p->user_start[p->nvalues]; u++)
		d->use[u].node = p->user[u];
	/* One too many: offsets from NULL are undefined, even of nothing. */
	d->inside = arena_grow(a, NULL, &d->inside_cap, 1, sizeof *d->inside);
	choose_path(d);
	make_options(d);
	make_supplies(d);
	d->price = arena_new(a, int64_t, p->nnodes);
	d->pay = arena_new(a, int64_t, d->noptions);
	d->rest = arena_new(a, int64_t, (size_t)p->nnodes + 1);
	d->excess = arena_new(a, cost_ns, p->ncandidates);
	d->bound = INT64_MIN;
	return true;
}

/* ---- evaluation ---- */

/* The most a use pays when the value is to be had in `mask`; *option: the one
 * it takes, UINT32_MAX: none. */
static int64_t
use_pays(const struct dual *d, uint32_t use, uint32_t mask, bool from_tracked,
    uint32_t *option)
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
	int64_t gain[SUBSETS_MAX], all = 0;

	for (uint32_t i = 0; i < s->nsubsets; i++)
		gain[i] = d->subset[s->first + i].cost;
	for (uint32_t u = p->user_start[s->value];
	     u < p->user_start[s->value + 1]; u++) {
		uint32_t n;

		if (s->ninside > 0 && is_inside(d, s, u))
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

/* What a candidate costs above the prices of its nodes. */
static int64_t
reduced_cost(const struct dual *d, uint32_t c)
{
	const struct problem_candidate *cand = &d->p->candidate[c];
	int64_t cost = scaled(cand->cost);

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

/* The bound at the prices there are; chosen[n]: the candidate with highest node
 * n that the relaxed problem takes, or UINT32_MAX; worth[n]: what it gains. */
static int64_t
evaluate(struct dual *d, uint32_t *chosen, int64_t *worth)
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
			int64_t r = reduced_cost(d, p->high[k]);

			if (r < worth[n]) {
				worth[n] = r;
				chosen[n] = p->high[k];
			}
		}
		bound += worth[n];
	}
	return bound;
}

/* ---- subgradient ---- */

struct ascent {
	struct dual *d;
	uint32_t *chosen; /* [nnodes] */
	int64_t *worth; /* [nnodes] */
	int32_t *slope; /* [nnodes + noptions] */
	int32_t *step; /* [nnodes + noptions] smoothed, in 1/256 */
	int64_t *best_price, *best_pay, *best_worth;
};

/* The uses of a supply take their options back. */
static void
count_takes(struct ascent *s, const struct dual_supply *x)
{
	const struct problem *p = s->d->p;
	uint32_t mask =
	    x->best == UINT32_MAX ? UINT32_MAX : s->d->subset[x->best].mask;
	uint32_t option;

	for (uint32_t u = p->user_start[x->value];
	     u < p->user_start[x->value + 1]; u++) {
		if (x->ninside && is_inside(s->d, x, u))
			continue;
		use_pays(s->d, u, mask, x->tracked, &option);
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
		d->price[i] += length * s->step[i] / 256;
	for (uint32_t i = 0; i < d->noptions; i++) {
		d->pay[i] += length * s->step[n + i] / 256;
		if (d->pay[i] < 0)
			d->pay[i] = 0;
	}
	return true;
}

static void
remember(struct ascent *s)
{
	struct dual *d = s->d;

	memcpy(s->best_price, d->price, d->p->nnodes * sizeof *d->price);
	memcpy(s->best_pay, d->pay, d->noptions * sizeof *d->pay);
	memcpy(s->best_worth, s->worth, d->p->nnodes * sizeof *s->worth);
}

/* Back to the best prices seen, with the bound they give for every prefix of
 * the nodes. */
static void
recall(struct ascent *s)
{
	struct dual *d = s->d;

	memcpy(d->price, s->best_price, d->p->nnodes * sizeof *d->price);
	memcpy(d->pay, s->best_pay, d->noptions * sizeof *d->pay);
	d->bound = evaluate(d, s->chosen, s->worth);
	for (uint32_t n = 0; n < d->p->nnodes; n++)
		d->rest[n + 1] = d->rest[n] + d->price[n] + s->worth[n];
	for (uint32_t c = 0; c < d->p->ncandidates; c++) {
		const struct problem_candidate *x = &d->p->candidate[c];

		if (candidate_usable(x))
			d->excess[c] = (cost_ns)(reduced_cost(d, c)
			                   - s->worth[x->node[x->nnodes - 1]])
			    / DUAL_SCALE;
	}
}

static void
first_prices(struct dual *d)
{
	const struct problem *p = d->p;

	for (uint32_t n = 0; n < p->nnodes; n++)
		d->price[n] = INT64_MAX;
	for (uint32_t k = 0; k < p->low_start[p->nnodes]; k++) {
		const struct problem_candidate *c = &p->candidate[p->low[k]];
		int64_t share = scaled(c->cost) / c->nnodes;

		for (uint32_t i = 0; i < c->nnodes; i++)
			if (share < d->price[c->node[i]])
				d->price[c->node[i]] = share;
	}
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (d->price[n] == INT64_MAX)
			d->price[n] = 0; /* nothing covers it: no cover */
}

void
dual_improve(struct dual *d, cost_ns upper, uint32_t rounds)
{
	const struct problem *p = d->p;
	size_t total = (size_t)p->nnodes + d->noptions;
	struct ascent s = {.d = d,
	    .chosen = arena_new(d->arena, uint32_t, p->nnodes),
	    .worth = arena_new(d->arena, int64_t, p->nnodes),
	    .slope = arena_new(d->arena, int32_t, total),
	    .step = arena_new(d->arena, int32_t, total),
	    .best_price = arena_new(d->arena, int64_t, p->nnodes),
	    .best_pay = arena_new(d->arena, int64_t, d->noptions),
	    .best_worth = arena_new(d->arena, int64_t, p->nnodes)};
	uint32_t share = 1024, stalled = 0; /* share: of 1024 */

	if (d->bound == INT64_MIN)
		first_prices(d);
	for (uint32_t i = 0; i <= rounds; i++) {
		int64_t bound = evaluate(d, s.chosen, s.worth);

		if (bound > d->bound) {
			d->bound = bound;
			remember(&s);
			stalled = 0;
		} else if (++stalled == 20) {
			share = share * 7 / 10;
			stalled = 0;
		}
		if (bound >= scaled(upper) || share == 0)
			break;
		find_slope(&s);
		if (!move(&s, scaled(upper) - bound, share))
			break;
	}
	recall(&s);
}

cost_ns
dual_bound(const struct dual *d)
{
	return d->bound <= 0
	    ? 0
	    : (cost_ns)(d->bound + DUAL_SCALE - 1) / DUAL_SCALE;
}

/* ---- what a live value adds ---- */

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
		    && (s->ninside == 0 || !is_inside(d, s, u)))
			sum += use_pays(d, u, mask, s->tracked, &option);
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
		adds = scaled(cost) - left_uses_pay(d, s, mask, by);
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
