/* Dequantisers right before their readers: what lives on between two nodes far apart
 * is bytes then, once for all who read them, and whoever lays a cut through the graph
 * in its order (search/) meets no dequantised copies of them. */
#include "ir/normalize/tidy.h"

struct placing {
	const struct node *from; /* nodes as they were */
	bool *read; /* [nvalues] by a node of the graph */
	bool *held; /* [nvalues] its maker does not wait, or not any more */
	struct node *node; /* [nnodes] as they are to stand */
	uint32_t n;
};

static void
note_reader(struct placing *p, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
		const value_id v = n->input[i];

		if (v == VALUE_NONE)
			continue;
		p->read[v] = true;
		/* What waits for what waits would need an order of its own. */
		p->held[v] |= n->op == OP_DEQUANTIZELINEAR;
	}
}

/* Does it wait for its first reader? */
static bool
waits(const struct placing *p, const struct node *n)
{
	return n->op == OP_DEQUANTIZELINEAR && n->noutputs == 1
	    && n->output[0] != VALUE_NONE && p->read[n->output[0]]
	    && !p->held[n->output[0]];
}

/* The node, behind those that have waited for it. */
static void
place(struct placing *p, const struct graph *g, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs + n->nimplicit; i++) {
		const value_id v = n->input[i];
		const node_id maker =
		    v == VALUE_NONE ? NODE_NONE : g->value[v].producer;

		if (maker == NODE_NONE || !waits(p, &p->from[maker]))
			continue;
		p->held[v] = true;
		p->node[p->n++] = p->from[maker];
	}
	p->node[p->n++] = *n;
}

static bool
has_dequantisers(const struct graph *g)
{
	for (node_id id = 0; id < g->nnodes; id++)
		if (g->node[id].op == OP_DEQUANTIZELINEAR)
			return true;
	return false;
}

void
place_dequantisers(struct graph *g)
{
	struct arena scratch;
	struct placing p = {.from = g->node};

	if (!has_dequantisers(g))
		return;
	arena_init(&scratch);
	p.read = arena_new(&scratch, bool, g->nvalues);
	p.held = arena_new(&scratch, bool, g->nvalues);
	p.node = arena_new(g->arena, struct node, g->nnodes);
	for (value_id v = 0; v < g->nvalues; v++)
		p.held[v] = (g->value[v].flags & VALUE_OUTPUT) != 0;
	for (node_id id = 0; id < g->nnodes; id++)
		note_reader(&p, &g->node[id]);
	for (node_id id = 0; id < g->nnodes; id++)
		if (!waits(&p, &g->node[id]))
			place(&p, g, &g->node[id]);
	g->node = p.node;
	g->node_cap = g->nnodes;
	settle_producers(g);
	arena_release(&scratch);
}
