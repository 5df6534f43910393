#include "search/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "search/bound.h"
#include "search/order_bound.h"
#include "search/order_state.h"
#include "search/order_step.h"

/* TUNING: labels kept a layer when the time is up and there is no cover yet, and
 * labels expanded between two looks at the clock. */
#define BEAM_LAST 4u
#define LOOK_EVERY 64u

/* A state in fewer bytes, and the way there. */
struct label {
	const struct label *parent;
	const uint32_t *key;
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
	struct arena *arena; /* everything of the search */
	struct stepper stepper;
	struct order_bound bound;
	struct layer *layer; /* [nnodes + 1] by covered nodes */
	struct order_state from, to;
	uint32_t *key; /* of a state that may become a label */
	bool truncated;
	bool over; /* out of time, and a cover is known */
	uint32_t beam;
	uint64_t nlabels;
};

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

/* A label for s->to, whose key is in s->key; NULL: it cannot win. */
static struct label *
label_new(struct order *s, struct layer *l, size_t nkey)
{
	cost_ns rest = order_bound_rest(&s->bound, &s->to);
	struct label *label;

	if (cost_add(s->to.cost, rest) >= s->limits->upper)
		return NULL;
	label = arena_new(s->arena, struct label, 1);
	label->key = arena_copy(s->arena, s->key, nkey);
	label->nkey = nkey;
	label->cost = COST_NEVER;
	label->guess = s->limits->dual
	    ? rest
	    : order_sum_uncovered(s->p, &s->to, s->limits->guess);
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
	size_t nkey = order_state_pack(&s->to, s->key);
	uint32_t at;

	if (l->cap == 0)
		map_init(&l->index, s->arena);
	at = map_find(&l->index, s->key, nkey);
	label = at == MAP_NONE ? label_new(s, l, nkey) : l->label[at];
	if (!label || s->to.cost >= label->cost)
		return;
	label->parent = parent;
	label->cost = s->to.cost;
	label->candidate = candidate;
	label->fresh = fresh;
	label->depth = parent ? parent->depth + 1 : 0;
}

static void
take(struct order *s, const struct label *l, uint32_t covered, uint32_t id)
{
	const struct problem_candidate *c = &s->p->candidate[id];
	bool extend;

	if (!candidate_is_ready(s->p, &s->from, c))
		return;
	extend = run_can_take(s->p, &s->from, c);
	if (extend && stepper_take(&s->stepper, &s->to, &s->from, c, true))
		layer_add(s, covered + c->nnodes, l, id, false);
	if ((!extend || s->stepper.splits)
	    && stepper_take(&s->stepper, &s->to, &s->from, c, false))
		layer_add(s, covered + c->nnodes, l, id, true);
}

static void
expand(struct order *s, const struct label *l, uint32_t covered)
{
	const struct problem *p = s->p;

	order_state_unpack(&s->from, l->key, l->nkey);
	s->from.cost = l->cost;
	for (uint32_t n = 0; n < p->nnodes; n++)
		if (node_is_ready(p, &s->from, n))
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
	stepper_init(&s.stepper, p, &space);
	s.bound = (struct order_bound){.p = p,
	    .dual = limits->dual,
	    .memo = &s.stepper.memo,
	    .upper = limits->upper,
	    .share = least_shares(p, &space)};
	s.layer = arena_new(&space, struct layer, (size_t)p->nnodes + 1);
	s.from = order_state_new(p, &space);
	s.to = order_state_new(p, &space);
	s.key = arena_new(&space, uint32_t, order_key_room(p));
	if (stepper_start(&s.stepper, &s.to)) {
		layer_add(&s, 0, NULL, 0, false);
		sweep(out, &s, a);
	}
	out->proven = !s.truncated;
	out->why = s.truncated ? "label budget" : "";
	out->labels = s.nlabels;
	out->lower_bound = !out->proven ? 0
	    : out->found                ? out->cover.cost
	                                : limits->upper;
	arena_release(&space);
}
