#include "emit/source_map.h"

#include <stdlib.h>
#include <string.h>

#include "emit/layers.h"

/* Bodies still to be walked, each with the main graph's node that owns it. */
struct body_walk {
	struct arena *arena;
	struct pending {
		const struct graph *graph;
		node_id owner;
	} * pending;
	uint32_t npending, pending_cap;
	const struct onnx_nodes *table;
	struct link_list {
		struct map_link *link;
		uint32_t n, cap;
	} nodes, parts;
	struct map_reader *reader;
	uint32_t nreaders, reader_cap;
};

static void
add_reader(struct body_walk *k, const struct map_reader *r)
{
	k->reader = arena_grow(k->arena, k->reader, &k->reader_cap,
	    k->nreaders + 1, sizeof *k->reader);
	k->reader[k->nreaders++] = *r;
}

static void
add_readers(struct body_walk *k, const struct graph *g, const struct node *n,
    node_id owner, bool inside)
{
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++)
		if (n->input[i] != VALUE_NONE && g->value[n->input[i]].given_by)
			add_reader(k,
			    &(struct map_reader){
			        .initialiser =
			            g->value[n->input[i]].given_by - 1,
			        .node = owner,
			        .inside = inside});
}

static void
add_link(struct body_walk *k, struct link_list *l, struct map_link link)
{
	l->link =
	    arena_grow(k->arena, l->link, &l->cap, l->n + 1, sizeof *l->link);
	l->link[l->n++] = link;
}

/* What a node is to the part it comes from: the operator that stands there, or
 * one of several that were written in its place. */
static enum role
part_role(
    const struct node *n, const struct origin *o, const struct onnx_node *part)
{
	if (o->role == ROLE_SYNTHESIZED)
		return o->role;
	return strcmp(n->op_type, part->op_type) == 0
	        && strcmp(n->domain, part->domain) == 0
	    ? ROLE_KEPT
	    : ROLE_SPLIT;
}

/* With its part all inner calls around that. */
static void
add_links(struct body_walk *k, const struct node *n, node_id owner, bool inside)
{
	for (uint32_t i = 0; i < n->norigins; i++) {
		const struct origin *o = &n->origin[i];
		enum role role = o->role;

		add_link(k, &k->nodes,
		    (struct map_link){o->onnx, owner, role, inside});
		for (uint32_t p = o->part; p && p <= k->table->nparts;
		     p = k->table->part[p - 1].within) {
			role = p == o->part
			    ? part_role(n, o, &k->table->part[p - 1].node)
			    : ROLE_SPLIT;
			add_link(k, &k->parts,
			    (struct map_link){p - 1, owner, role, inside});
		}
	}
}

static void
add_bodies(struct body_walk *k, const struct node *n, node_id owner)
{
	struct graph *body;

	for (uint32_t i = 0; (body = node_body(n, i)) != NULL; i++) {
		k->pending = arena_grow(k->arena, k->pending, &k->pending_cap,
		    k->npending + 1, sizeof *k->pending);
		k->pending[k->npending++] = (struct pending){body, owner};
	}
}

static void
walk_graph(struct body_walk *k, const struct graph *g)
{
	for (node_id i = 0; i < g->nnodes; i++) {
		add_links(k, &g->node[i], i, false);
		add_readers(k, g, &g->node[i], i, false);
		add_bodies(k, &g->node[i], i);
	}
	while (k->npending > 0) {
		struct pending at = k->pending[--k->npending];

		for (node_id i = 0; i < at.graph->nnodes; i++) {
			const struct node *n = &at.graph->node[i];

			add_links(k, n, at.owner, true);
			add_readers(k, at.graph, n, at.owner, true);
			add_bodies(k, n, at.owner);
		}
	}
}

static int
by_onnx(const void *a, const void *b)
{
	const struct map_link *x = a, *y = b;

	if (x->onnx != y->onnx)
		return x->onnx < y->onnx ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->inside != y->inside)
		return x->inside ? 1 : -1;
	return (int)x->role - (int)y->role;
}

static int
by_initialiser(const void *a, const void *b)
{
	const struct map_reader *x = a, *y = b;

	if (x->initialiser != y->initialiser)
		return x->initialiser < y->initialiser ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->inside != y->inside)
		return x->inside ? 1 : -1;
	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return (int)x->constant - (int)y->constant;
}

/* Which constants of backends initialisers are part of. */
static void
add_constants(
    struct body_walk *k, const struct source_map *m, const struct graph *g)
{
	for (uint32_t i = 0; i < m->nlayers; i++) {
		const struct toolchain_layer *l = &m->layer[i].layer;

		for (uint32_t c = 0; c < l->nconstants; c++)
			for (uint32_t v = 0; v < l->constant[c].nvalues; v++) {
				value_id id = l->constant[c].value[v];

				if (g->value[id].given_by)
					add_reader(k,
					    &(struct map_reader){
					        .initialiser =
					            g->value[id].given_by - 1,
					        .node = NODE_NONE,
					        .layer = i,
					        .constant = c});
			}
	}
}

