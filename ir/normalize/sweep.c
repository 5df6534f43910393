/* What nothing needs goes; what stays gets dense ids. */
#include "ir/normalize/tidy.h"

#include <string.h>

struct sweeping {
	struct graph *g;
	const value_id *alias;
	bool *needed; /* [nvalues] */
	bool *live; /* [nnodes] */
	const struct origin **reader; /* [nvalues] of what a value is for; NULL:
	                               * nothing reads it */
	const struct value **gone; /* [nvalues] as calls are told */
};

/* The reader is the graph's caller. */
static const struct origin caller = {NODE_NONE, ROLE_KEPT, 0};

static bool
is_folded(const struct sweeping *w, const struct node *n)
{
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE
		    && !w->g->value[w->alias[n->output[i]]].constant)
			return false;
	return n->noutputs > 0;
}

static bool
is_needed(const struct sweeping *w, const struct node *n)
{
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE
		    && w->needed[w->alias[n->output[i]]]
		    && !w->g->value[w->alias[n->output[i]]].constant)
			return true;
	return false;
}

/* What a node reads is read by an ONNX node: its own, or the one that what it
 * was folded to is for. */
static void
mark_read(struct sweeping *w, const struct node *n, const struct origin *reader)
{
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
		const value_id v = n->input[i];

		if (v != VALUE_NONE && !w->reader[w->alias[v]])
			w->reader[w->alias[v]] = reader;
	}
}

static const struct origin *
reader_of(const struct sweeping *w, const struct node *n)
{
	for (uint32_t i = 0; i < n->noutputs; i++) {
		const value_id v = n->output[i];

		if (v != VALUE_NONE && w->reader[w->alias[v]])
			return w->reader[w->alias[v]];
	}
	return NULL;
}

static void
set_reader(struct onnx_node *o, const struct origin *reader)
{
	o->into = reader->onnx;
	o->into_part = reader->part;
}

/* A node that goes: part of another now, or of nothing. */
static void
let_go(struct sweeping *w, const struct node *n)
{
	const struct onnx_nodes *table = w->g->origin_table;
	const struct origin *reader = reader_of(w, n);

	if (!is_folded(w, n) || !reader) {
		set_fate(w->g, n, FATE_DROPPED, "nothing reads its outputs");
		return;
	}
	for (uint32_t i = 0; i < n->norigins; i++) {
		set_reader(&table->node[n->origin[i].onnx], reader);
		set_reader(origin_node(table, &n->origin[i]), reader);
	}
	set_fate(w->g, n, FATE_FOLDED, "its inputs are constant");
	mark_read(w, n, reader);
}

/* Constant nodes, which became values when the model was read. */
static void
settle_constants(struct sweeping *w)
{
	for (value_id v = 0; v < w->g->nvalues; v++) {
		const struct origin *reader = w->reader[w->alias[v]];
		struct onnx_node *o;

		if (!w->g->value[v].stated_by)
			continue;
		o = origin_node(w->g->origin_table, w->g->value[v].stated_by);
		if (reader) {
			set_reader(o, reader);
			continue;
		}
		o->fate = FATE_DROPPED;
		o->why = "nothing reads its outputs";
	}
}

static void
mark_live(struct sweeping *w)
{
	struct graph *g = w->g;

	for (uint32_t i = 0; i < g->noutputs; i++) {
		w->needed[w->alias[g->output[i]]] = true;
		w->reader[w->alias[g->output[i]]] = &caller;
	}
	for (node_id id = g->nnodes; id-- > 0;) {
		const struct node *n = &g->node[id];

		if (!is_needed(w, n)) {
			let_go(w, n);
			continue;
		}
		w->live[id] = true;
		mark_read(w, n, n->norigins ? n->origin : &caller);
		for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
			if (n->input[i] != VALUE_NONE)
				w->needed[w->alias[n->input[i]]] = true;
	}
	settle_constants(w);
}

/* Aliases substituted; a constant output is no longer this node's. */
static void
rewire(struct sweeping *w, struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
		if (n->input[i] != VALUE_NONE)
			n->input[i] = w->alias[n->input[i]];
	for (uint32_t i = 0; i < n->noutputs; i++) {
		if (n->output[i] == VALUE_NONE)
			continue;
		n->output[i] = w->alias[n->output[i]];
		if (w->g->value[n->output[i]].constant)
			n->output[i] = VALUE_NONE;
	}
}

static void
keep_live(struct sweeping *w)
{
	struct graph *g = w->g;
	uint32_t kept = 0;

	for (value_id v = 0; v < g->nvalues; v++)
		g->value[v].producer = NODE_NONE;
	for (node_id id = 0; id < g->nnodes; id++) {
		struct node n = g->node[id];

		if (!w->live[id])
			continue;
		rewire(w, &n);
		for (uint32_t i = 0; i < n.noutputs; i++)
			if (n.output[i] != VALUE_NONE) {
				g->value[n.output[i]].producer = kept;
				w->needed[n.output[i]] = true;
			}
		g->node[kept++] = n;
	}
	g->nnodes = kept;
}

