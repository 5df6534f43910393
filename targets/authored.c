#include "targets/authored.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "targets/part.h"

/* ---- whose nodes ---- */

/* What tells calls apart: where they stand in what the author wrote. */
struct place_of_call {
	uint32_t onnx, part;
};

static void
index_calls(struct map *of, const struct graph *g, struct arena *a)
{
	map_init(of, a);
	for (uint32_t i = 0; i < g->ncalls; i++) {
		const struct origin *o = g->call[i].node.origin;
		const struct place_of_call key = {o->onnx, o->part};

		map_add(of, arena_copy(a, &key, sizeof key), sizeof key, i);
	}
}

/* 1 + the call that a node is of. */
static uint32_t
call_of(const struct map *of, const struct node *n)
{
	const struct origin *o = n->origin;
	struct place_of_call key;
	uint32_t i;

	if (n->norigins != 1)
		return 0;
	key = (struct place_of_call){o->onnx, o->part};
	i = map_find(of, &key, sizeof key);
	return i == MAP_NONE ? 0 : i + 1;
}

static bool
makes(const struct written_call *c, value_id v)
{
	for (uint32_t i = 0; i < c->node.noutputs; i++)
		if (c->node.output[i] == v)
			return true;
	return false;
}

/* ---- which stand ---- */

/* A value is read by nodes of call `by` (1 + it; 0: by others). */
static void
note_reader(struct authored *w, value_id v, uint32_t by)
{
	const node_id p =
	    v == VALUE_NONE ? NODE_NONE : graph_value(w->graph, v)->producer;
	const uint32_t of = p == NODE_NONE ? 0 : w->call_of[p];

	if (of && of != by && !makes(&w->graph->call[of - 1], v))
		w->stands[of - 1] = false;
}

/* What is read of a call elsewhere, its author gives out. */
static void
need_outputs(struct authored *w)
{
	const struct graph *g = w->graph;

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = graph_node(g, id);

		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			note_reader(w, n->input[i], w->call_of[id]);
	}
	for (uint32_t i = 0; i < g->noutputs; i++)
		note_reader(w, g->output[i], 0);
}

/* What a call reads is made there, or one of the nodes reads it, too. */
static void
need_inputs(struct authored *w, struct bitset there)
{
	const struct graph *g = w->graph;

	for (uint32_t c = 0; c < g->ncalls; c++) {
		const struct node *n = &g->call[c].node;

		for (uint32_t i = 0; i < n->ninputs; i++)
			if (n->input[i] != VALUE_NONE
			    && !graph_value(g, n->input[i])->constant)
				w->stands[c] &= bitset_has(there, n->input[i]);
	}
}

static struct bitset
values_at(
    const struct graph *g, const node_id *node, uint32_t n, struct arena *a)
{
	struct bitset there = bitset_new(a, g->nvalues);

	for (uint32_t i = 0; i < n; i++) {
		const struct node *of = graph_node(g, node[i]);

		for (uint32_t k = 0; k < of->ninputs + of->nimplicit; k++)
			if (of->input[k] != VALUE_NONE)
				bitset_add(there, of->input[k]);
		for (uint32_t k = 0; k < of->noutputs; k++)
			if (of->output[k] != VALUE_NONE)
				bitset_add(there, of->output[k]);
	}
	return there;
}

/* All nodes of a call, or none; and how many those are that stand. */
static void
need_all_nodes(
    struct authored *w, const node_id *node, uint32_t n, struct arena *a)
{
	const struct graph *g = w->graph;
	uint32_t *left = arena_new(a, uint32_t, g->ncalls);
	uint32_t *here = arena_new(a, uint32_t, g->ncalls);

	for (node_id id = 0; id < g->nnodes; id++)
		if (w->call_of[id])
			left[w->call_of[id] - 1]++;
	for (uint32_t i = 0; i < n; i++)
		if (w->call_of[node[i]])
			here[w->call_of[node[i]] - 1]++;
	for (uint32_t c = 0; c < g->ncalls; c++) {
		w->stands[c] &= here[c] > 0 && here[c] == left[c];
		if (w->stands[c] && here[c] > w->most)
			w->most = here[c];
	}
}

