/* The interpreter: a graph's nodes one after the other, each node's outputs in
 * an arena of their own that goes when the last user has run (of strings, when
 * all have). */
#include "targets/host/run.h"

#include <assert.h>
#include <string.h>

#include "ir/base/file_guard.h"
#include "targets/host/eval.h"
#include "targets/host/host.h"

struct run {
	const struct graph *graph;
	struct arena *scratch; /* of this run's bookkeeping */
	struct tensor *value; /* [nvalues] */
	bool *known; /* [nvalues] */
	struct arena *outputs; /* [nnodes] */
	uint32_t *waits; /* [nnodes]: uses of its outputs still to come */
	uint32_t depth;
};

static void
set_value(struct run *r, value_id v, const struct tensor *t)
{
	r->value[v] = *t;
	r->known[v] = true;
}

static void
bind_inputs(struct run *r, const struct tensor *in,
    const struct tensor *const *captured)
{
	const struct graph *g = r->graph;

	for (uint32_t v = 0; v < g->nvalues; v++)
		if (g->value[v].constant)
			set_value(r, v, g->value[v].constant);
	for (uint32_t i = 0; i < g->ninputs; i++)
		set_value(r, g->input[i], &in[i]);
	for (uint32_t i = 0; i < g->ncaptures; i++)
		if (captured[g->capture[i].slot])
			set_value(r, g->capture[i].inner,
			    captured[g->capture[i].slot]);
}

static void
count_waits(struct run *r)
{
	const struct graph *g = r->graph;

	for (node_id n = 0; n < g->nnodes; n++) {
		const struct node *node = &g->node[n];

		for (uint32_t i = 0; i < node->ninputs + node->nimplicit; i++) {
			value_id v = node->input[i];

			if (v != VALUE_NONE
			    && g->value[v].producer != NODE_NONE)
				r->waits[g->value[v].producer]++;
		}
	}
	for (uint32_t i = 0; i < g->noutputs; i++)
		if (g->value[g->output[i]].producer != NODE_NONE)
			r->waits[g->value[g->output[i]].producer]++;
}

/* May other values refer to characters of this one? */
static bool
holds_characters(const struct tensor *t)
{
	return t->kind == TENSOR_STRINGS
	    || (t->kind == TENSOR_SEQUENCE && t->nitems > 0
	        && holds_characters(&t->item[0]));
}

static void
release_outputs(struct run *r, node_id id)
{
	const struct node *node = &r->graph->node[id];

	for (uint32_t i = 0; i < node->noutputs; i++) {
		const value_id v = node->output[i];

		if (v != VALUE_NONE && r->known[v]
		    && holds_characters(&r->value[v]))
			return;
	}
	arena_release(&r->outputs[id]);
}

/* TUNING: for less the kernel is not asked. */
#define LET_GO_LEAST ((size_t)1 << 20)

/* Weights in their file are read once, where this is no loop's body; a plan may
 * hold packed copies of them meanwhile. */
static void
let_go_of_weights(const struct run *r, value_id v)
{
	const struct tensor *t =
	    v == VALUE_NONE ? NULL : r->graph->value[v].constant;

	if (t && t->kind == TENSOR_VIEW && t->bytes >= LET_GO_LEAST
	    && r->depth == 0)
		file_guard_let_go(t->data, t->bytes);
}

/* Node n has run: what only it was waited for by can go. */
static void
release_inputs(struct run *r, const struct node *node)
{
	for (uint32_t i = 0; i < node->ninputs + node->nimplicit; i++) {
		value_id v = node->input[i];
		node_id from =
		    v == VALUE_NONE ? NODE_NONE : r->graph->value[v].producer;

		let_go_of_weights(r, v);
		if (from != NODE_NONE && --r->waits[from] == 0)
			release_outputs(r, from);
	}
}

static bool
run_node(struct run *r, node_id id, struct err *err)
{
	const struct graph *g = r->graph;
	const struct node *node = &g->node[id];
	uint32_t nin = node->ninputs + node->nimplicit;
	struct arena_mark mark = arena_mark(r->scratch);
	const struct tensor **in =
	    arena_new(r->scratch, const struct tensor *, nin);
	struct tensor *out =
	    arena_new(r->scratch, struct tensor, node->noutputs);
	struct arena scratch;
	struct call c = {.graph = g,
	    .node = node,
	    .in = in,
	    .out = out,
	    .arena = &r->outputs[id],
	    .scratch = &scratch,
	    .depth = r->depth};
	bool done;

	for (uint32_t i = 0; i < nin; i++) {
		value_id v = node->input[i];

		in[i] = v != VALUE_NONE && r->known[v] ? &r->value[v] : NULL;
	}
	arena_init(&scratch);
	done = host_call(&c, err);
	arena_release(&scratch);
	for (uint32_t i = 0; done && i < node->noutputs; i++)
		if (call_wants(&c, i))
			set_value(r, node->output[i], &out[i]);
	arena_back(r->scratch, mark);
	if (!done)
		return err_in(err, "node '%s' (#%u)", node->name, id);
	release_inputs(r, node);
	if (r->waits[id] == 0)
		release_outputs(r, id);
	return true;
}

static bool
run_nodes(struct run *r, struct tensor *out, struct arena *a, struct err *err)
{
	const struct graph *g = r->graph;

	/* a constant output that was folded still has a producer's place */
	for (node_id n = 0; n < g->nnodes; n++)
		if (!run_node(r, n, err))
			return false;
	for (uint32_t i = 0; i < g->noutputs; i++) {
		value_id v = g->output[i];

		if (!r->known[v])
			return err_set(err, ERR_INPUT,
			    "output '%s' has no value", g->value[v].name);
		out[i] = tensor_copy(&r->value[v], a);
	}
	return true;
}

bool
graph_run(const struct graph *g, const struct tensor *in,
    const struct tensor *const *captured, uint32_t depth, struct tensor *out,
    struct arena *a, struct err *err)
{
	struct arena scratch;
	struct run r = {.graph = g, .scratch = &scratch, .depth = depth};
	bool done;

	if (depth > RUN_DEPTH)
		return err_set(err, ERR_UNSUPPORTED,
		    "sub-graphs nested deeper than %u", RUN_DEPTH);
	arena_init(&scratch);
	r.value = arena_new(&scratch, struct tensor, g->nvalues);
	r.known = arena_new(&scratch, bool, g->nvalues);
	r.outputs = arena_new(&scratch, struct arena, g->nnodes);
	r.waits = arena_new(&scratch, uint32_t, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		arena_init(&r.outputs[n]);
	bind_inputs(&r, in, captured);
	count_waits(&r);
	done = run_nodes(&r, out, a, err);
	for (node_id n = 0; n < g->nnodes; n++)
		arena_release(&r.outputs[n]);
	arena_release(&scratch);
	return done;
}

bool
host_run(const struct graph *g, const struct tensor *in, struct tensor *out,
    struct arena *a, struct err *err)
{
	return graph_run(g, in, NULL, 0, out, a, err);
}
