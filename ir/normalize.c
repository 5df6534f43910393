#include "ir/normalize.h"

#include <assert.h>
#include <string.h>

#include "ir/normalize/tidy.h"

/* Mark the ONNX nodes that nodes of g and of its bodies carry. */
static void
mark_carried(const struct graph *g, bool *carried)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const struct node *n = &g->node[id];

		for (uint32_t i = 0; i < n->norigins; i++)
			carried[n->origin[i].onnx] = true;
		for (uint32_t i = 0; i < n->nattrs; i++) {
			const struct attr *a = &n->attr[i];

			if (a->kind != ATTR_GRAPH && a->kind != ATTR_GRAPHS)
				continue;
			for (uint32_t k = 0; k < a->n; k++)
				mark_carried(a->graphs[k], carried);
		}
	}
}

/* Mark the initialisers that are values of g and of its bodies. */
static void
mark_given(const struct graph *g, bool *given)
{
	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].given_by)
			given[g->value[v].given_by - 1] = true;
	for (node_id id = 0; id < g->nnodes; id++) {
		uint64_t at = 0;
		const struct graph *body;

		while ((body = next_body(&g->node[id], &at)) != NULL)
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
settle_fates(struct graph *g)
{
	struct onnx_nodes *table = g->origin_table;
	struct arena scratch;
	bool *carried;

	arena_init(&scratch);
	carried = arena_new(&scratch, bool, table->n);
	mark_carried(g, carried);
	for (uint32_t i = 0; i < table->n; i++) {
		struct onnx_node *n = &table->node[i];

		if (carried[i]) {
			n->fate = FATE_COVERED;
			n->why = NULL;
		} else if (n->fate == FATE_COVERED) {
			n->fate = FATE_DROPPED;
			n->why = "nothing reads its outputs";
		}
	}
	arena_release(&scratch);
}

bool
normalize(struct graph *g, const struct infer_options *o, struct err *err)
{
	if (!infer(g, o, err))
		return false;
	tidy_graph(g);
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
	bool *carried;

	count[FATE_COVERED] = count[FATE_FOLDED] = count[FATE_DROPPED] = 0;
	arena_init(&scratch);
	carried = arena_new(&scratch, bool, table->n);
	mark_carried(g, carried);
	for (uint32_t i = 0; i < table->n; i++) {
		assert(carried[i] == (table->node[i].fate == FATE_COVERED));
		assert(carried[i] || table->node[i].why);
		count[table->node[i].fate]++;
	}
	arena_release(&scratch);
}
