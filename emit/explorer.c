/* What Model Explorer shows on the nodes of the user's model, a file for each: it is
 * loaded beside the model. SOURCE: Model Explorer's types.ts, NodeDataProviderData:
 * by graph, then by node as its ONNX adapter (model-explorer-onnx 0.4.2) names it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emit/source_map.h"
#include "emit/writers.h"
#include "ir/base/buf.h"
#include "ir/base/json.h"
#include "ir/base/map.h"

struct explorer {
	const struct emit_work *w;
	struct source_map map;
	struct json j;
	const char **reason; /* [nnodes] of the graph; or NULL */
	const char **key; /* of each of the user's nodes; NULL: in a body */
	uint32_t *shown; /* [ncomposites] the user's nodes that show it */
};

/* ---- values ---- */

static const char *const colours[] = {
    "#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#9c755f"};

static void
write_target(struct explorer *x, uint32_t composite)
{
	uint32_t region = x->w->plan->composite[composite].region;
	uint32_t target = x->w->plan->region[region].target;

	json_key_str(&x->j, "value", emit_target(x->w, region)->text);
	json_key_str(&x->j, "bgColor",
	    colours[target % (sizeof colours / sizeof colours[0])]);
}

static void
write_region(struct explorer *x, uint32_t composite)
{
	json_key_str(&x->j, "value",
	    x->w->region[x->w->plan->composite[composite].region]);
}

/* A node's share, so that sums over layers are right. */
static void
write_cost(struct explorer *x, uint32_t composite)
{
	cost_ns cost = x->w->plan->composite[composite].cost;

	json_key_real(&x->j, "value",
	    cost == COST_NEVER ? 0 : (double)cost / x->shown[composite]);
}

/* ---- reasons ---- */

static const char *
why_not(const struct explorer *x, const struct opportunity *o)
{
	struct arena *a = x->w->arena;
	const char *target = x->w->plan->mix->target[o->target].text;
	const char *text = "";

	if (o->obstacle == OBSTACLE_NO_RULE)
		return arena_printf(a, "%s: no rule for it", target);
	if (o->obstacle == OBSTACLE_COST)
		return arena_printf(a, "%s: legal, and costlier here", target);
	for (uint32_t i = 0; i < o->refusal->nreasons; i++)
		if (refusal_names(o->refusal, i))
			text = arena_printf(a, "%s%s%s must be %s", text,
			    *text ? ", " : "", o->refusal->reason[i].condition,
			    o->refusal->reason[i].required);
	return arena_printf(a, "%s: %s", target, text);
}

static void
find_reasons(struct explorer *x)
{
	const struct opportunities *list = x->w->in->opportunities;

	x->reason = arena_new(x->w->arena, const char *, x->w->graph->nnodes);
	for (uint32_t i = 0; list && i < list->n; i++) {
		const struct opportunity *o = &list->item[i];
		const char *text = why_not(x, o);

		for (uint32_t k = 0; k < o->nnodes; k++) {
			const char **at = &x->reason[o->node[k]];

			*at = *at
			    ? arena_printf(x->w->arena, "%s; %s", *at, text)
			    : text;
		}
	}
}

/* ---- files ---- */

struct explorer_file {
	const char *name, *title;
	void (*write)(
	    struct explorer *x, uint32_t composite); /* NULL: reason */
	bool gradient;
};

static const struct explorer_file files[] = {
    {"target", "marq: target", write_target, false},
    {"region", "marq: region", write_region, false},
    {"cost", "marq: cost, ns", write_cost, true},
    {"reason", "marq: why not elsewhere", NULL, false},
};

/* The graph's node that stands for one of the user's; NODE_NONE: none does, or it is
 * not in the main graph. */
static node_id
node_of(const struct explorer *x, uint32_t onnx)
{
	const struct onnx_node *n = &x->w->graph->origin_table->node[onnx];

	return *n->path || n->fate != FATE_COVERED || n->noutputs == 0
	    ? NODE_NONE
	    : x->map.nodes.link[x->map.nodes.start[onnx]].node;
}

/* How Model Explorer's ONNX adapter names nodes. SOURCE: onnx-ir 1.1's
 * NameFixPass: "node" where there is no name, and BASE_1, BASE_2 for the second
 * and third of a name; bodies, which come after their node, count on. */
struct namer {
	struct map used, bases;
	uint32_t *count; /* by base */
	uint32_t *inside; /* by main node: names that its bodies count */
	struct arena *a;
};

