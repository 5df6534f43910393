#include "search/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/bitset.h"
#include "ir/base/map.h"
#include "search/bound.h"
#include "search/relax.h"

/* TUNING: labels kept a layer when the time is up and there is no cover yet, and
 * labels expanded between two looks at the clock. */
#define BEAM_LAST 4u
#define LOOK_EVERY 64u

/* A produced value somebody still needs: the formats it came in, those asked
 * for so far (their tree is paid), and whether it left the current run. */
struct live {
	uint32_t value;
	uint32_t fresh; /* made in the current run, where that matters */
	uint32_t have, need;
};

/* What the future depends on. The bytes from `last` on, with nlive entries of
 * live[], are the label's key: nothing else is compared. */
struct state {
	struct bitset covered;
	uint32_t last; /* target of the current run; NO_LIMIT: none */
	uint32_t run_nodes; /* where sizes are limited */
	uint32_t *runs; /* [ntargets] where counts are limited */
	uint64_t *used; /* [ntargets] where capacity is limited */
	struct live *live; /* ascending values */
	uint32_t nlive;
	cost_ns cost;
};

struct label {
	const struct label *parent;
	const void *key;
	size_t nkey;
	cost_ns cost;
	cost_ns guess; /* of what the uncovered nodes add */
	uint32_t candidate, depth; /* steps up to here */
	bool fresh; /* a new run was asked for */
};

struct layer {
	struct label **label;
	uint32_t n, cap;
	struct map index; /* key -> position */
};

struct order {
	const struct problem *p;
	const struct order_limits *limits;
	const cost_ns *share; /* [nnodes] */
	struct arena *arena; /* everything of the search */
	struct converter_memo memo;
	struct layer *layer; /* [nnodes + 1] by covered nodes */
	struct state from, to;
	struct {
		uint32_t *word;
		size_t n;
	} key;
	bool splits; /* may a run end though the next target is the same? */
	bool truncated;
	bool over; /* out of time, and a cover is known */
	uint32_t beam;
	uint64_t nlabels;
};

static void
state_new(struct order *s, struct state *x)
{
	x->covered = bitset_new(s->arena, s->p->nnodes);
	x->runs = arena_new(s->arena, uint32_t, s->p->ntargets);
	x->used = arena_new(s->arena, uint64_t, s->p->ntargets);
	x->live = arena_new(s->arena, struct live, s->p->nvalues);
}

static void
state_copy(const struct order *s, struct state *to, const struct state *from)
{
	bitset_clear(to->covered);
	bitset_or(to->covered, from->covered);
	memcpy(to->runs, from->runs, s->p->ntargets * sizeof *to->runs);
	memcpy(to->used, from->used, s->p->ntargets * sizeof *to->used);
	memcpy(to->live, from->live, from->nlive * sizeof *to->live);
	to->last = from->last;
	to->run_nodes = from->run_nodes;
	to->nlive = from->nlive;
	to->cost = from->cost;
}

/* The state as words; the inverse of unpack(). */
static void
pack(struct order *s, const struct state *x)
{
	const uint32_t nt = s->p->ntargets;
	uint32_t *w = s->key.word;

	memcpy(w, x->covered.word, x->covered.nwords * sizeof(uint64_t));
	w += (size_t)2 * x->covered.nwords;
	*w++ = x->last;
	*w++ = x->run_nodes;
	memcpy(w, x->runs, nt * sizeof *w);
	w += nt;
	memcpy(w, x->used, nt * sizeof *x->used);
	w += (size_t)2 * nt;
	memcpy(w, x->live, x->nlive * sizeof *x->live);
	w += (size_t)4 * x->nlive;
	s->key.n = (size_t)(w - s->key.word) * sizeof *w;
}

