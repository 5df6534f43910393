#include "emit/qdq.h"
#include "emit/package.h"
#include "emit/source_map.h"
#include "emit/writers.h"

#include <inttypes.h>
#include <string.h>

#include "ir/base/buf.h"
#include "ir/base/hash.h"
#include "ir/base/json.h"

static void
write_ids(struct json *j, const char *key, const uint32_t *id, uint32_t n)
{
	json_key(j, key);
	json_inline_array(j);
	for (uint32_t i = 0; i < n; i++)
		json_uint(j, id[i]);
	json_close(j);
}

/* What stays the same when other nodes come and go: of the graph it is in and its
 * first output, which is unique there; of a part, of the call it is in as well. */
static uint64_t
stable_id(const struct onnx_node *n, uint64_t call)
{
	struct buf b;
	uint64_t id;

	buf_init(&b);
	buf_add(&b, n->path, strlen(n->path) + 1);
	if (n->noutputs && *n->outputs[0])
		buf_str(&b, n->outputs[0]);
	else
		buf_printf(&b, "#%u %s", n->index, n->name);
	id = hash64(b.data, b.n, call);
	buf_release(&b);
	return id;
}

/* Of each part; calls come before their bodies. */
static const uint64_t *
part_ids(const struct onnx_nodes *table, struct arena *a)
{
	uint64_t *id = arena_new(a, uint64_t, table->nparts);

	for (uint32_t i = 0; i < table->nparts; i++) {
		const struct onnx_part *p = &table->part[i];

		id[i] = stable_id(&p->node,
		    p->within ? id[p->within - 1]
		              : stable_id(&table->node[p->call], 0));
	}
	return id;
}

/* What became of that which something was folded into. */
static struct origin
destination(const struct onnx_nodes *table, uint32_t into, uint32_t part)
{
	struct origin at = {.onnx = into, .part = part};

	for (uint32_t i = 0; i < table->n + table->nparts && at.onnx < table->n;
	     i++) {
		const struct onnx_node *n = origin_node(table, &at);

		if (n->fate != FATE_FOLDED)
			break;
		at = (struct origin){.onnx = n->into, .part = n->into_part};
	}
	return at;
}

static void
write_fate(struct json *j, const struct onnx_nodes *table, enum fate fate,
    uint32_t into, uint32_t into_part)
{
	const struct origin at = destination(table, into, into_part);

	if (fate != FATE_FOLDED || at.onnx == NODE_NONE)
		return;
	json_key_uint(j, "into", at.onnx);
	if (at.part)
		json_key_uint(j, "into_part", at.part - 1);
}

/* What the author wrote, and where. */
static void
write_author(struct json *j, const struct onnx_node *n, uint64_t stable)
{
	json_key(j, "stable");
	json_strf(j, "%016" PRIx64, stable);
	json_key_str(j, "graph", n->path);
	if (*n->path) {
		json_key(j, "path");
		if (*n->name)
			json_strf(j, "%s/%s", n->path, n->name);
		else
			json_strf(j, "%s/%s_%u", n->path, n->op_type, n->index);
	}
	json_key_uint(j, "index", n->index);
	json_key_str(j, "name", n->name);
	json_key_str(j, "op_type", n->op_type);
	json_key_str(j, "domain", n->domain);
	json_key(j, "outputs");
	json_array(j);
	for (uint32_t i = 0; i < n->noutputs; i++)
		json_str(j, n->outputs[i]);
	json_close(j);
	json_key_str(j, "fate", fate_text(n->fate));
	if (n->fate != FATE_COVERED)
		json_key_str(j, "why", n->why);
}

static void
write_links(struct json *j, const struct map_links *l, uint32_t id)
{
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = l->start[id]; i < l->start[id + 1]; i++) {
		json_object(j);
		json_key_uint(j, "node", l->link[i].node);
		json_key_str(j, "role", role_text(l->link[i].role));
		if (l->link[i].inside)
			json_key_bool(j, "inside", true);
		json_close(j);
	}
	json_close(j);
}

static void
write_onnx_node(struct json *j, const struct onnx_nodes *table, uint32_t id,
    const struct source_map *m)
{
	const struct onnx_node *n = &table->node[id];
	const struct node_source *source = &m->scopes.of[id];

	json_inline_object(j);
	json_key_uint(j, "id", id);
	write_author(j, n, stable_id(n, 0));
	write_fate(j, table, n->fate, n->into, n->into_part);
	json_key_uint(j, "scope", source->scope);
	if (source->nlines) {
		write_ids(j, "lines", source->lines, source->nlines);
		json_key_uint(j, "line", source->line);
	}
	write_links(j, &m->nodes, id);
	json_close(j);
}

