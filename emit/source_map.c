#include "emit/source_map.h"

#include <stdlib.h>

#include "emit/layers.h"

/* Bodies still to be walked, each with the main graph's node that owns it. */
struct body_walk {
	struct arena *arena;
	struct pending {
		const struct graph *graph;
		node_id owner;
	} * pending;
	uint32_t npending, pending_cap;
	struct map_link *link;
	uint32_t nlinks, link_cap;
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
add_links(struct body_walk *k, const struct node *n, node_id owner, bool inside)
{
	k->link = arena_grow(k->arena, k->link, &k->link_cap,
	    k->nlinks + n->norigins, sizeof *k->link);
	for (uint32_t i = 0; i < n->norigins; i++)
		k->link[k->nlinks++] = (struct map_link){
		    n->origin[i].onnx, owner, n->origin[i].role, inside};
}

static void
add_bodies(struct body_walk *k, const struct node *n, node_id owner)
{
	for (uint32_t i = 0; i < n->nattrs; i++) {
		const struct attr *attr = &n->attr[i];

		if (attr->kind != ATTR_GRAPH && attr->kind != ATTR_GRAPHS)
			continue;
		k->pending = arena_grow(k->arena, k->pending, &k->pending_cap,
		    k->npending + attr->n, sizeof *k->pending);
		for (uint32_t b = 0; b < attr->n; b++)
			k->pending[k->npending++] =
			    (struct pending){attr->graphs[b], owner};
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
count_fates(struct source_map *m, const struct onnx_nodes *table,
    const uint32_t *start, struct err *err)
{
	for (uint32_t i = 0; i < table->n; i++) {
		const struct onnx_node *n = &table->node[i];
		bool carried = start[i + 1] > start[i];

		if (carried != (n->fate == FATE_COVERED))
			return err_set(err, ERR_INTERNAL,
			    "onnx node %u '%s' (%s): %s, but %s", n->index,
			    n->name, n->op_type, fate_text(n->fate),
			    carried ? "a node carries it"
			            : "no node carries it");
		m->count[n->fate]++;
	}
	return true;
}

static bool
link_nodes(struct source_map *m, struct body_walk *k, const struct emit_work *w,
    struct err *err)
{
	static const struct onnx_nodes none;
	const struct onnx_nodes *table =
	    w->graph->origin_table ? w->graph->origin_table : &none;
	uint32_t *start = arena_new(w->arena, uint32_t, (size_t)table->n + 1);

	walk_graph(k, w->graph);
	if (k->nlinks > 0)
		qsort(k->link, k->nlinks, sizeof *k->link, by_onnx);
	for (uint32_t i = 0; i < k->nlinks; i++) {
		if (k->link[i].onnx >= table->n)
			return err_set(err, ERR_INTERNAL,
			    "node %u comes from onnx node %u of %u",
			    k->link[i].node, k->link[i].onnx, table->n);
		start[k->link[i].onnx + 1]++;
	}
	for (uint32_t i = 0; i < table->n; i++)
		start[i + 1] += start[i];
	m->link = k->link;
	m->nlinks = k->nlinks;
	m->start = start;
	return count_fates(m, table, start, err);
}

/* Regions the toolchain refuses have no layers; write_toolchain() says why. */
static bool
add_layers(struct source_map *m, uint32_t *cap, const struct emit_work *w,
    uint32_t region, struct err *err)
{
	const struct toolchain *toolchain = emit_toolchain(w, region);
	struct toolchain_region r = emit_toolchain_region(w, region);
	struct toolchain_layers layers;

	if (!toolchain->layers(&layers, &r, w->arena, err)) {
		if (err->kind != ERR_UNSUPPORTED)
			return false;
		err_clear(err);
		return true;
	}
	m->layer = arena_grow(
	    w->arena, m->layer, cap, m->nlayers + layers.n, sizeof *m->layer);
	for (uint32_t i = 0; i < layers.n; i++)
		m->layer[m->nlayers++] = (struct map_layer){.region = region,
		    .index = i + 1,
		    .index_name = toolchain->layer_index,
		    .layer = layers.layer[i]};
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
		if (emit_toolchain(w, i) && !add_layers(m, &cap, w, i, err))
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
