/* Identity, a Cast to the type or a move to the shape that is there and Dropout at
 * inference: the output stands for the input. */
#include <string.h>

#include "ir/normalize/tidy.h"

static value_id
find(const value_id *alias, value_id v)
{
	while (alias[v] != v)
		v = alias[v];
	return v;
}

static bool
is_wanted(const struct node *n, uint32_t i, const struct uses *uses,
    const struct graph *g)
{
	value_id v = i < n->noutputs ? n->output[i] : VALUE_NONE;

	return v != VALUE_NONE
	    && (uses->start[v + 1] > uses->start[v]
	        || graph_value(g, v)->flags & VALUE_OUTPUT);
}

/* Before opset 7 an attribute said so, from 12 on an input does; between,
 * Dropout was for inference only. */
static bool
is_inference_dropout(
    const struct graph *g, const struct frame *around, const struct node *n)
{
	const struct tensor *mode;

	if (n->opset < 7)
		return attr_int_or(n, "is_test", 0) != 0;
	if (n->ninputs < 3 || n->input[2] == VALUE_NONE)
		return true;
	mode = known_content(g, around, n->input[2]);
	return mode && mode->dtype == DT_BOOL && mode->count == 1
	    && tensor_int(mode, 0) == 0;
}

static bool
keeps_dtype(const struct graph *g, const struct node *n)
{
	const struct type *x = &graph_value(g, n->input[0])->type;
	const struct type *y = &graph_value(g, n->output[0])->type;

	return x->kind == TYPE_TENSOR && y->kind == TYPE_TENSOR
	    && x->dtype != DT_UNDEFINED && x->dtype == y->dtype;
}

static bool
keeps_shape(const struct graph *g, const struct node *n)
{
	const struct type *x = &graph_value(g, n->input[0])->type;
	const struct type *y = &graph_value(g, n->output[0])->type;

	return keeps_dtype(g, n) && type_is_static(x) && type_is_static(y)
	    && x->rank == y->rank
	    && memcmp(x->dim, y->dim, x->rank * sizeof *x->dim) == 0;
}

/* Operators that do nothing when they leave the shape as it is. */
static bool
is_move(enum op op)
{
	return op == OP_RESHAPE || op == OP_FLATTEN || op == OP_SQUEEZE
	    || op == OP_UNSQUEEZE || op == OP_EXPAND || op == OP_TILE;
}

/* Why a node is one that changes nothing; NULL: it is none. */
static const char *
identity_kind(const struct graph *g, const struct frame *around,
    const struct node *n, const struct uses *uses)
{
	if (n->ninputs == 0 || n->noutputs == 0 || n->input[0] == VALUE_NONE
	    || n->output[0] == VALUE_NONE)
		return NULL;
	if (n->op == OP_IDENTITY)
		return "identity";
	if (n->op == OP_CAST || n->op == OP_CASTLIKE)
		return keeps_dtype(g, n) ? "cast to its own type" : NULL;
	if (is_move(n->op))
		return keeps_shape(g, n) ? "move to its own shape" : NULL;
	return n->op == OP_DROPOUT && is_inference_dropout(g, around, n)
	        && !is_wanted(n, 1, uses, g)
	    ? "dropout at inference"
	    : NULL;
}

/* Names of outputs are kept: the producer takes the output's value over, when
 * it has none of its own to keep. */
static bool
merge(struct graph *g, value_id *alias, value_id from, value_id to)
{
	struct value *x, *y = graph_value(g, to);

	from = find(alias, from);
	x = graph_value(g, from);
	if (!(y->flags & VALUE_OUTPUT)) {
		alias[to] = from;
		return true;
	}
	if (x->constant) {
		y->constant = x->constant;
		return true;
	}
	if (x->flags & (VALUE_OUTPUT | VALUE_INPUT) || x->producer == NODE_NONE)
		return false;
	alias[from] = to;
	return true;
}

value_id *
drop_identities(
    struct graph *g, const struct frame *around, struct arena *scratch)
{
	value_id *alias = arena_new(scratch, value_id, g->nvalues);
	struct uses uses = graph_uses(g, scratch);

	for (value_id v = 0; v < g->nvalues; v++)
		alias[v] = v;
	for (uint32_t i = 0; i < g->noutputs; i++)
		graph_value(g, g->output[i])->flags |= VALUE_OUTPUT;
	for (node_id id = 0; id < g->nnodes; id++) {
		struct node *n = &g->node[id];
		const char *kind = identity_kind(g, around, n, &uses);

		if (!kind || graph_value(g, n->output[0])->constant
		    || !merge(g, alias, n->input[0], n->output[0]))
			continue;
		set_fate(g, n, FATE_DROPPED, kind);
		n->noutputs = 0; /* sweep() removes it */
	}
	for (value_id v = 0; v < g->nvalues; v++)
		alias[v] = find(alias, v);
	return alias;
}
