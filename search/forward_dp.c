#include "search/forward_dp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "search/bound.h"
#include "search/forward_bound.h"
#include "search/live_forward.h"
#include "ir/base/verify.h"
#include "search/forward_step.h"

/* TUNING: labels kept a layer when the time is up and there is no cover yet, and
 * labels expanded between two looks at the clock. */
#define BEAM_LAST 4u
#define LOOK_EVERY 64u
/* ... steps tried between two looks, and values that make a step costlier by one; the
 * share of the memory of one layer when it is short. */
#define STEPS_LOOK 4096u
#define VALUES_PER_STEP 16u
#define LAYER_SHARE 8u

/* How a label that was expanded came about. */
struct forward_trace {
	const struct forward_trace *parent;
	uint32_t candidate, depth; /* steps up to here */
	bool fresh; /* a new run was asked for */
};

/* A state in fewer bytes, and the way there. */
struct forward_label {
	const struct forward_trace *parent;
	const uint32_t *key;
	size_t nkey;
	cost_ns cost;
	cost_ns guess; /* of what the uncovered nodes add */
	uint32_t candidate;
	bool fresh;
};

/* Labels and their keys are given back once they are expanded, or when others are
 * better and memory is short. */
struct dp_layer {
	struct arena arena;
	struct forward_label **label;
	uint32_t n, cap;
	struct map index; /* key -> position */
	struct dp_layer *next; /* live */
};

struct forward_dp {
	const struct problem *p;
	const struct forward_limits *limits;
	struct arena *arena; /* of what lasts */
	struct stepper stepper;
	struct forward_bound bound;
	struct dp_layer **layer; /* [nnodes + 1] by covered nodes; NULL: none */
	struct dp_layer *live, *expanding;
	struct forward_state from, to;
	uint32_t *key; /* of a state that may become a label */
	bool truncated;
	bool over; /* out of time, and a cover is known */
	uint32_t beam;
	uint32_t untimed; /* steps since the last look at the clock */
	uint64_t nlabels;
};

static int
by_cost(const void *a, const void *b)
{
	const struct forward_label *x = *(struct forward_label *const *)a;
	const struct forward_label *y = *(struct forward_label *const *)b;

	if (x->cost + x->guess != y->cost + y->guess)
		return x->cost + x->guess < y->cost + y->guess ? -1 : 1;
	if (x->nkey != y->nkey)
		return x->nkey < y->nkey ? -1 : 1;
	return memcmp(x->key, y->key, x->nkey);
}

static size_t
bytes_of(const struct forward_dp *s)
{
	size_t bytes = s->arena->bytes;

	for (const struct dp_layer *l = s->live; l; l = l->next)
		bytes += l->arena.bytes;
	return bytes;
}

static struct dp_layer *
layer_get(struct forward_dp *s, uint32_t covered)
{
	struct dp_layer *l = s->layer[covered];

	if (l)
		return l;
	l = s->layer[covered] = arena_new(s->arena, struct dp_layer, 1);
	arena_init(&l->arena);
	map_init(&l->index, &l->arena);
	l->next = s->live;
	s->live = l;
	return l;
}

static void
layer_forget(struct forward_dp *s, uint32_t covered)
{
	struct dp_layer *l = s->layer[covered], **at = &s->live;

	if (!l)
		return;
	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	arena_release(&l->arena);
	l->n = 0;
	s->layer[covered] = NULL;
}

static struct forward_label *
layer_put(struct dp_layer *l, const struct forward_label *label)
{
	struct forward_label *to = arena_copy(&l->arena, label, sizeof *label);

	to->key = arena_copy(&l->arena, label->key, label->nkey);
	l->label = arena_grow(&l->arena, l->label, &l->cap, l->n + 1,
	    sizeof(struct forward_label *));
	l->label[l->n] = to;
	map_add(&l->index, to->key, to->nkey, l->n++);
	return to;
}

/* Keep the best n labels only, and no byte of the others. */
static void
layer_shrink(struct dp_layer *l, uint32_t n)
{
	struct dp_layer old = *l;

	if (l->n <= n)
		return;
	assert(l->label && n > 0);
	qsort(old.label, old.n, sizeof(struct forward_label *), by_cost);
	arena_init(&l->arena);
	map_init(&l->index, &l->arena);
	l->label = NULL;
	l->n = l->cap = 0;
	for (uint32_t i = 0; i < n; i++)
		layer_put(l, old.label[i]);
	arena_release(&old.arena);
}

/* A label for s->to, whose key is in s->key; NULL: it cannot win. */
static struct forward_label *
label_new(struct forward_dp *s, struct dp_layer *l, size_t nkey)
{
	cost_ns rest = forward_bound_rest(&s->bound, &s->to);
	struct forward_label label = {
	    .key = s->key, .nkey = nkey, .cost = COST_NEVER};

	if (cost_add(s->to.cost, rest) >= s->limits->upper)
		return NULL;
	label.guess = s->limits->dual
	    ? rest
	    : forward_sum_uncovered(s->p, &s->to, s->limits->guess);
	s->nlabels++;
	return layer_put(l, &label);
}

/* The choke point: the cheapest of labels with equal states stays. */
static void
layer_add(struct forward_dp *s, uint32_t covered,
    const struct forward_trace *parent, uint32_t candidate, bool fresh)
{
	struct dp_layer *l = layer_get(s, covered);
	struct forward_label *label;
	size_t nkey = forward_state_pack(&s->to, s->key);
	uint32_t at = map_find(&l->index, s->key, nkey);

	label = at == MAP_NONE ? label_new(s, l, nkey) : l->label[at];
	if (!label || s->to.cost >= label->cost)
		return;
	assert(covered <= s->p->nnodes && candidate < s->p->ncandidates);
	assert(label->cost > s->to.cost);
	label->parent = parent;
	label->cost = s->to.cost;
	label->candidate = candidate;
	label->fresh = fresh;
}