/* Nodes of bodies of functions, once for each call. */
static void
write_parts(
    struct json *j, const struct emit_work *w, const struct source_map *m)
{
	const struct onnx_nodes *table = w->graph->origin_table;
	const uint64_t *stable = table ? part_ids(table, w->arena) : NULL;

	json_key(j, "parts");
	json_array(j);
	for (uint32_t i = 0; table && i < table->nparts; i++) {
		const struct onnx_part *p = &table->part[i];

		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_uint(j, "call", p->call);
		if (p->within)
			json_key_uint(j, "within", p->within - 1);
		write_author(j, &p->node, stable[i]);
		write_fate(
		    j, table, p->node.fate, p->node.into, p->node.into_part);
		write_links(j, &m->parts, i);
		json_close(j);
	}
	json_close(j);
}

static void
write_readers(
    struct json *j, const struct source_map *m, uint32_t from, uint32_t to)
{
	json_key(j, "nodes");
	json_array(j);
	for (; from < to && m->reader[from].node != NODE_NONE; from++) {
		json_object(j);
		json_key_uint(j, "node", m->reader[from].node);
		if (m->reader[from].inside)
			json_key_bool(j, "inside", true);
		json_close(j);
	}
	json_close(j);
	if (from == to)
		return;
	json_key(j, "constants");
	json_array(j);
	for (; from < to; from++) {
		const struct map_reader *r = &m->reader[from];

		json_object(j);
		json_key_uint(j, "layer", r->layer);
		json_key_str(j, "name",
		    m->layer[r->layer].layer.constant[r->constant].name);
		json_close(j);
	}
	json_close(j);
}

/* Weights and the like, and what they are part of. */
static void
write_initialisers(
    struct json *j, const struct onnx_nodes *table, const struct source_map *m)
{
	uint32_t at = 0, to;

	json_key(j, "initialisers");
	json_array(j);
	for (uint32_t i = 0; table && i < table->ninitialisers; i++, at = to) {
		const struct onnx_initialiser *o = &table->initialiser[i];

		for (to = at;
		     to < m->nreaders && m->reader[to].initialiser == i;)
			to++;
		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_str(j, "graph", o->path);
		json_key_str(j, "name", o->name);
		json_key_str(j, "fate", fate_text(o->fate));
		write_fate(j, table, o->fate, o->into, o->into_part);
		if (m->is_output[i])
			json_key_bool(j, "output", true);
		write_readers(j, m, at, to);
		json_close(j);
	}
	json_close(j);
}

/* The author's modules and lines. */
static void
write_scopes(struct json *j, const struct scopes *s)
{
	json_key(j, "scopes");
	json_array(j);
	for (uint32_t i = 0; i < s->n; i++) {
		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_uint(j, "parent", s->scope[i].parent);
		json_key_str(j, "name", s->scope[i].name);
		json_key_str(j, "path", s->scope[i].path);
		json_key_str(j, "class", s->scope[i].class);
		json_close(j);
	}
	json_close(j);
	json_key(j, "lines");
	json_array(j);
	for (uint32_t i = 0; i < s->nlines; i++) {
		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_str(j, "file", s->line[i].file);
		json_key_uint(j, "line", s->line[i].line);
		json_key_str(j, "function", s->line[i].function);
		json_key_str(j, "text", s->line[i].text);
		json_close(j);
	}
	json_close(j);
}

static void
write_fates(struct json *j, const struct source_map *m)
{
	json_key(j, "counts");
	json_inline_object(j);
	for (enum fate f = FATE_COVERED; f <= FATE_DROPPED; f++)
		json_key_uint(j, fate_text(f), m->count[f]);
	json_close(j);
}

static void
write_onnx(
    struct json *j, const struct emit_work *w, const struct source_map *m)
{
	const struct onnx_nodes *table = w->graph->origin_table;

	json_key(j, "onnx");
	json_array(j);
	for (uint32_t i = 0; table && i < table->n; i++)
		write_onnx_node(j, table, i, m);
	json_close(j);
}