static void
unpack(const struct order *s, struct state *x, const struct label *l)
{
	const uint32_t nt = s->p->ntargets;
	const uint32_t *w = l->key, *end = w + l->nkey / sizeof *w;

	memcpy(x->covered.word, w, x->covered.nwords * sizeof(uint64_t));
	w += (size_t)2 * x->covered.nwords;
	x->last = *w++;
	x->run_nodes = *w++;
	memcpy(x->runs, w, nt * sizeof *w);
	w += nt;
	memcpy(x->used, w, nt * sizeof *x->used);
	w += (size_t)2 * nt;
	x->nlive = (uint32_t)(end - w) / 4;
	memcpy(x->live, w, x->nlive * sizeof *x->live);
	x->cost = l->cost;
}

static struct live *
live_find(struct state *x, uint32_t value)
{
	for (uint32_t i = 0; i < x->nlive; i++)
		if (x->live[i].value == value)
			return &x->live[i];
	return NULL;
}

/* Ask for a value in one more format and pay what that adds to its tree. */
static bool
demand(struct order *s, struct state *x, struct live *l, uint32_t need)
{
	uint32_t class = s->p->value[l->value].class;
	cost_ns before = convert_cost(&s->memo, class, l->have, l->need);
	cost_ns after = convert_cost(&s->memo, class, l->have, l->need | need);

	if (after == COST_NEVER)
		return false;
	assert(after >= before);
	l->need |= need;
	x->cost = cost_add(x->cost, after - before);
	return true;
}

static bool
is_needed(const struct order *s, const struct state *x, uint32_t value)
{
	for (uint32_t i = s->p->user_start[value];
	     i < s->p->user_start[value + 1]; i++)
		if (!bitset_has(x->covered, s->p->user[i]))
			return true;
	return false;
}

/* May the candidate go on with the current run? */
static bool
can_extend(
    const struct order *s, struct state *x, const struct problem_candidate *c)
{
	const struct problem_target *t = &s->p->target[c->target];

	if (x->last != c->target
	    || (t->max_run_nodes != NO_LIMIT
	        && x->run_nodes + c->nnodes > t->max_run_nodes))
		return false;
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (s->p->value[c->input[i].value].mark
		    && live_find(x, c->input[i].value)->fresh)
			return false;
	return true;
}

/* Put the candidate into a run: the current one or a new one. */
static bool
enter(const struct order *s, struct state *x, const struct problem_candidate *c,
    bool extend)
{
	const struct problem_target *t = &s->p->target[c->target];

	if (!extend) {
		for (uint32_t i = 0; i < x->nlive; i++)
			x->live[i].fresh = 0;
		x->last = NO_LIMIT;
		x->run_nodes = 0;
	}
	if (!s->p->tracked[c->target])
		return true;
	x->last = c->target;
	if (t->max_run_nodes != NO_LIMIT)
		x->run_nodes += c->nnodes;
	for (uint32_t i = 0; t->fed_only && i < c->ninputs; i++)
		if (s->p->value[c->input[i].value].producer != NO_NODE
		    && !live_find(x, c->input[i].value)->fresh)
			return false;
	if (extend)
		return true;
	x->cost = cost_add(x->cost, t->launch);
	if (t->max_runs == NO_LIMIT)
		return true;
	return ++x->runs[c->target] <= t->max_runs;
}

static bool
read_inputs(struct order *s, struct state *x, const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!demand(s, x, live_find(x, c->input[i].value),
		        UINT32_C(1) << c->input[i].format))
			return false;
	return true;
}

static bool
write_outputs(
    struct order *s, struct state *x, const struct problem_candidate *c)
{
	const struct problem_target *t = &s->p->target[c->target];
	bool tells =
	    s->p->tracked[c->target] && (t->fed_only || s->p->has_marks);

	for (uint32_t i = 0; i < c->noutputs; i++) {
		uint32_t v = c->output[i].value, at = x->nlive++;

		for (; at > 0 && x->live[at - 1].value > v; at--)
			x->live[at] = x->live[at - 1];
		x->live[at] = (struct live){
		    v, tells, UINT32_C(1) << c->output[i].format, 0};
		if (!demand(s, x, &x->live[at], s->p->value[v].required))
			return false;
	}
	return true;
}

