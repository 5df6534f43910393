#include "ir/infer/pass.h"

#include <inttypes.h>
#include <string.h>

/* A dimension whose name says nothing is unknown, and so is a negative size:
 * exporters write -1 for "any". */
static bool
is_vague(const struct graph *g, int64_t dim)
{
	int64_t symbol;

	if (dim >= DIM_UNKNOWN)
		return false;
	symbol = DIM_SYMBOL(0) - dim;
	return symbol >= g->nsymbols || symbol_is_anonymous(g->symbol[symbol]);
}

static void
forget_vague_dims(struct graph *g, struct type *t)
{
	int64_t *dim = NULL;

	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN)
		return;
	for (uint32_t i = 0; i < t->rank; i++) {
		if (!is_vague(g, t->dim[i]))
			continue;
		if (!dim)
			dim =
			    arena_copy(g->arena, t->dim, t->rank * sizeof *dim);
		dim[i] = DIM_UNKNOWN;
	}
	if (dim)
		t->dim = dim;
}

void
pass_value(struct pass *p, value_id v)
{
	struct value *value = graph_value(p->g, v);

	p->small[v] = (struct small){.n = 0};
	p->content[v] = value->constant;
	if (value->constant) /* whatever was stated of it */
		value->type = tensor_type(value->constant);
	forget_vague_dims(p->g, &value->type);
}

void
pass_init(struct pass *p, struct graph *g, const struct pass *outer)
{
	if (outer) {
		*p = *outer;
		p->depth++;
	}
	p->g = g;
	symbols_init(&p->symbols, g, p->scratch);
	p->small = arena_new(p->scratch, struct small, g->nvalues);
	p->content = arena_new(p->scratch, const struct tensor *, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++)
		pass_value(p, v);
}

/* The reader checks arity too; graphs come from elsewhere as well, and the
 * rules rely on it. Scan of opset 8 may leave its first input out. */
static bool
check_arity(struct site *s)
{
	const struct op_info *op = op_get(s->n->op);
	uint32_t needed;

	if (s->n->ninputs < op->min_inputs || s->n->ninputs > op->max_inputs)
		return fault(s, "%" PRIu32 " inputs", s->n->ninputs);
	if (s->n->noutputs < op->min_outputs
	    || s->n->noutputs > op->max_outputs)
		return fault(s, "%" PRIu32 " outputs", s->n->noutputs);
	needed = arity_needed(op->min_inputs, op->max_inputs, s->n->ninputs);
	for (uint32_t i = 0; i < needed && s->n->op != OP_SCAN; i++)
		if (s->n->input[i] == VALUE_NONE)
			return fault(s, "input %" PRIu32 " is missing", i);
	return true;
}

static bool
apply_rule(struct site *s)
{
	const struct op_rule *rule = rule_get(s->n->op);

	if (!check_arity(s) || !check_dtypes(s))
		return false;
	if (rule->type && !rule->type(s))
		return false;
	if (rule->value && !rule->value(s))
		return false;
	return fold_node(s, rule) && settle_outputs(s);
}

bool
pass_node(struct pass *p, node_id id, struct err *err)
{
	const struct node *n = graph_node(p->g, id);
	struct site s = {
	    .pass = p,
	    .g = p->g,
	    .n = n,
	    .id = id,
	    .out = arena_new(p->scratch, struct type, n->noutputs + 1),
	    .out_small = arena_new(p->scratch, struct small, n->noutputs + 1),
	    .out_content =
	        arena_new(p->scratch, const struct tensor *, n->noutputs),
	    .err = err,
	};

	if (apply_rule(&s))
		return true;
	return err_in(err, "node '%s%s' (#%" PRIu32 ", %s)", p->path,
	    node_label(p->g, id, p->scratch), id, n->op_type);
}

bool
pass_run(struct pass *p, struct err *err)
{
	for (node_id id = 0; id < p->g->nnodes; id++) {
		if (pass_node(p, id, err))
			continue;
		if (!p->o->keep_going)
			return false;
		notes_add(
		    p->o->faults ? p->o->faults : p->o->notes, "%s", err->text);
		err_clear(err);
		*p->failed = true;
	}
	return true;
}