/* Each reader once. */
static void
sort_readers(struct source_map *m, struct body_walk *k)
{
	uint32_t kept = 0;

	if (k->nreaders > 0)
		qsort(
		    k->reader, k->nreaders, sizeof *k->reader, by_initialiser);
	for (uint32_t i = 0; i < k->nreaders; i++)
		if (i == 0
		    || by_initialiser(&k->reader[kept - 1], &k->reader[i]) != 0)
			k->reader[kept++] = k->reader[i];
	m->nreaders = kept;
	m->reader = k->reader;
}

static const bool *
find_outputs(const struct graph *g, struct arena *a)
{
	const struct onnx_nodes *table = g->origin_table;
	bool *out = arena_new(a, bool, table ? table->ninitialisers : 0);

	for (uint32_t i = 0; i < g->noutputs; i++)
		if (g->value[g->output[i]].given_by)
			out[g->value[g->output[i]].given_by - 1] = true;
	return out;
}

static bool
check_fate(const struct onnx_node *n, bool carried, struct err *err)
{
	if (carried == (n->fate == FATE_COVERED))
		return true;
	return err_set(err, ERR_INTERNAL, "onnx node %u '%s' (%s): %s, but %s",
	    n->index, n->name, n->op_type, fate_text(n->fate),
	    carried ? "a node carries it" : "no node carries it");
}

/* Sorted, each once; false: one is of a node that the table lacks. */
static bool
sort_links(struct map_links *to, struct link_list *l, uint32_t ntable,
    struct arena *a, struct err *err)
{
	uint32_t *start = arena_new(a, uint32_t, (size_t)ntable + 1);
	uint32_t kept = 0;

	if (l->n > 0)
		qsort(l->link, l->n, sizeof *l->link, by_onnx);
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->link[i].onnx >= ntable)
			return err_set(err, ERR_INTERNAL,
			    "node %u comes from onnx node %u of %u",
			    l->link[i].node, l->link[i].onnx, ntable);
		if (kept && by_onnx(&l->link[kept - 1], &l->link[i]) == 0)
			continue;
		l->link[kept++] = l->link[i];
		start[l->link[i].onnx + 1]++;
	}
	for (uint32_t i = 0; i < ntable; i++)
		start[i + 1] += start[i];
	*to = (struct map_links){kept, l->link, start};
	return true;
}

static bool
is_linked(const struct map_links *l, uint32_t i)
{
	return l->start[i + 1] > l->start[i];
}

static bool
link_nodes(struct source_map *m, struct body_walk *k, const struct emit_work *w,
    struct err *err)
{
	static const struct onnx_nodes none;
	const struct onnx_nodes *table =
	    w->graph->origin_table ? w->graph->origin_table : &none;

	k->table = table;
	walk_graph(k, w->graph);
	if (!sort_links(&m->nodes, &k->nodes, table->n, w->arena, err)
	    || !sort_links(&m->parts, &k->parts, table->nparts, w->arena, err))
		return false;
	for (uint32_t i = 0; i < table->n; i++) {
		if (!check_fate(&table->node[i], is_linked(&m->nodes, i), err))
			return false;
		m->count[table->node[i].fate]++;
	}
	for (uint32_t i = 0; i < table->nparts; i++)
		if (!check_fate(
		        &table->part[i].node, is_linked(&m->parts, i), err))
			return false;
	return true;
}

/* Regions the toolchain refuses have no layers; write_toolchain() says why. */
static bool
add_layers(struct source_map *m, uint32_t *cap, const struct emit_work *w,
    uint32_t region, struct err *err)
{
	const struct known_layers *known = emit_layers(w, region, err);

	if (!known)
		return false;
	m->layer = arena_grow(w->arena, m->layer, cap,
	    m->nlayers + known->layers.n, sizeof *m->layer);
	for (uint32_t i = 0; i < known->layers.n; i++)
		m->layer[m->nlayers++] = (struct map_layer){.region = region,
		    .index = i + 1,
		    .index_name = known->index_name,
		    .layer = known->layers.layer[i]};
	return true;
}

bool
source_map_init(
    struct source_map *m, const struct emit_work *w, struct err *err)
{
	struct body_walk k = {.arena = w->arena};
	uint32_t cap = 0;

	*m = (struct source_map){0};
	scopes_init(&m->scopes, w->graph->origin_table, w->arena);
	if (!link_nodes(m, &k, w, err))
		return false;
	for (uint32_t i = 0; i < w->plan->nregions; i++)
		if (!add_layers(m, &cap, w, i, err))
			return false;
	add_constants(&k, m, w->graph);
	sort_readers(m, &k);
	m->is_output = find_outputs(w->graph, w->arena);
	return true;
}

const char *
role_text(enum role r)
{
	static const char *const text[] = {
	    [ROLE_KEPT] = "kept",
	    [ROLE_FUSED] = "fused",
	    [ROLE_SPLIT] = "split",
	    [ROLE_SYNTHESIZED] = "synthesized",
	};

	return text[r];
}

const char *
fate_text(enum fate f)
{
	static const char *const text[] = {
	    [FATE_COVERED] = "covered",
	    [FATE_FOLDED] = "folded",
	    [FATE_DROPPED] = "dropped",
	};

	return text[f];
}