static void
forget_dead(const struct order *s, struct state *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->nlive; i++)
		if (is_needed(s, x, x->live[i].value))
			x->live[n++] = x->live[i];
	x->nlive = n;
}

/* s->to = s->from with the candidate taken; false: not allowed. */
static bool
apply(struct order *s, const struct problem_candidate *c, bool extend)
{
	struct state *x = &s->to;
	uint32_t owner = target_owner(s->p, c->target);

	state_copy(s, x, &s->from);
	if (s->p->target[owner].capacity != UINT64_MAX) {
		if (c->resource > s->p->target[owner].capacity - x->used[owner])
			return false;
		x->used[owner] += c->resource;
	}
	if (!enter(s, x, c, extend))
		return false;
	x->cost = cost_add(x->cost, c->cost);
	if (!read_inputs(s, x, c))
		return false;
	for (uint32_t i = 0; i < c->nnodes; i++)
		bitset_add(x->covered, c->node[i]);
	if (!write_outputs(s, x, c))
		return false;
	forget_dead(s, x);
	return x->cost != COST_NEVER;
}

static cost_ns
sum_uncovered(const struct order *s, const struct state *x, const cost_ns *each)
{
	cost_ns sum = 0;

	for (uint32_t n = 0; n < s->p->nnodes; n++)
		if (!bitset_has(x->covered, n))
			sum = cost_add(sum, each[n]);
	return sum;
}

/* What is paid already of the launches that prices count: that of the run that
 * goes on. Where they are counted along a path, stretches of it are different runs,
 * so at most one that is still counted is this run; none is when the path's end is
 * covered. */
static int64_t
paid_launch(const struct order *s, const struct state *x)
{
	const struct dual *d = s->limits->dual;

	if (x->last == NO_LIMIT)
		return 0;
	return (int64_t)run_room_worth(s->p, x->last, x->run_nodes) * DUAL_SCALE
	    + (bitset_has(x->covered, s->p->nnodes - 1) ? 0
	                                                : d->launch[x->last]);
}

/* What covers of the uncovered nodes add at least; COST_NEVER: there are none.
 *
 * Why: let R be those nodes. Candidates that cover R cost their reduced costs, the
 * prices of R, and what they pay for uses and gain by supplies, taken back; each
 * has its highest node in R, so reduced costs sum up to no less than the cheapest
 * by highest node. Users of a value made in R are in R, too: its tree less what
 * they pay is at least its gain. That of a live value is what dual_value_left()
 * is a lower bound of. */
static cost_ns
priced_rest(const struct order *s, const struct state *x)
{
	struct dual *d = s->limits->dual;
	int64_t rest = 0;

	for (uint32_t n = 0; n < s->p->nnodes; n++)
		if (!bitset_has(x->covered, n))
			rest += d->rest[n + 1] - d->rest[n];
	for (uint32_t i = 0; i < x->nlive; i++) {
		const struct live *l = &x->live[i];
		int64_t adds = dual_value_left(d,
		    &(struct dual_live){l->value, l->have, l->need, false},
		    x->covered, x->last);

		if (adds == INT64_MAX)
			return COST_NEVER;
		rest += adds;
	}
	rest -= paid_launch(s, x);
	return rest <= 0 ? 0 : ((cost_ns)rest + DUAL_SCALE - 1) / DUAL_SCALE;
}

static int
by_cost(const void *a, const void *b)
{
	const struct label *x = *(struct label *const *)a;
	const struct label *y = *(struct label *const *)b;

	if (x->cost + x->guess != y->cost + y->guess)
		return x->cost + x->guess < y->cost + y->guess ? -1 : 1;
	if (x->nkey != y->nkey)
		return x->nkey < y->nkey ? -1 : 1;
	return memcmp(x->key, y->key, x->nkey);
}

