#include "tests/support/leftover.h"

#include "ir/infer/rule.h"

static bool
is_known(const struct graph *g, const bool *known, value_id v)
{
	return v == VALUE_NONE || known[v] || graph_value(g, v)->constant;
}

/* The least integer by -1, NaN to an integer: the node stays (ir/infer/fold.c). */
static bool
may_be_undefined(enum op op)
{
	return op == OP_CAST || op == OP_CASTLIKE || op == OP_DIV
	    || op == OP_MOD;
}

static bool
could_be_folded(const struct graph *g, const struct node *n, const bool *known)
{
	if (n->op == OP_SHAPE || n->op == OP_SIZE)
		return type_is_static(&node_in(g, n, 0)->type);
	if (n->op == OP_CUSTOM || n->nimplicit || n->ninputs == 0
	    || rule_get(n->op)->fold == FOLD_NO || may_be_undefined(n->op))
		return false;
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (!is_known(g, known, n->input[i]))
			return false;
	return true;
}

node_id
leftover_node(const struct graph *g, struct arena *a)
{
	bool *known = arena_new(a, bool, g->nvalues);

	for (node_id id = 0; id < g->nnodes; id++)
		if (could_be_folded(g, &g->node[id], known))
			return id;
	return NODE_NONE;
}
