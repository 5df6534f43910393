#include <string.h>

#include "search/dual_parts.h"

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
		if (dual_is_inside(d, s, u))
			continue;
		nuses++;
		for (uint32_t o = 0; o < d->use[u].noptions; o++)
			asked |= UINT32_C(1)
			    << d->option[d->use[u].first + o].format;
	}
	asked &= ~(s->have | required);
	s->first = d->nsubsets;
	if (count_bits(asked) > 31
	    || UINT32_C(1) << count_bits(asked) > DUAL_SUBSETS_MAX)
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
		    && p->candidate[c].cost > DUAL_COST_MAX)
			return false;
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (p->target[t].launch > DUAL_COST_MAX)
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
		d->launch = dual_scaled(p->target[tracked].launch);
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