/* What the label's cover costs at least beyond what is paid. */
static cost_ns
bound_rest(const struct order *s, const struct state *x)
{
	cost_ns shares = sum_uncovered(s, x, s->share), priced;

	if (!s->limits->dual || cost_add(x->cost, shares) >= s->limits->upper)
		return shares;
	priced = priced_rest(s, x);
	return priced > shares ? priced : shares;
}

/* A label for the packed state s->to; NULL: it cannot win. */
static struct label *
label_new(struct order *s, struct layer *l)
{
	cost_ns rest = bound_rest(s, &s->to);
	struct label *label;

	if (cost_add(s->to.cost, rest) >= s->limits->upper)
		return NULL;
	label = arena_new(s->arena, struct label, 1);
	label->key = arena_copy(s->arena, s->key.word, s->key.n);
	label->nkey = s->key.n;
	label->cost = COST_NEVER;
	label->guess =
	    s->limits->dual ? rest : sum_uncovered(s, &s->to, s->limits->guess);
	l->label = arena_grow(
	    s->arena, l->label, &l->cap, l->n + 1, sizeof(struct label *));
	l->label[l->n] = label;
	map_add(&l->index, label->key, label->nkey, l->n++);
	s->nlabels++;
	return label;
}

/* The choke point: the cheapest of labels with equal states stays. */
static void
layer_add(struct order *s, uint32_t covered, const struct label *parent,
    uint32_t candidate, bool fresh)
{
	struct layer *l = &s->layer[covered];
	struct label *label;
	uint32_t at;

	pack(s, &s->to);
	if (l->cap == 0)
		map_init(&l->index, s->arena);
	at = map_find(&l->index, s->key.word, s->key.n);
	label = at == MAP_NONE ? label_new(s, l) : l->label[at];
	if (!label || s->to.cost >= label->cost)
		return;
	label->parent = parent;
	label->cost = s->to.cost;
	label->candidate = candidate;
	label->fresh = fresh;
	label->depth = parent ? parent->depth + 1 : 0;
}

static bool
is_ready(const struct order *s, const struct state *x,
    const struct problem_candidate *c)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		if (bitset_has(x->covered, c->node[i]))
			return false;
	for (uint32_t i = 0; i < c->ninputs; i++) {
		uint32_t maker = s->p->value[c->input[i].value].producer;

		if (maker != NO_NODE && !bitset_has(x->covered, maker))
			return false;
	}
	return true;
}

/* A candidate's lowest node reads nothing the candidate makes, so it has to be
 * ready before the candidate is. */
static bool
node_is_ready(const struct order *s, const struct state *x, uint32_t n)
{
	const struct problem_node *node = &s->p->node[n];

	if (bitset_has(x->covered, n))
		return false;
	for (uint32_t i = 0; i < node->ninputs; i++) {
		uint32_t maker = s->p->value[node->input[i]].producer;

		if (maker != NO_NODE && !bitset_has(x->covered, maker))
			return false;
	}
	return true;
}

static void
take(struct order *s, const struct label *l, uint32_t covered, uint32_t id)
{
	const struct problem_candidate *c = &s->p->candidate[id];
	bool extend;

	if (!is_ready(s, &s->from, c))
		return;
	extend = can_extend(s, &s->from, c);
	if (extend && apply(s, c, true))
		layer_add(s, covered + c->nnodes, l, id, false);
	if ((!extend || s->splits) && apply(s, c, false))
		layer_add(s, covered + c->nnodes, l, id, true);
}

static void
expand(struct order *s, const struct label *l, uint32_t covered)
{
	const struct problem *p = s->p;

	unpack(s, &s->from, l);
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (node_is_ready(s, &s->from, n))
			for (uint32_t k = p->low_start[n];
			     k < p->low_start[n + 1]; k++)
				take(s, l, covered, p->low[k]);
}

