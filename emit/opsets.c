#include "emit/opsets.h"

#include <inttypes.h>
#include <string.h>

#include "ir/infer.h"
#include "ir/schema.h"

/* A walk over all nodes, those of bodies included: *what* is asked of each, until
 * the answer is false. */
struct node_walk {
	bool (*ask)(struct node_walk *w, const struct graph *g, node_id id);
	struct onnx_opset *list; /* [n] */
	uint32_t n, cap, version;
	bool inside; /* a body, whose nodes are shared */
	const struct graph *at; /* where it ended */
	node_id node;
	struct arena *arena;
};

static bool walk_graph(struct node_walk *w, const struct graph *g);

static bool
walk_bodies(struct node_walk *w, const struct node *n)
{
	const bool inside = w->inside;
	const struct graph *body;
	bool ok = true;

	w->inside = true;
	for (uint32_t k = 0; ok && (body = node_body(n, k)) != NULL; k++)
		ok = walk_graph(w, body);
	w->inside = inside;
	return ok;
}

static bool
walk_graph(struct node_walk *w, const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++)
		if (!w->ask(w, g, id) || !walk_bodies(w, &g->node[id]))
			return false;
	return true;
}

static bool
walk_all(struct node_walk *w, const struct onnx_out *o)
{
	bool ok = walk_graph(w, o->graph);

	for (uint32_t i = 0; ok && i < o->nfunctions; i++)
		ok = walk_graph(w, o->function[i].body);
	return ok;
}

static uint32_t
imported(const struct node_walk *w, const char *domain)
{
	uint32_t i = 0;

	while (i < w->n && strcmp(w->list[i].domain, domain) != 0)
		i++;
	return i;
}

static void
import(struct node_walk *w, const char *domain, uint32_t version)
{
	if (imported(w, domain) < w->n)
		return;
	w->list =
	    arena_grow(w->arena, w->list, &w->cap, w->n + 1, sizeof *w->list);
	w->list[w->n++] = (struct onnx_opset){domain, version};
}

static bool
ask_domain(struct node_walk *w, const struct graph *g, node_id id)
{
	import(w, g->node[id].domain, g->node[id].opset);
	return true;
}

/* The constant input as the attribute it was before. */
static bool
as_attr(struct attr *out, const char *name, const struct tensor *t,
    const struct node *n, uint32_t version, struct arena *a)
{
	static const enum attr_kind kinds[] = {ATTR_INTS, ATTR_INT, ATTR_FLOAT};
	enum attr_kind kind;
	int64_t *ints = arena_new(a, int64_t, t->count);
	float *floats = arena_new(a, float, t->count);
	uint32_t i = 0;

	for (size_t k = 0; k < t->count; k++)
		if (dtype_is_float(t->dtype))
			floats[k] = (float)tensor_real(t, k);
		else
			ints[k] = tensor_int(t, k);
	*out = (struct attr){.name = name, .n = (uint32_t)t->count};
	for (; i < 3; i++) {
		out->kind = kinds[i];
		if (schema_attr(n->op, version, out, &kind) == ATTR_FITS)
			break;
	}
	if (i == 3 || (i > 0 && t->count != 1)
	    || (i == 2) != dtype_is_float(t->dtype))
		return false;
	if (i == 2)
		out->floats = floats;
	else
		out->ints = ints;
	return true;
}

/* The node as an older opset says it: constant inputs as attributes. */
static bool
older(struct node *n, const struct graph *g, uint32_t version, struct arena *a)
{
	struct attr *attr = arena_new(a, struct attr, n->nattrs + n->ninputs);

	if (n->nimplicit || version >= n->opset)
		return false;
	if (n->nattrs)
		memcpy(attr, n->attr, n->nattrs * sizeof *attr);
	n->attr = attr;
	for (uint32_t i = n->ninputs; i-- > 1 && !schema_holds(n, version);) {
		const struct value *v = node_in(g, n, i);
		const char *name = schema_given(n->op, i);

		if (v
		    && (!name || !v->constant || v->constant->kind > TENSOR_FILL
		        || !as_attr(&attr[n->nattrs], name, v->constant, n,
		            version, a)))
			return false;
		n->nattrs += v != NULL;
		n->ninputs = i;
	}
	return schema_holds(n, version);
}

/* Does the node, as its own opset says it, say the same in that one, of elements
 * it takes there? */
static bool
holds(const struct node *n, const struct graph *g, uint32_t version)
{
	return n->opset == version
	    || (schema_holds(n, version) && node_takes(g, n, version));
}

/* Operators of the default domain that nobody knows are of no version. */
static bool
ask_version(struct node_walk *w, const struct graph *g, node_id id)
{
	const struct node *n = &g->node[id];
	struct node as = *n;

	if (n->domain[0] || n->op == OP_CUSTOM || holds(n, g, w->version)
	    || (!w->inside && older(&as, g, w->version, w->arena)
	        && node_takes(g, n, w->version)))
		return true;
	w->at = g;
	w->node = id;
	return false;
}

/* Say what the chosen version says otherwise; the nodes are copies. */
static bool
ask_older(struct node_walk *w, const struct graph *g, node_id id)
{
	struct node *n = graph_node(g, id);

	if (!w->inside && !n->domain[0] && n->op != OP_CUSTOM
	    && !schema_holds(n, w->version))
		older(n, g, w->version, w->arena);
	return true;
}

static bool
find_version(struct node_walk *w, const struct onnx_out *o, struct err *err)
{
	struct onnx_opset *own = &w->list[imported(w, "")];
	const struct graph *at = NULL;
	node_id node = 0;

	w->ask = ask_version;
	for (w->version = own->version; w->version <= OPSET_NEWEST;
	     w->version++) {
		if (walk_all(w, o)) {
			own->version = w->version;
			w->ask = ask_older;
			return walk_all(w, o);
		}
		if (!at)
			node = w->node;
		at = at ? at : w->at;
	}
	return err_set(err, ERR_UNSUPPORTED,
	    "node '%s' (%s of opset %" PRIu32
	    ") and others are of no one opset",
	    node_label(at, node, w->arena), at->node[node].op_type,
	    at->node[node].opset);
}

bool
emit_opsets(struct onnx_out *o, const struct model *m, const char *extra,
    uint32_t least, struct arena *a, struct err *err)
{
	struct node_walk w = {.ask = ask_domain, .arena = a};

	for (uint32_t i = 0; i < m->nopsets; i++)
		import(&w, m->opset[i].domain, m->opset[i].version);
	if (extra)
		import(&w, extra, 1);
	walk_all(&w, o);
	if (imported(&w, "") < w.n && w.list[imported(&w, "")].version < least)
		w.list[imported(&w, "")].version = least;
	if (imported(&w, "") < w.n && !find_version(&w, o, err))
		return false;
	o->nopsets = w.n;
	o->opset = w.list;
	return true;
}
