#include "ir/normalize.h"

#include <assert.h>
#include <string.h>

#include "ir/normalize/tidy.h"

/* What nodes of a graph and of its bodies carry of what the author wrote. */
struct origins_kept {
	bool *node, *part; /* a call is carried with any part of its body */
};

static void
mark_origin(const struct onnx_nodes *table, const struct origin *o,
    struct origins_kept *c)
{
	c->node[o->onnx] = true;
	for (uint32_t p = o->part; p; p = table->part[p - 1].within)
		c->part[p - 1] = true;
}

static void
mark_carried(const struct graph *g, struct origins_kept *c)
{
	const struct graph *body;

	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->norigins; i++)
			mark_origin(g->origin_table, &n->origin[i], c);
		for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
			mark_carried(body, c);
	}
}

static struct origins_kept
find_carried(const struct graph *g, struct arena *a)
{
	struct origins_kept c = {
	    .node = arena_new(a, bool, g->origin_table->n),
	    .part = arena_new(a, bool, g->origin_table->nparts),
	};

	mark_carried(g, &c);
	return c;
}

/* Mark the initialisers that are values of g and of its bodies. */
static void
mark_given(const struct graph *g, bool *given)
{
	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].given_by)
			given[g->value[v].given_by - 1] = true;
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct graph *body;

		for (uint32_t k = 0;
		     (body = node_body(&g->node[id], k)) != NULL; k++)
			mark_given(body, given);
	}
}

/* One that is no value any more, though nobody said so, went with its body. */
static void
settle_initialisers(struct graph *g)
{
	struct onnx_nodes *table = g->origin_table;
	struct arena scratch;
	bool *given;

	arena_init(&scratch);
	given = arena_new(&scratch, bool, table->ninitialisers);
	mark_given(g, given);
	for (uint32_t i = 0; i < table->ninitialisers; i++) {
		struct onnx_initialiser *o = &table->initialiser[i];

		if (given[i])
			o->fate = FATE_COVERED;
		else if (o->fate == FATE_COVERED)
			o->fate = FATE_DROPPED;
	}
	arena_release(&scratch);
}

/* A node that is carried no more but was never said to have gone: nothing
 * reads what it made (parts of a function body, mostly). */
static void
settle_fate(struct onnx_node *n, bool carried)
{
	if (carried) {
		n->fate = FATE_COVERED;
		n->why = NULL;
	} else if (n->fate == FATE_COVERED) {
		n->fate = FATE_DROPPED;
		n->why = "nothing reads its outputs";
	}
}

/* A call of which nothing is left went where its body went. */
static void
follow_body(struct onnx_node *call, const struct onnx_node *n)
{
	if (call->fate == FATE_FOLDED
	    || (call->fate == FATE_DROPPED && n->fate == FATE_DROPPED))
		return;
	call->fate = n->fate;
	call->why = n->why;
	call->into = n->into;
	call->into_part = n->into_part;
}

/* Bodies stand behind the inner calls that they are of. */
static void
settle_fates(struct graph *g)
{
	struct onnx_nodes *table = g->origin_table;
	struct arena scratch;
	struct origins_kept c;

	arena_init(&scratch);
	c = find_carried(g, &scratch);
	for (uint32_t i = 0; i < table->n; i++)
		settle_fate(&table->node[i], c.node[i]);
	for (uint32_t i = table->nparts; i-- > 0;) {
		const uint32_t within = table->part[i].within;

		settle_fate(&table->part[i].node, c.part[i]);
		if (within && !c.part[within - 1])
			follow_body(&table->part[within - 1].node,
			    &table->part[i].node);
	}
	arena_release(&scratch);
}

bool
normalize(struct graph *g, const struct infer_options *o, struct err *err)
{
	if (!infer(g, o, err))
		return false;
	settle_quantised(g, o->eval);
	tidy_graph(g);
	part_dequantisers(g);
	place_dequantisers(g);
	settle_fates(g);
	settle_initialisers(g);
	graph_verify(g);
	return true;
}

void
graph_conservation(const struct graph *g, uint32_t count[3])
{
	const struct onnx_nodes *table = g->origin_table;
	struct arena scratch;
	struct origins_kept c;

	count[FATE_COVERED] = count[FATE_FOLDED] = count[FATE_DROPPED] = 0;
	arena_init(&scratch);
	c = find_carried(g, &scratch);
	for (uint32_t i = 0; i < table->n; i++) {
		assert(c.node[i] == (table->node[i].fate == FATE_COVERED));
		assert(c.node[i] || table->node[i].why);
		count[table->node[i].fate]++;
	}
	for (uint32_t i = 0; i < table->nparts; i++) {
		const struct onnx_node *n = &table->part[i].node;

		assert(c.part[i] == (n->fate == FATE_COVERED));
		assert(c.part[i] || n->why);
	}
	arena_release(&scratch);
}
