#include "emit/regions.h"

#include <string.h>

#include "emit/qdq.h"
#include "ir/base/map.h"
#include "ir/cut.h"
#include "plan/marks.h"

static uint32_t
default_opset(const struct model *m)
{
	for (uint32_t i = 0; i < m->nopsets; i++)
		if (*m->opset[i].domain == '\0')
			return m->opset[i].version;
	return 1;
}

/* What is written: the plan's graph, with quantisers where regions compute in 8
 * bits. Ids of the plan's are ids of it. */
static const struct graph *
written_graph(const struct emit_work *w)
{
	return w->qdq ? w->qdq->graph : w->graph;
}

/* The region's nodes in the order of its composites. */
static const node_id *
nodes_of(const struct emit_work *w, const struct plan_region *r, uint32_t *n,
    struct arena *a)
{
	const uint32_t region = (uint32_t)(r - w->plan->region);
	node_id *node;

	*n = 0;
	if (w->qdq && w->qdq->node[region]) {
		*n = w->qdq->nnodes[region];
		return w->qdq->node[region];
	}
	node = arena_new(a, node_id, w->graph->nnodes);
	for (uint32_t i = 0; i < r->ncomposites; i++) {
		const struct candidate *c =
		    plan_candidate(w->plan, r->first + i);

		memcpy(&node[*n], c->node, c->nnodes * sizeof *node);
		*n += c->nnodes;
	}
	return node;
}

/* Does a branch that cannot be taken stand in a node of g? */
static bool
has_branch_as_read(const struct graph *g)
{
	const struct graph *body;

	for (node_id id = 0; id < g->nnodes; id++)
		for (uint32_t k = 0;
		     (body = node_body(&g->node[id], k)) != NULL; k++)
			if (body->as_read || has_branch_as_read(body))
				return true;
	return false;
}

/* A branch that cannot be taken is valid as long as the sizes for which it
 * cannot are left open; who reads the model need not know better. */
static void
leave_sizes_open(struct graph *g)
{
	if (!has_branch_as_read(g))
		return;
	for (value_id v = 0; v < g->nvalues; v++) {
		struct type *t = &g->value[v].type;
		int64_t *dim;

		if (g->value[v].constant || t->kind != TYPE_TENSOR
		    || t->rank == RANK_UNKNOWN)
			continue;
		dim = arena_new(g->arena, int64_t, t->rank);
		for (uint32_t i = 0; i < t->rank; i++)
			dim[i] = DIM_UNKNOWN;
		t->dim = dim;
	}
}

struct graph *
region_graph(const struct emit_work *w, uint32_t region, size_t inline_max,
    struct arena *a)
{
	const struct plan_region *r = &w->plan->region[region];
	struct graph_part part = {
	    .name = w->region[region],
	    .ninputs = r->ninputs,
	    .noutputs = r->noutputs,
	    .input = ports_values(r->input, r->ninputs, a),
	    .output = ports_values(r->output, r->noutputs, a),
	    .inline_max = inline_max,
	    .opset = default_opset(w->in->model),
	};
	struct graph *g;

	part.node = nodes_of(w, r, &part.nnodes, a);
	g = graph_cut(written_graph(w), &part, a);
	leave_sizes_open(g);
	return g;
}

/* Ids of `g` by name, of what crosses region boundaries. */
static value_id *
outer_values(const struct map *names, const struct graph *body,
    const value_id *inner, uint32_t n, struct arena *a)
{
	value_id *out = arena_new(a, value_id, n);

	for (uint32_t i = 0; i < n; i++) {
		const char *name = body->value[inner[i]].name;

		out[i] = map_find(names, name, strlen(name));
	}
	return out;
}

static void
add_call(struct graph *g, const struct map *names, const struct graph *body)
{
	struct node call = {
	    .op = OP_CUSTOM,
	    .op_type = body->name,
	    .domain = REGION_DOMAIN,
	    .opset = 1,
	    .name = body->name,
	    .ninputs = body->ninputs,
	    .noutputs = body->noutputs,
	};

	call.input =
	    outer_values(names, body, body->input, body->ninputs, g->arena);
	call.output =
	    outer_values(names, body, body->output, body->noutputs, g->arena);
	graph_add_node(g, &call);
}

static void
add_host_nodes(struct graph *g, const struct emit_work *w, uint32_t region)
{
	const struct plan_region *r = &w->plan->region[region];

	for (uint32_t i = 0; i < r->ncomposites; i++) {
		const struct candidate *c =
		    plan_candidate(w->plan, r->first + i);

		for (uint32_t k = 0; k < c->nnodes; k++)
			graph_add_node(g, &written_graph(w)->node[c->node[k]]);
	}
}

struct graph *
main_graph(
    const struct emit_work *w, const struct graph *const *body, struct arena *a)
{
	const struct graph *from = written_graph(w);
	struct graph *g = graph_new(a, from->name);
	struct map names;

	map_init(&names, a);
	g->origin_table = from->origin_table; /* for what nodes were remarked */
	g->symbol = from->symbol;
	g->nsymbols = from->nsymbols;
	g->input = from->input;
	g->ninputs = from->ninputs;
	g->output = from->output;
	g->noutputs = from->noutputs;
	g->value = arena_copy(a, from->value, from->nvalues * sizeof *g->value);
	g->nvalues = g->value_cap = from->nvalues;
	for (value_id v = 0; v < g->nvalues; v++) {
		g->value[v].producer = NODE_NONE;
		map_add(&names, g->value[v].name, strlen(g->value[v].name), v);
	}
	for (uint32_t i = 0; i < w->plan->nregions; i++) {
		if (emit_region_is_host(w, i))
			add_host_nodes(g, w, i);
		else
			add_call(g, &names, body[i]);
	}
	leave_sizes_open(g);
	return g;
}
