#include "emit/opsets.h"

#include <inttypes.h>
#include <string.h>

#include "ir/schema.h"

/* A walk over all nodes, those of bodies included: *what* is asked of each, until
 * the answer is false. */
struct walk {
	bool (*ask)(struct walk *w, const struct graph *g, node_id id);
	struct onnx_opset *list; /* [n] */
	uint32_t n, cap, version;
	const struct graph *at; /* where it ended */
	node_id node;
	struct arena *arena;
};

static bool
walk_graph(struct walk *w, const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		if (!w->ask(w, g, id))
			return false;
		for (uint32_t i = 0; i < n->nattrs; i++) {
			const struct attr *a = &n->attr[i];

			if (a->kind != ATTR_GRAPH && a->kind != ATTR_GRAPHS)
				continue;
			for (uint32_t k = 0; k < a->n; k++)
				if (!walk_graph(w, a->graphs[k]))
					return false;
		}
	}
	return true;
}

static bool
walk_all(struct walk *w, const struct onnx_out *o)
{
	bool ok = walk_graph(w, o->graph);

	for (uint32_t i = 0; ok && i < o->nfunctions; i++)
		ok = walk_graph(w, o->function[i].body);
	return ok;
}

static uint32_t
imported(const struct walk *w, const char *domain)
{
	uint32_t i = 0;

	while (i < w->n && strcmp(w->list[i].domain, domain) != 0)
		i++;
	return i;
}

static void
import(struct walk *w, const char *domain, uint32_t version)
{
	if (imported(w, domain) < w->n)
		return;
	w->list =
	    arena_grow(w->arena, w->list, &w->cap, w->n + 1, sizeof *w->list);
	w->list[w->n++] = (struct onnx_opset){domain, version};
}

static bool
ask_domain(struct walk *w, const struct graph *g, node_id id)
{
	import(w, g->node[id].domain, g->node[id].opset);
	return true;
}

/* Operators of the default domain that nobody knows are of no version. */
static bool
ask_version(struct walk *w, const struct graph *g, node_id id)
{
	const struct node *n = &g->node[id];

	if (n->domain[0] || n->op == OP_CUSTOM || schema_holds(n, w->version))
		return true;
	w->at = g;
	w->node = id;
	return false;
}

static bool
find_version(struct walk *w, const struct onnx_out *o, struct err *err)
{
	struct onnx_opset *own = &w->list[imported(w, "")];
	const struct graph *at = NULL;
	node_id node = 0;

	w->ask = ask_version;
	for (w->version = own->version; w->version <= OPSET_NEWEST;
	     w->version++) {
		if (walk_all(w, o)) {
			own->version = w->version;
			return true;
		}
		at = at ? at : w->at;
		node = at == w->at ? w->node : node;
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
	struct walk w = {.ask = ask_domain, .arena = a};

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