static void
write_nodes(struct json *j, const struct emit_work *w)
{
	const struct graph *g = w->graph;

	json_key(j, "nodes");
	json_array(j);
	for (node_id i = 0; i < g->nnodes; i++) {
		const struct node *n = &g->node[i];

		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_str(j, "ref", w->ref[i]);
		json_key_str(j, "label", w->label[i]);
		json_key_str(j, "op_type", n->op_type);
		json_key_uint(j, "composite", w->plan->composite_of[i]);
		json_key(j, "onnx");
		json_array(j);
		for (uint32_t k = 0; k < n->norigins; k++) {
			json_object(j);
			json_key_uint(j, "id", n->origin[k].onnx);
			json_key_str(j, "role", role_text(n->origin[k].role));
			if (n->origin[k].part)
				json_key_uint(j, "part", n->origin[k].part - 1);
			json_close(j);
		}
		json_close(j);
		json_close(j);
	}
	json_close(j);
}

static bool
shares_node(const struct candidate *c, const struct map_layer *l)
{
	for (uint32_t i = 0; i < c->nnodes; i++)
		for (uint32_t k = 0; k < l->layer.nnodes; k++)
			if (c->node[i] == l->layer.node[k])
				return true;
	return false;
}

/* Of what stands for n nodes of the graph. */
static enum role
role_of(uint32_t n)
{
	return n == 0 ? ROLE_SYNTHESIZED : n == 1 ? ROLE_KEPT : ROLE_FUSED;
}

/* `from` is the first layer of the composite's region. */
static void
write_composite(struct json *j, const struct emit_work *w,
    const struct source_map *m, uint32_t id, uint32_t from)
{
	const struct candidate *c = plan_candidate(w->plan, id);
	uint32_t region = w->plan->composite[id].region;

	json_inline_object(j);
	json_key_uint(j, "id", id);
	json_key_uint(j, "region", region);
	json_key_str(j, "target", emit_target(w, region)->text);
	json_key_str(j, "rule", emit_rule(w, c)->name);
	json_key_str(j, "role", role_text(role_of(c->nnodes)));
	write_ids(j, "nodes", c->node, c->nnodes);
	json_key(j, "layers");
	json_array(j);
	for (uint32_t i = from; i < m->nlayers && m->layer[i].region == region;
	     i++)
		if (shares_node(c, &m->layer[i]))
			json_uint(j, i);
	json_close(j);
	json_close(j);
}

static void
write_composites(
    struct json *j, const struct emit_work *w, const struct source_map *m)
{
	uint32_t from = 0;

	json_key(j, "composites");
	json_array(j);
	for (uint32_t i = 0; i < w->plan->ncomposites; i++) {
		while (from < m->nlayers
		    && m->layer[from].region < w->plan->composite[i].region)
			from++;
		write_composite(j, w, m, i, from);
	}
	json_close(j);
}

static void
write_constants(
    struct json *j, const struct emit_work *w, const struct toolchain_layer *l)
{
	json_key(j, "constants");
	json_array(j);
	for (uint32_t i = 0; i < l->nconstants; i++) {
		json_object(j);
		json_key_str(j, "name", l->constant[i].name);
		json_key(j, "values");
		json_array(j);
		for (uint32_t v = 0; v < l->constant[i].nvalues; v++)
			json_str(
			    j, w->graph->value[l->constant[i].value[v]].name);
		json_close(j);
		json_close(j);
	}
	json_close(j);
}

static void
write_regions(
    struct json *j, const struct emit_work *w, const struct source_map *m)
{
	json_key(j, "regions");
	json_array(j);
	for (uint32_t i = 0; i < w->plan->nregions; i++) {
		const struct plan_region *r = &w->plan->region[i];

		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_str(j, "name", w->region[i]);
		json_key_str(j, "target", emit_target(w, i)->text);
		json_key_uint(j, "first", r->first);
		json_key_uint(j, "composites", r->ncomposites);
		json_close(j);
	}
	json_close(j);
	json_key(j, "layers");
	json_array(j);
	for (uint32_t i = 0; i < m->nlayers; i++) {
		const struct map_layer *l = &m->layer[i];

		json_inline_object(j);
		json_key_uint(j, "id", i);
		json_key_uint(j, "region", l->region);
		json_key_str(j, "symbol", l->layer.symbol);
		json_key_uint(j, l->index_name, l->index);
		json_key_str(j, "name", l->layer.name);
		json_key_str(j, "func_name", l->layer.func_name);
		write_ids(j, "nodes", l->layer.node, l->layer.nnodes);
		json_key_str(j, "role", role_text(role_of(l->layer.nnodes)));
		write_constants(j, w, &l->layer);
		json_close(j);
	}
	json_close(j);
}

