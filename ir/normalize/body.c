/* Bodies: walked, seen from outside, and what becomes of their nodes. */
#include "ir/normalize/tidy.h"

static void
set_author_fate(struct onnx_node *o, enum fate fate, const char *why)
{
	if (o->fate != FATE_COVERED)
		return;
	o->fate = fate;
	o->why = why;
}

static void
set_one_fate(
    struct graph *g, const struct node *n, enum fate fate, const char *why)
{
	for (uint32_t i = 0; i < n->norigins; i++) {
		const struct origin *o = &n->origin[i];

		set_author_fate(&g->origin_table->node[o->onnx], fate, why);
		set_author_fate(origin_node(g->origin_table, o), fate, why);
	}
}

void
set_body_fates(struct graph *g, const struct node *n, const char *why)
{
	const struct graph *body;

	for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
		for (node_id id = 0; id < body->nnodes; id++)
			set_fate(g, &body->node[id], FATE_DROPPED, why);
}

void
set_fate(struct graph *g, const struct node *n, enum fate fate, const char *why)
{
	set_one_fate(g, n, fate, why);
	set_body_fates(g, n, why);
}

const struct tensor *
known_content(const struct graph *g, const struct frame *around, value_id v)
{
	while (v != VALUE_NONE && !g->value[v].constant && around) {
		uint32_t i = 0;

		while (i < g->ncaptures && g->capture[i].inner != v)
			i++;
		if (i == g->ncaptures)
			return NULL;
		v = around->node
		        ->input[around->node->ninputs + g->capture[i].slot];
		g = around->g;
		around = around->outer;
	}
	return v == VALUE_NONE ? NULL : g->value[v].constant;
}