/* Keep the best of the labels from `first` on, when there have to be fewer. */
static void
trim(struct order *s, struct layer *l, uint32_t first)
{
	const struct budget *b = &s->limits->budget;

	if (!s->truncated && !budget_is_short(b, s->arena->bytes))
		return;
	s->truncated = true;
	if (budget_is_over(b)) {
		s->beam = BEAM_LAST;
		s->over = s->limits->upper != COST_NEVER;
	}
	if (l->n - first <= s->beam)
		return;
	qsort(&l->label[first], l->n - first, sizeof(struct label *), by_cost);
	l->n = first + s->beam;
}

static bool
start(struct order *s)
{
	struct state *x = &s->to;

	state_new(s, &s->from);
	state_new(s, &s->to);
	s->key.word = arena_new(s->arena, uint32_t,
	    (size_t)2 * x->covered.nwords + 2 + (size_t)3 * s->p->ntargets
	        + (size_t)4 * s->p->nvalues);
	x->last = NO_LIMIT;
	for (uint32_t v = 0; v < s->p->nvalues; v++) {
		const struct problem_value *value = &s->p->value[v];

		if (value->producer != NO_NODE)
			continue;
		x->live[x->nlive] = (struct live){v, 0, value->initial, 0};
		if (!demand(s, x, &x->live[x->nlive++], value->required))
			return false;
	}
	forget_dead(s, x);
	layer_add(s, 0, NULL, 0, false);
	return true;
}

static void
extract(struct search_result *out, const struct order *s,
    const struct label *last, struct arena *a)
{
	uint32_t n = last->depth;
	uint32_t *candidate = arena_new(a, uint32_t, n);
	bool *fresh = arena_new(a, bool, n);

	for (const struct label *l = last; l->depth > 0; l = l->parent) {
		candidate[l->depth - 1] = l->candidate;
		fresh[l->depth - 1] = l->fresh
		    && s->p->tracked[s->p->candidate[l->candidate].target];
	}
	cover_complete(&out->cover, s->p, candidate, fresh, n, a);
	assert(out->cover.cost == last->cost);
	out->found = true;
}

static void
sweep(struct search_result *out, struct order *s, struct arena *a)
{
	const uint32_t n = s->p->nnodes;
	const struct layer *last = &s->layer[n];
	const struct label *best = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct layer *l = &s->layer[i];

		for (uint32_t k = 0; k < l->n && !s->over; k++) {
			if (k % LOOK_EVERY == 0)
				trim(s, l, k);
			expand(s, l->label[k], i);
		}
	}
	for (uint32_t k = 0; k < last->n; k++)
		if (!best || by_cost(&last->label[k], &best) < 0)
			best = last->label[k];
	if (best)
		extract(out, s, best, a);
}

void
order_search(struct search_result *out, const struct problem *p,
    const struct order_limits *limits, struct arena *a)
{
	struct arena space;
	struct order s = {.p = p,
	    .limits = limits,
	    .beam = limits->beam ? limits->beam : 64,
	    .arena = &space};

	*out = (struct search_result){.searcher = "order", .why = ""};
	arena_init(&space);
	convert_init(&s.memo, p, &space);
	s.share = least_shares(p, &space);
	s.layer = arena_new(&space, struct layer, (size_t)p->nnodes + 1);
	for (uint32_t t = 0; t < p->ntargets; t++)
		s.splits |= p->target[t].max_run_nodes != NO_LIMIT
		    || p->target[t].fed_only;
	s.splits |= p->has_marks;
	if (start(&s))
		sweep(out, &s, a);
	out->proven = !s.truncated;
	out->why = s.truncated ? "label budget" : "";
	out->labels = s.nlabels;
	out->lower_bound = !out->proven ? 0
	    : out->found                ? out->cover.cost
	                                : limits->upper;
	arena_release(&space);
}
