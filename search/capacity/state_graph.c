#include "search/capacity/state_graph.h"

#include <assert.h>
#include <string.h>

#include "search/backward_dp.h"
#include "search/reconstruct.h"
#include "ir/base/verify.h"
#include "search/problem_index.h"

/* What makes labels of a group the same, however they came about. Positions count
 * from the first run: where it is does not matter to the rest, unless runs are
 * limited or something may still go into the last one. Where values were brought
 * in, and where they float, is counted from the end. */
struct state_key {
	uint64_t group; /* its number */
	uint64_t runs;
	struct live_backward entry[];
};

static size_t
make_key(const struct state_graph *s, struct state_key *key,
    const struct group *g, const struct label *l)
{
	bool from_end = s->runs_limited || g->has_sink;

	key->group = g->number;
	for (uint32_t i = 0; i < g->nitems; i++) {
		key->entry[i] = l->entry[i];
		from_end |= l->entry[i].unplaced
		    || l->entry[i].transferred != TRANSFERS_NONE;
		if (l->entry[i].pos != UINT32_MAX)
			key->entry[i].pos = 2 * l->runs - l->entry[i].pos;
	}
	key->runs = from_end ? l->runs : 0;
	return sizeof *key + g->nitems * sizeof(struct live_backward);
}

/* The state of a label; a new one keeps it, for the DP to go on from. */
static uint32_t
state_of(struct state_graph *s, struct group *g, const struct label *l)
{
	size_t room = sizeof(struct state_key) + g->nitems * sizeof *l->entry;
	struct arena_mark mark = arena_mark(s->arena);
	struct state_key *key = arena_alloc(s->arena, room);
	size_t bytes = make_key(s, key, g, l);
	uint32_t id = map_find(&s->index, key, bytes);
	struct label *kept;

	if (id != MAP_NONE) {
		arena_back(s->arena, mark);
		return id;
	}
	id = s->nstates++;
	map_add(&s->index, key, bytes, id);
	kept = arena_copy(g->arena, l, label_bytes(g));
	kept->age = id;
	s->top = arena_grow(
	    s->arena, s->top, &s->top_cap, s->nstates, sizeof *s->top);
	s->top[id] = g->top;
	g->label = arena_grow(g->arena, g->label, &g->cap, g->nlabels + 1,
	    sizeof(struct label *));
	g->label[g->nlabels++] = kept;
	return id;
}

static void
add_label(void *context, struct group *g, const struct label *from,
    const struct label *l)
{
	struct state_graph *s = context;
	uint32_t to = state_of(s, g, l);

	assert(to < s->nstates);
	if (!from) {
		s->base = l->cost;
		return;
	}
	s->arc = arena_grow(
	    s->arena, s->arc, &s->arc_cap, s->narcs + 1, sizeof *s->arc);
	s->arc[s->narcs++] = (struct state_arc){.from = from->age,
	    .to = to,
	    .candidate = l->candidate,
	    .before = 2 * l->runs - l->pos,
	    .runs = l->runs - from->runs,
	    .cost = l->cost - from->cost};
}

static uint32_t
level(const struct state_graph *s, uint32_t state, uint32_t nnodes)
{
	uint32_t top = s->top[state];

	return top == NO_NODE ? nnodes : nnodes - 1 - top;
}

/* By the highest node that is left, from the last node down. */
static void
order_states(struct state_graph *s, uint32_t nnodes)
{
	uint32_t *start = arena_new(s->arena, uint32_t, (size_t)nnodes + 2);

	s->order = arena_new(s->arena, uint32_t, s->nstates);
	for (uint32_t i = 0; i < s->nstates; i++)
		start[level(s, i, nnodes) + 1]++;
	for (uint32_t l = 0; l <= nnodes; l++)
		start[l + 1] += start[l];
	for (uint32_t i = 0; i < s->nstates; i++)
		s->order[start[level(s, i, nnodes)]++] = i;
}