static void
rename(value_id *ids, uint32_t n, const value_id *map)
{
	for (uint32_t i = 0; i < n; i++)
		if (ids[i] != VALUE_NONE)
			ids[i] = map[ids[i]];
}

static value_id *
renamed(struct graph *g, const value_id *ids, uint32_t n, const value_id *map)
{
	value_id *copy = arena_copy(g->arena, ids, n * sizeof *copy);

	rename(copy, n, map);
	return copy;
}

static void
rename_captures(struct graph *g, const value_id *map, const bool *needed)
{
	struct capture *kept =
	    arena_new(g->arena, struct capture, g->ncaptures);
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->ncaptures; i++)
		if (needed[g->capture[i].inner])
			kept[n++] = (struct capture){
			    g->capture[i].slot, map[g->capture[i].inner]};
	g->capture = kept;
	g->ncaptures = n;
}

/* An initialiser that goes: into what reads what it became part of. */
static void
settle_initialiser(const struct sweeping *w, value_id v)
{
	const struct origin *reader = w->reader[w->alias[v]];
	struct onnx_initialiser *o;

	if (!w->g->value[v].given_by)
		return;
	o = &w->g->origin_table->initialiser[w->g->value[v].given_by - 1];
	o->fate = reader ? FATE_FOLDED : FATE_DROPPED;
	o->into = reader ? reader->onnx : NODE_NONE;
	o->into_part = reader ? reader->part : 0;
}

static const struct value *
gone_value(const struct sweeping *w, value_id v)
{
	if (!w->gone[v])
		w->gone[v] = arena_copy(
		    w->g->arena, &w->g->value[v], sizeof w->g->value[v]);
	return w->gone[v];
}

/* What a call as its author has it reads and makes; what went is told as it was. */
static void
settle_call(const struct sweeping *w, struct written_call *c)
{
	const uint32_t nin = c->node.ninputs;

	for (uint32_t i = 0; i < nin + c->node.noutputs; i++) {
		value_id *v =
		    i < nin ? &c->node.input[i] : &c->node.output[i - nin];

		if (*v == VALUE_NONE)
			continue;
		*v = w->alias[*v];
		if (w->needed[*v])
			continue;
		c->lost |= i < nin && !w->g->value[*v].constant;
		c->gone[i] = gone_value(w, *v);
		*v = VALUE_NONE;
	}
}

/* Values nothing mentions go. Those of nodes stand in the nodes' arrays,
 * which may be shared with nobody: inline_ifs() and the reader copy them. */
static void
compact_values(struct sweeping *w, struct arena *scratch)
{
	struct graph *g = w->g;
	value_id *map = arena_new(scratch, value_id, g->nvalues);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->ninputs; i++)
		w->needed[g->input[i]] = true;
	for (uint32_t i = 0; i < g->noutputs; i++)
		w->needed[w->alias[g->output[i]]] = true;
	for (uint32_t i = 0; i < g->ncalls; i++)
		settle_call(w, &g->call[i]);
	for (value_id v = 0; v < g->nvalues; v++) {
		map[v] = VALUE_NONE;
		if (!w->needed[v]) {
			settle_initialiser(w, v);
			continue;
		}
		map[v] = kept;
		g->value[kept++] = g->value[v];
	}
	g->nvalues = kept;
	g->input = renamed(g, g->input, g->ninputs, map);
	g->output = renamed(g, g->output, g->noutputs, map);
	rename_captures(g, map, w->needed);
	for (uint32_t i = 0; i < g->ncalls; i++) {
		struct node *n = &g->call[i].node;

		rename(n->input, n->ninputs, map);
		rename(n->output, n->noutputs, map);
	}
	for (node_id id = 0; id < g->nnodes; id++) {
		struct node *n = &g->node[id];

		n->input = renamed(g, n->input, n->ninputs + n->nimplicit, map);
		n->output = renamed(g, n->output, n->noutputs, map);
	}
}

static void
substitute_outputs(struct sweeping *w)
{
	struct graph *g = w->g;
	value_id *output = arena_new(g->arena, value_id, g->noutputs);

	for (uint32_t i = 0; i < g->noutputs; i++)
		output[i] = w->alias[g->output[i]];
	g->output = output;
}

void
sweep(struct graph *g, const value_id *alias, struct arena *scratch)
{
	struct sweeping w = {
	    .g = g,
	    .alias = alias,
	    .needed = arena_new(scratch, bool, g->nvalues),
	    .live = arena_new(scratch, bool, g->nnodes),
	    .reader = arena_new(scratch, const struct origin *, g->nvalues),
	    .gone = arena_new(scratch, const struct value *, g->nvalues),
	};

	mark_live(&w);
	keep_live(&w);
	substitute_outputs(&w);
	compact_values(&w, scratch);
}