void
authored_find(struct authored *out, const struct graph *g, const node_id *node,
    uint32_t n, bool (*takes)(const void *context, const struct node *call),
    const void *context, struct arena *a)
{
	struct map of;

	*out = (struct authored){.graph = g};
	if (g->ncalls == 0)
		return;
	out->call_of = arena_new(a, uint32_t, g->nnodes);
	out->stands = arena_new(a, bool, g->ncalls);
	index_calls(&of, g, a);
	for (node_id id = 0; id < g->nnodes; id++)
		out->call_of[id] = call_of(&of, graph_node(g, id));
	for (uint32_t i = 0; i < g->ncalls; i++)
		out->stands[i] =
		    !g->call[i].lost && takes(context, &g->call[i].node);
	need_outputs(out);
	need_inputs(out, values_at(g, node, n, a));
	need_all_nodes(out, node, n, a);
}

/* ---- in words ---- */

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *
authored_text(const struct authored *w, struct arena *a)
{
	const struct graph *g = w->graph;
	const char **type = arena_new(a, const char *, g->ncalls);
	const char *text = "";
	uint32_t n = 0, same;

	for (uint32_t i = 0; i < g->ncalls; i++)
		if (w->stands[i])
			type[n++] = g->call[i].node.op_type;
	qsort(type, n, sizeof *type, by_text);
	for (uint32_t i = 0; i < n; i += same) {
		char count[16] = "";

		for (same = 1;
		     i + same < n && strcmp(type[i], type[i + same]) == 0;)
			same++;
		if (same > 1)
			snprintf(count, sizeof count, "%u*", same);
		text = arena_printf(
		    a, "%s%s%s%s", text, i ? "+" : "", count, type[i]);
	}
	return text;
}

/* ---- as a graph ---- */

/* A graph that has the calls as nodes behind its own. */
struct authored_cut {
	const struct authored *w;
	const struct candidate *c;
	struct graph with;
	struct arena *arena;
	node_id *node; /* [n] of the part; */
	uint32_t *count; /* [n] ... and of how many of the candidate's */
	uint32_t n;
	uint32_t *at; /* [ncalls] where among them a call is */
	struct map gone; /* what went, by address -> its value again */
};

/* A constant that went, once. */
static value_id
add_constant(struct authored_cut *k, const struct value *gone)
{
	const void *key = arena_copy(k->arena, &gone, sizeof gone);
	value_id v = map_find(&k->gone, key, sizeof gone);

	if (v != MAP_NONE)
		return v;
	v = graph_add_value(&k->with, gone->name, &gone->type);
	graph_value(&k->with, v)->constant = gone->constant;
	return map_add(&k->gone, key, sizeof gone, v);
}

/* For an output that nobody reads, or that is somebody else's by now. */
static value_id
add_unread(struct authored_cut *k, const struct value *like)
{
	return graph_add_value(&k->with,
	    arena_printf(k->arena, "unread.%u", k->with.nvalues), &like->type);
}

static void
give_inputs(
    struct authored_cut *k, const struct written_call *c, struct node *n)
{
	n->input =
	    arena_copy(k->arena, n->input, n->ninputs * sizeof *n->input);
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (c->gone[i])
			n->input[i] = add_constant(k, c->gone[i]);
}

static bool
is_of(const struct authored_cut *k, value_id v, uint32_t call)
{
	const node_id p = graph_value(k->w->graph, v)->producer;

	return p != NODE_NONE && k->w->call_of[p] == call + 1;
}

static void
give_outputs(struct authored_cut *k, uint32_t call, struct node *n)
{
	const struct written_call *c = &k->w->graph->call[call];

	n->output =
	    arena_copy(k->arena, n->output, n->noutputs * sizeof *n->output);
	for (uint32_t i = 0; i < n->noutputs; i++) {
		const struct value *gone = c->gone[n->ninputs + i];

		if (gone)
			n->output[i] = add_unread(k, gone);
		else if (n->output[i] != VALUE_NONE
		    && !is_of(k, n->output[i], call))
			n->output[i] = add_unread(
			    k, graph_value(k->w->graph, n->output[i]));
	}
}