/* Turn counts of [i + 1] into starts; returns a copy to count on with. */
static uint32_t *
make_starts(uint32_t *start, uint32_t n, struct arena *a)
{
	for (uint32_t i = 0; i < n; i++)
		start[i + 1] += start[i];
	return arena_copy(a, start, ((size_t)n + 1) * sizeof *start);
}

static void
order_arcs(struct state_graph *s)
{
	size_t n = (size_t)s->nstates + 1;
	struct state_arc *sorted =
	    arena_new(s->arena, struct state_arc, s->narcs);
	uint32_t *at;

	s->in_start = arena_new(s->arena, uint32_t, n);
	s->out_start = arena_new(s->arena, uint32_t, n);
	s->out = arena_new(s->arena, uint32_t, s->narcs);
	for (uint32_t i = 0; i < s->narcs; i++) {
		s->in_start[s->arc[i].to + 1]++;
		s->out_start[s->arc[i].from + 1]++;
	}
	at = make_starts(s->in_start, s->nstates, s->arena);
	for (uint32_t i = 0; i < s->narcs; i++)
		sorted[at[s->arc[i].to]++] = s->arc[i];
	s->arc = sorted;
	at = make_starts(s->out_start, s->nstates, s->arena);
	for (uint32_t i = 0; i < s->narcs; i++)
		s->out[at[s->arc[i].from]++] = i;
}

/* (G1) arcs lie by their end, and again by their start; (G2) no arc leads back. */
static void
state_graph_verify(const struct state_graph *s)
{
	assert(s->in_start[s->nstates] == s->narcs);
	assert(s->out_start[s->nstates] == s->narcs);
	for (uint32_t i = 0; i < s->nstates; i++) {
		for (uint32_t k = s->in_start[i]; k < s->in_start[i + 1]; k++)
			assert(s->arc[k].to == i); /* (G1) */
		for (uint32_t k = s->out_start[i]; k < s->out_start[i + 1]; k++)
			assert(s->arc[s->out[k]].from == i); /* (G1) */
	}
	for (uint32_t i = 0; i < s->narcs; i++) {
		uint32_t from = s->top[s->arc[i].from];
		uint32_t to = s->top[s->arc[i].to];

		assert(from != NO_NODE);
		assert(to == NO_NODE || to < from); /* (G2) */
		assert(s->arc[i].cost != COST_NEVER);
	}
}

bool
state_graph_find(struct state_graph *s, const struct problem *p,
    uint32_t max_rate, const struct budget *budget, struct arena *a)
{
	struct backward_keeper keeper = {add_label, s, a, false};
	struct backward_limits limits = {.upper = COST_NEVER,
	    .budget = *budget,
	    .max_rate = max_rate,
	    .keeper = &keeper};
	struct converter_memo memo;
	struct search_result r;
	struct problem free;

	*s = (struct state_graph){.arena = a};
	map_init(&s->index, a);
	problem_derive(&free, p, EDIT_TARGETS, a);
	for (uint32_t t = 0; t < p->ntargets; t++) {
		free.target[t].capacity = UINT64_MAX;
		s->runs_limited |= p->target[t].max_runs != NO_LIMIT;
	}
	convert_init(&memo, &free, a);
	limits.memo = &memo;
	backward_dp(&r, &free, &limits, a);
	if (!keeper.complete)
		return false;
	order_states(s, p->nnodes);
	order_arcs(s);
	VERIFY(state_graph_verify(s));
	return true;
}

void
state_graph_cover(struct cover *out, const struct problem *p,
    const struct state_arc *const *arc, uint32_t n, struct arena *a)
{
	struct trace *label = arena_new(a, struct trace, (size_t)n + 1);
	uint32_t runs = 0;

	label[0].candidate = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		runs += arc[i]->runs;
		label[i + 1].parent = &label[i];
		label[i + 1].candidate = arc[i]->candidate;
		label[i + 1].pos = 2 * runs - arc[i]->before;
	}
	reconstruct(out, p, NULL, &label[n], a);
}