static uint32_t *
count_of(struct namer *m, const char *base)
{
	const uint32_t n = m->bases.nkeys;

	return &m->count[map_add(&m->bases, base, strlen(base), n)];
}

static const char *
name_next(struct namer *m, const char *base)
{
	const char *name = base;

	while (map_find(&m->used, name, strlen(name)) != MAP_NONE)
		name = arena_printf(
		    m->a, "%s_%" PRIu32, base, ++*count_of(m, base));
	map_put(&m->used, name, strlen(name), 0);
	return name;
}

/* Of each body the first without a name is "node", and counts nothing. */
static void
count_inside(struct namer *m, const struct onnx_nodes *table)
{
	const char *last = "";

	for (uint32_t i = 0; i < table->n; i++) {
		const struct onnx_node *n = &table->node[i];
		const char *number = strchr(n->path, '/');

		if (!number || *n->name)
			continue;
		while (number > n->path && *number != '_')
			number--;
		if (strcmp(n->path, last) == 0)
			m->inside[strtoul(number + 1, NULL, 10) % table->n]++;
		last = n->path;
	}
}

static void
name_keys(struct explorer *x)
{
	const struct onnx_nodes *table = x->w->graph->origin_table;
	const uint32_t n = table ? table->n : 0;
	struct namer m = {.a = x->w->arena};

	x->key = arena_new(m.a, const char *, n);
	m.count = arena_new(m.a, uint32_t, (size_t)n + 1);
	m.inside = arena_new(m.a, uint32_t, n);
	map_init(&m.used, m.a);
	map_init(&m.bases, m.a);
	if (n)
		count_inside(&m, table);
	for (uint32_t i = 0; i < n; i++) {
		const struct onnx_node *node = &table->node[i];

		if (*node->path)
			continue;
		x->key[i] = name_next(&m, *node->name ? node->name : "node");
		*count_of(&m, "node") += m.inside[node->index % n];
	}
}

static void
count_shown(struct explorer *x)
{
	const struct onnx_nodes *table = x->w->graph->origin_table;
	const struct plan *p = x->w->plan;

	x->shown = arena_new(x->w->arena, uint32_t, p->ncomposites);
	for (uint32_t i = 0; table && i < table->n; i++)
		if (node_of(x, i) != NODE_NONE)
			x->shown[p->composite_of[node_of(x, i)]]++;
}

static void
write_node(struct explorer *x, const struct explorer_file *file, uint32_t onnx)
{
	node_id node = node_of(x, onnx);

	if (node == NODE_NONE || (!file->write && !x->reason[node]))
		return;
	json_key(&x->j, x->key[onnx]);
	json_inline_object(&x->j);
	if (file->write)
		file->write(x, x->w->plan->composite_of[node]);
	else
		json_key_str(&x->j, "value", x->reason[node]);
	json_close(&x->j);
}

static void
write_gradient(struct json *j)
{
	static const char *const end[] = {"#ffffff", "#e15759"};

	json_key(j, "gradient");
	json_array(j);
	for (uint32_t i = 0; i < 2; i++) {
		json_inline_object(j);
		json_key_uint(j, "stop", i);
		json_key_str(j, "bgColor", end[i]);
		json_close(j);
	}
	json_close(j);
}

static void
write_file(struct explorer *x, FILE *f, const struct explorer_file *file)
{
	const struct onnx_nodes *table = x->w->graph->origin_table;

	json_init(&x->j, f, 1);
	json_object(&x->j);
	json_key(&x->j, *x->w->graph->name ? x->w->graph->name : "<main>");
	json_object(&x->j);
	json_key_str(&x->j, "name", file->title);
	json_key(&x->j, "results");
	json_object(&x->j);
	for (uint32_t i = 0; table && i < table->n; i++)
		write_node(x, file, i);
	json_close(&x->j);
	if (file->gradient)
		write_gradient(&x->j);
	json_close(&x->j);
	json_close(&x->j);
}

bool
write_explorer(
    const struct emit_work *w, const struct outdir *o, struct err *err)
{
	struct explorer x = {.w = w};

	if (!source_map_init(&x.map, w, err))
		return false;
	find_reasons(&x);
	name_keys(&x);
	count_shown(&x);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const char *name = arena_printf(
		    w->arena, "model-explorer/%s.json", files[i].name);
		FILE *f = out_open(o, name, w->arena, err);

		if (!f)
			return false;
		write_file(&x, f, &files[i]);
		if (!out_close(f, name, err))
			return false;
	}
	return true;
}