static node_id
add_call(struct authored_cut *k, uint32_t call)
{
	const struct written_call *c = &k->w->graph->call[call];
	struct node n = c->node;

	give_inputs(k, c, &n);
	give_outputs(k, call, &n);
	k->with.node[k->with.nnodes] = n;
	return k->with.nnodes++;
}

static void
start(struct authored_cut *k)
{
	const struct graph *g = k->w->graph;

	k->with = *g;
	k->with.arena = k->arena;
	k->with.value =
	    arena_copy(k->arena, g->value, g->nvalues * sizeof *g->value);
	k->with.value_cap = g->nvalues;
	k->with.node =
	    arena_new(k->arena, struct node, (size_t)g->nnodes + g->ncalls);
	memcpy(k->with.node, g->node, g->nnodes * sizeof *g->node);
	k->node = arena_new(k->arena, node_id, k->c->nnodes);
	k->count = arena_new(k->arena, uint32_t, k->c->nnodes);
	k->at = arena_new(k->arena, uint32_t, g->ncalls);
	map_init(&k->gone, k->arena);
}

/* 1 + the call that stands for node i of the candidate. */
static uint32_t
standing(const struct authored_cut *k, uint32_t i)
{
	const uint32_t of = k->w->call_of[k->c->node[i]];

	return of && k->w->stands[of - 1] ? of : 0;
}

/* Each call where the first of its nodes was. */
static void
list_nodes(struct authored_cut *k)
{
	for (uint32_t i = 0; i < k->c->nnodes; i++) {
		const uint32_t of = standing(k, i);

		if (of && k->at[of - 1]) {
			k->count[k->at[of - 1] - 1]++;
			continue;
		}
		k->node[k->n] = of ? add_call(k, of - 1) : k->c->node[i];
		k->count[k->n++] = 1;
		if (of)
			k->at[of - 1] = k->n;
	}
}

/* The places of listed node i, in order[]'s order of them. */
static void
list_places(
    struct authored_cut *k, struct authored_part *out, const uint32_t *order)
{
	uint32_t *start = arena_new(k->arena, uint32_t, k->n + 1u);
	uint32_t *place = arena_new(k->arena, uint32_t, k->c->nnodes);
	uint32_t *next = arena_new(k->arena, uint32_t, k->n);
	uint32_t listed = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		start[i + 1] = start[i] + k->count[order[i]];
		next[order[i]] = start[i];
	}
	for (uint32_t i = 0; i < k->c->nnodes; i++) {
		const uint32_t of = standing(k, i);
		const bool is_new = !of || k->at[of - 1] == listed + 1;

		place[next[is_new ? listed++ : k->at[of - 1] - 1]++] = i;
	}
	out->start = start;
	out->place = place;
}

/* A value that a node makes: names it whatever number it has. */
static value_id
made_by(const struct node *n)
{
	uint32_t i = 0;

	while (n->output[i] == VALUE_NONE)
		i++;
	return n->output[i];
}

/* Outputs of a call may be read before its last node was: sorted anew. */
static bool
sort_part(struct authored_cut *k, struct graph *g, struct authored_part *out,
    struct err *err)
{
	uint32_t *was = arena_new(k->arena, uint32_t, g->nvalues);
	uint32_t *order = arena_new(k->arena, uint32_t, g->nnodes);

	for (node_id id = 0; id < g->nnodes; id++)
		was[made_by(&g->node[id])] = id;
	if (!graph_sort(g, err))
		return false;
	for (node_id id = 0; id < g->nnodes; id++)
		order[id] = was[made_by(&g->node[id])];
	list_places(k, out, order);
	out->graph = g;
	return true;
}

bool
authored_part(struct authored_part *out, const struct authored *w,
    const struct candidate *c, struct arena *a, struct err *err)
{
	struct authored_cut k = {.w = w, .c = c, .arena = a};
	struct candidate as = *c;

	start(&k);
	list_nodes(&k);
	as.nnodes = k.n;
	as.node = k.node;
	return sort_part(&k, part_of(&k.with, &as, a), out, err);
}