/* The time, and the memory, which one label with many ready nodes can fill. */
static void
mind_budget(struct forward_dp *s)
{
	const struct budget *b = &s->limits->budget;

	s->untimed = 0;
	s->over = budget_is_over(b) && s->limits->upper != COST_NEVER;
	if (!s->truncated && !s->over && !budget_is_short(b, bytes_of(s)))
		return;
	s->truncated = true;
	for (struct dp_layer *l = s->live; b->bytes && l; l = l->next)
		if (l != s->expanding
		    && l->arena.bytes > b->bytes / LAYER_SHARE)
			layer_shrink(l, s->beam);
}

static void
take(struct forward_dp *s, const struct forward_trace *l, uint32_t covered,
    uint32_t id)
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
	s->untimed += 1 + s->from.nlive / VALUES_PER_STEP;
	if (s->untimed >= STEPS_LOOK)
		mind_budget(s);
}

static const struct forward_trace *
trace_of(struct forward_dp *s, const struct forward_label *l)
{
	struct forward_trace *trace =
	    arena_new(s->arena, struct forward_trace, 1);

	*trace = (struct forward_trace){l->parent, l->candidate,
	    l->parent ? l->parent->depth + 1 : 0, l->fresh};
	return trace;
}

static void
expand(struct forward_dp *s, const struct forward_label *l, uint32_t covered)
{
	const struct problem *p = s->p;
	const struct forward_trace *trace = trace_of(s, l);

	forward_state_unpack(&s->from, l->key, l->nkey);
	s->from.cost = l->cost;
	VERIFY(forward_state_verify(&s->from, p));
	for (uint32_t n = 0; n < p->nnodes && !s->over; n++)
		if (node_is_ready(p, &s->from, n))
			for (uint32_t k = p->low_start[n];
			     k < p->low_start[n + 1] && !s->over; k++)
				take(s, trace, covered, p->low[k]);
}

/* Keep the best of the labels from `first` on, when there have to be fewer. */
static void
trim(struct forward_dp *s, struct dp_layer *l, uint32_t first)
{
	const struct budget *b = &s->limits->budget;

	if (!s->truncated && !budget_is_short(b, bytes_of(s)))
		return;
	s->truncated = true;
	if (budget_is_over(b)) {
		s->beam = BEAM_LAST;
		s->over = s->limits->upper != COST_NEVER;
	}
	if (l->n - first <= s->beam)
		return;
	qsort(&l->label[first], l->n - first, sizeof(struct forward_label *),
	    by_cost);
	l->n = first + s->beam;
}

static void
extract(struct search_result *out, struct forward_dp *s,
    const struct forward_label *last, struct arena *a)
{
	const struct forward_trace *end = trace_of(s, last);
	uint32_t n = end->depth;
	uint32_t *candidate = arena_new(a, uint32_t, n);
	bool *fresh = arena_new(a, bool, n);

	for (const struct forward_trace *t = end; t->depth > 0; t = t->parent) {
		candidate[t->depth - 1] = t->candidate;
		fresh[t->depth - 1] = t->fresh
		    && s->p->tracked[s->p->candidate[t->candidate].target];
	}
	cover_complete(&out->cover, s->p, candidate, fresh, n, a);
	assert(out->cover.cost == last->cost);
	out->found = true;
}

static void
run(struct search_result *out, struct forward_dp *s, struct arena *a)
{
	const uint32_t n = s->p->nnodes;
	const struct forward_label *best = NULL;

	for (uint32_t i = 0; i < n && !s->over; i++) {
		struct dp_layer *l = s->expanding = s->layer[i];

		for (uint32_t k = 0; l && k < l->n && !s->over; k++) {
			if (k % LOOK_EVERY == 0)
				trim(s, l, k);
			expand(s, l->label[k], i);
		}
		layer_forget(s, i);
	}
	for (uint32_t k = 0; s->layer[n] && k < s->layer[n]->n; k++)
		if (!best || by_cost(&s->layer[n]->label[k], &best) < 0)
			best = s->layer[n]->label[k];
	if (best)
		extract(out, s, best, a);
}

void
forward_dp(struct search_result *out, const struct problem *p,
    const struct forward_limits *limits, struct arena *a)
{
	struct arena space;
	struct forward_dp s = {.p = p,
	    .limits = limits,
	    .beam = limits->beam ? limits->beam : 64,
	    .arena = &space};

	*out = (struct search_result){.searcher = "order", .why = ""};
	arena_init(&space);
	stepper_init(&s.stepper, p, &space);
	s.bound = (struct forward_bound){.p = p,
	    .dual = limits->dual,
	    .memo = &s.stepper.memo,
	    .upper = limits->upper,
	    .share = least_shares(p, &space)};
	s.layer = arena_new(&space, struct dp_layer *, (size_t)p->nnodes + 1);
	s.from = forward_state_new(p, &space);
	s.to = forward_state_new(p, &space);
	s.key = arena_new(&space, uint32_t, forward_key_room(p));
	if (stepper_start(&s.stepper, &s.to)) {
		layer_add(&s, 0, NULL, 0, false);
		run(out, &s, a);
	}
	out->proven = !s.truncated;
	out->why = s.truncated ? "label budget" : "";
	out->labels = s.nlabels;
	out->lower_bound = !out->proven ? 0
	    : out->found                ? out->cover.cost
	                                : limits->upper;
	for (struct dp_layer *l = s.live; l; l = l->next)
		arena_release(&l->arena);
	arena_release(&space);
}
