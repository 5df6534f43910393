#include "targets/widened.h"

#include <string.h>

/* ---- which nodes ---- */

static bool
is_half(const struct value *v)
{
	return v && v->type.kind == TYPE_TENSOR && dtype_is_half(v->type.dtype);
}

/* Attributes that say of what type a result is. */
static bool
names_half(const struct attr *a)
{
	static const char *const name[] = {
	    "to", "dtype", "output_dtype", "output_datatype"};

	if (a->kind == ATTR_TENSOR)
		return dtype_is_half(a->tensors[0].dtype);
	for (size_t i = 0; i < sizeof name / sizeof *name; i++)
		if (a->kind == ATTR_INT && strcmp(a->name, name[i]) == 0
		    && (a->ints[0] == DT_FLOAT16 || a->ints[0] == DT_BFLOAT16))
			return true;
	return false;
}

static bool
has_own_type(const struct node *n)
{
	for (uint32_t i = 0; i < n->nattrs && n->op != OP_CAST; i++)
		if (names_half(&n->attr[i]))
			return true;
	return n->op == OP_BITCAST;
}

/* Everything it reads and makes must lie somewhere known. */
static void
look_at(struct widened_graph *out, const struct graph *g, node_id id)
{
	const struct node *n = graph_node(g, id);
	bool fits = n->op != OP_CUSTOM && !node_body(n, 0) && !has_own_type(n);

	for (uint32_t i = 0; i < n->ninputs + n->noutputs; i++) {
		const value_id of =
		    i < n->ninputs ? n->input[i] : n->output[i - n->ninputs];
		const struct value *v =
		    of == VALUE_NONE ? NULL : graph_value(g, of);

		fits = fits && (!v || type_has_size(&v->type));
		if (is_half(v))
			bitset_add(out->halves, id);
	}
	if (fits)
		bitset_add(out->fit, id);
}

bool
widened_fits(const struct widened_graph *w, const node_id *node, uint32_t n)
{
	bool half = false;

	for (uint32_t i = 0; i < n; i++) {
		if (!bitset_has(w->fit, node[i]))
			return false;
		half |= bitset_has(w->halves, node[i]);
	}
	return half;
}

/* ---- the graph ---- */

static void
widen_value(struct value *v, struct arena *a)
{
	struct tensor *t;

	if (!is_half(v))
		return;
	if (v->type.dtype == DT_BFLOAT16)
		v->magnitude = (struct magnitude){0}; /* of float16 only */
	v->type.dtype = DT_FLOAT;
	if (!v->constant)
		return;
	t = arena_new(a, struct tensor, 1);
	*t = tensor_widened(v->constant, a);
	v->constant = t;
}

/* Between halves and floats nothing is left to do; to halves is to floats. */
static void
widen_cast(const struct graph *wide, struct node *n, struct arena *a)
{
	static const int64_t to = DT_FLOAT;
	const struct value *x = node_in(wide, n, 0), *y = node_out(wide, n, 0);
	struct attr *attr;

	if (!x || !y || y->type.dtype != DT_FLOAT)
		return;
	if (x->type.dtype == DT_FLOAT) {
		n->op = OP_IDENTITY;
		n->op_type = op_get(OP_IDENTITY)->type;
		n->nattrs = 0;
		return;
	}
	attr = arena_new(a, struct attr, 1);
	*attr =
	    (struct attr){.name = "to", .kind = ATTR_INT, .n = 1, .ints = &to};
	n->attr = attr;
	n->nattrs = 1;
}

bool
graph_widen(struct widened_graph *out, const struct graph *g, struct arena *a)
{
	struct graph *wide;
	bool any = false;

	for (value_id v = 0; v < g->nvalues; v++)
		any |= is_half(&g->value[v]);
	if (!any)
		return false;
	wide = arena_copy(a, g, sizeof *g);
	wide->node = arena_copy(a, g->node, g->nnodes * sizeof *g->node);
	wide->value = arena_copy(a, g->value, g->nvalues * sizeof *g->value);
	out->graph = wide;
	out->fit = bitset_new(a, g->nnodes);
	out->halves = bitset_new(a, g->nnodes);
	for (value_id v = 0; v < g->nvalues; v++)
		widen_value(&wide->value[v], a);
	for (node_id id = 0; id < g->nnodes; id++) {
		look_at(out, g, id);
		if (g->node[id].op == OP_CAST && bitset_has(out->fit, id))
			widen_cast(wide, &wide->node[id], a);
	}
	return true;
}

/* ---- candidates ---- */

const struct candidate *
candidate_seen(const struct candidate *c, const struct graph **g)
{
	if (!c->widened)
		return c;
	*g = c->widened->graph;
	return &c->widened->candidate;
}

bool
target_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct candidate *seen = candidate_seen(c, &g);

	return t->kind->compile(t, g, seen, a, out, err);
}