/* A conversion that the plan pays. */
static void
write_conversion(
    struct json *j, const struct emit_work *w, const struct plan_conversion *c)
{
	const char *value = w->graph->value[c->value].name;

	json_inline_object(j);
	json_key(j, "name");
	json_strf(j, "%s to %s", value, emit_format(w, c->to));
	json_key_str(j, "op_type", "conversion");
	json_key_str(j, "role", role_text(ROLE_SYNTHESIZED));
	if (c->before < w->plan->ncomposites)
		json_key_uint(
		    j, "region", w->plan->composite[c->before].region);
	json_key_str(j, "value", value);
	json_key_str(j, "from", emit_format(w, c->from));
	json_key_str(j, "to", emit_format(w, c->to));
	json_key_uint(j, "payer", plan_payer(w->plan, c));
	json_close(j);
}

static void
write_quantiser(
    struct json *j, const struct emit_work *w, const struct qdq_node *n)
{
	json_inline_object(j);
	json_key_str(j, "name", n->name);
	json_key_str(j, "op_type", n->op_type);
	json_key_str(j, "role", role_text(ROLE_SYNTHESIZED));
	json_key_uint(j, "region", n->region);
	json_key_str(j, "value", w->graph->value[n->value].name);
	json_close(j);
}

/* What no ONNX node of the model is: conversions, quantisers of partitioned.onnx. */
static void
write_inserted(struct json *j, const struct emit_work *w)
{
	json_key(j, "inserted");
	json_array(j);
	for (uint32_t i = 0; i < w->plan->nconversions; i++)
		write_conversion(j, w, &w->plan->conversion[i]);
	for (uint32_t i = 0; w->qdq && i < w->qdq->ninserted; i++)
		write_quantiser(j, w, &w->qdq->inserted[i]);
	json_close(j);
}

/* What the packages of the plan call, one after another. */
static bool
write_functions(struct json *j, const struct emit_work *w,
    const struct target_kind *kind, struct err *err)
{
	struct toolchain_functions list;
	struct toolchain_plan p;

	if (!kind->toolchain || !kind->toolchain->package
	    || !emit_package_plan(&p, w, kind))
		return true;
	if (!kind->toolchain->package->functions(&list, &p, w->arena, err)) {
		if (err->kind != ERR_UNSUPPORTED)
			return false;
		err_clear(err); /* package.c says why */
		return true;
	}
	for (uint32_t i = 0; i < list.n; i++) {
		const struct toolchain_function *f = &list.function[i];

		json_inline_object(j);
		json_key_str(j, "package", kind->name);
		json_key_str(j, "name", f->name);
		json_key_uint(j, "index", f->index);
		json_key_str(j, "symbol", f->symbol);
		json_key_str(j, "operation", f->operation);
		json_key_uint(j, "region", f->region);
		write_ids(j, "nodes", f->node, f->nnodes);
		json_close(j);
	}
	return true;
}

static bool
write_packages(struct json *j, const struct emit_work *w, struct err *err)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	json_key(j, "functions");
	json_array(j);
	for (uint32_t i = 0; i < n; i++)
		if (!write_functions(j, w, kind[i], err))
			return false;
	json_close(j);
	return true;
}

static bool
write_lists(struct json *j, const struct emit_work *w,
    const struct source_map *m, struct err *err)
{
	write_onnx(j, w, m);
	write_parts(j, w, m);
	write_initialisers(j, w->graph->origin_table, m);
	write_nodes(j, w);
	write_composites(j, w, m);
	write_regions(j, w, m);
	write_inserted(j, w);
	return write_packages(j, w, err);
}

/* The page has what it looks at otherwise, see page_docs_give(). */
static void
write_no_lists(struct json *j)
{
	static const char *const list[] = {
	    "onnx", "nodes", "composites", "regions", "layers"};

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
		json_key(j, list[i]);
		json_array(j);
		json_close(j);
	}
}

bool
write_map(FILE *f, const struct emit_work *w, struct err *err)
{
	struct source_map m;
	struct json j;

	if (!source_map_init(&m, w, err))
		return false;
	emit_json(&j, f, w);
	json_object(&j);
	json_key_str(&j, "schema", "marq.map/1");
	write_scopes(&j, &m.scopes);
	write_fates(&j, &m);
	if (w->tree)
		write_no_lists(&j);
	else if (!write_lists(&j, w, &m, err))
		return false;
	json_close(&j);
	return true;
}
