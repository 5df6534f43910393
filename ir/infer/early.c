#include "ir/infer/early.h"

#include "ir/infer/pass.h"

/* TUNING: elements folded, all told, without an evaluator: shapes only. */
#define EARLY_FOLD 65536u

/* A graph of the same nodes whose values have types of their own, so that what
 * is stated of the real ones stays as it was read. */
struct early {
	const struct graph *of;
	struct graph graph;
	struct arena arena; /* of all below */
	struct infer_options options;
	struct pass pass;
	uint64_t budget, moves;
	bool failed;
	uint32_t small_cap, content_cap;
	node_id next; /* to be inferred */
	struct early *more;
};

static struct early *
early_new(const struct graph *g, struct early *more, struct arena *a)
{
	struct early *e = arena_new(a, struct early, 1);

	e->of = g;
	e->more = more;
	arena_init(&e->arena);
	e->graph = *g;
	e->graph.arena = &e->arena;
	e->graph.value = NULL;
	e->graph.nvalues = e->graph.value_cap = 0;
	e->graph.symbol =
	    arena_copy(&e->arena, g->symbol, g->nsymbols * sizeof *g->symbol);
	e->graph.symbol_cap = g->nsymbols;
	e->options.max_fold = EARLY_FOLD;
	e->budget = e->moves = EARLY_FOLD;
	e->pass.o = &e->options;
	e->pass.scratch = &e->arena;
	e->pass.budget = &e->budget;
	e->pass.moves = &e->moves;
	e->pass.failed = &e->failed;
	e->pass.path = "";
	pass_init(&e->pass, &e->graph, NULL);
	return e;
}

/* Values that were added since. */
static void
take_values(struct early *e)
{
	const uint32_t from = e->graph.nvalues, n = e->of->nvalues;
	struct pass *p = &e->pass;

	e->graph.value = arena_grow(&e->arena, e->graph.value,
	    &e->graph.value_cap, n, sizeof *e->graph.value);
	p->small =
	    arena_grow(&e->arena, p->small, &e->small_cap, n, sizeof *p->small);
	p->content = arena_grow(&e->arena, p->content, &e->content_cap, n,
	    sizeof(const struct tensor *));
	e->graph.nvalues = n;
	for (value_id v = from; v < n; v++) {
		e->graph.value[v] = e->of->value[v];
		pass_value(p, v);
	}
}

/* A node that breaks a rule is told of when the whole graph is inferred; of
 * what has bodies nothing is known before. */
static void
take_nodes(struct early *e)
{
	struct err err = {.kind = ERR_NONE};

	e->graph.node = e->of->node;
	e->graph.nnodes = e->of->nnodes;
	for (; e->next < e->graph.nnodes; e->next++)
		if (!node_body(graph_node(&e->graph, e->next), 0)
		    && !pass_node(&e->pass, e->next, &err))
			err_clear(&err);
}

const struct graph *
early_types(struct early **list, const struct graph *g, struct arena *a)
{
	struct early *e = *list;

	while (e && e->of != g)
		e = e->more;
	if (!e)
		e = *list = early_new(g, *list, a);
	take_values(e);
	take_nodes(e);
	return &e->graph;
}

void
early_release(struct early *list)
{
	for (; list; list = list->more)
		arena_release(&list->arena);
}
