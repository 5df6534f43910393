#include "targets/mrvl/low_import.h"

#include <string.h>

/* ---- what the importers share ---- */

const struct node *
import_node_of(const struct import *m, node_id id)
{
	return graph_node(m->graph, id);
}

struct dims
import_dims_of_type(const struct type *t)
{
	struct dims none = {0};

	if (t->kind != TYPE_TENSOR || t->rank > DIMS_MAX)
		return none;
	return dims_of(t);
}

bool
dims_are_static(const struct dims *d)
{
	for (uint32_t i = 0; i < d->rank; i++)
		if (d->dim[i] < 0)
			return false;
	return true;
}

const struct dims *
import_dims(const struct import *m, low_id id)
{
	return &low_get(m->low, id)->dims;
}

uint32_t
import_rank(const struct import *m, low_id id)
{
	return import_dims(m, id)->rank;
}

/* The first output that there is: leading ones may be left out. */
static uint32_t
first_output(const struct node *n)
{
	uint32_t i = 0;

	while (i + 1 < n->noutputs && n->output[i] == VALUE_NONE)
		i++;
	return i;
}

struct low
import_blank(
    const struct import *m, node_id id, enum low_kind kind, const char *name)
{
	const struct node *n = import_node_of(m, id);
	value_id v = n->output[first_output(n)];
	struct low op = {
	    .kind = kind, .name = name, .node = id, .value = VALUE_NONE};

	if (v == VALUE_NONE)
		return op;
	op.dims = import_dims_of_type(&graph_value(m->graph, v)->type);
	op.dtype = graph_value(m->graph, v)->type.dtype;
	return op;
}

low_id
import_input(const struct import *m, node_id id, uint32_t i)
{
	const struct node *n = import_node_of(m, id);

	return i < n->ninputs && n->input[i] != VALUE_NONE ? m->of[n->input[i]]
	                                                   : LOW_NONE;
}

low_id
import_add(struct import *m, struct low *op, uint32_t nin, const low_id *in)
{
	op->nin = nin;
	op->in = in;
	return low_add(m->low, op);
}

/* An operator made for the node is that value; an input passed on is not. */
bool
import_define(struct import *m, node_id id, low_id what)
{
	value_id v = import_node_of(m, id)->output[0];
	struct low *op = &m->low->op[what];

	if (op->node == id && op->value == VALUE_NONE)
		op->value = v;
	m->of[v] = what;
	return true;
}

low_id
import_scalar(struct import *m, float x)
{
	struct tensor *t = arena_new(m->low->arena, struct tensor, 1);
	struct packed k = {.tensor = t, .scale = 1, .value = VALUE_NONE};

	*t = tensor_fill(DT_FLOAT, 0, NULL, &x);
	return low_const(m->low, &k);
}

/* ---- steps ---- */

/* An operator of node `id` on the way, of the shape of `x`. */
static struct low
step_like(const struct import *m, node_id id, low_id x, enum low_kind kind,
    const char *name)
{
	const struct low *like = low_get(m->low, x);

	return (struct low){.kind = kind,
	    .name = name,
	    .node = id,
	    .dims = like->dims,
	    .dtype = like->dtype,
	    .value = VALUE_NONE};
}

low_id
step_unary(struct import *m, node_id id, const char *name, low_id x)
{
	enum low_kind kind =
	    strcmp(name, "nn.relu") == 0 ? LOW_RELU : LOW_UNARY;
	struct low op = step_like(m, id, x, kind, name);

	return import_add(m, &op, 1, &x);
}

static enum low_kind
binary_kind(const char *name)
{
	if (strcmp(name, "add") == 0)
		return LOW_ADD;
	return strcmp(name, "multiply") == 0 ? LOW_MULTIPLY : LOW_BINARY;
}

low_id
step_binary(struct import *m, node_id id, const char *name, low_id x, low_id y)
{
	const struct dims a = *import_dims(m, x), b = *import_dims(m, y);
	const struct dims *large = a.rank >= b.rank ? &a : &b;
	const struct dims *small = large == &a ? &b : &a;
	struct low op = step_like(m, id, x, binary_kind(name), name);
	uint32_t skip = large->rank - small->rank;
	low_id in[] = {x, y};

	op.dims = *large;
	for (uint32_t i = 0; i < small->rank; i++)
		if (op.dims.dim[skip + i] == 1)
			op.dims.dim[skip + i] = small->dim[i];
	return import_add(m, &op, 2, in);
}

low_id
step_reshape(struct import *m, node_id id, low_id x, const struct dims *to)
{
	struct low op = step_like(m, id, x, LOW_RESHAPE, "reshape");

	op.dims = *to;
	return import_add(m, &op, 1, &x);
}

low_id
step_transpose(struct import *m, node_id id, low_id x, const uint32_t *perm)
{
	struct low op = step_like(m, id, x, LOW_TRANSPOSE, "transpose");

	op.dims = dims_permuted(&op.dims, perm);
	memcpy(op.perm, perm, op.dims.rank * sizeof *perm);
	return import_add(m, &op, 1, &x);
}

low_id
step_expand(struct import *m, node_id id, low_id x, uint32_t axis)
{
	struct low op = step_like(m, id, x, LOW_EXPAND, "expand_dims");
	struct dims d = op.dims;

	op.dims.rank++;
	for (uint32_t i = 0, k = 0; i < op.dims.rank; i++)
		op.dims.dim[i] = i == axis ? 1 : d.dim[k++];
	return import_add(m, &op, 1, &x);
}

/* ---- what nothing else is known of ---- */

static void
define_fields(struct import *m, node_id id, low_id whole)
{
	const struct node *n = import_node_of(m, id);

	for (uint32_t i = 0, k = 0; i < n->noutputs; i++) {
		const struct value *v;
		struct low field = {.kind = LOW_FIELD,
		    .name = "field",
		    .node = id,
		    .value = n->output[i]};

		if (n->output[i] == VALUE_NONE)
			continue;
		v = graph_value(m->graph, n->output[i]);
		field.dims = import_dims_of_type(&v->type);
		field.dtype = v->type.dtype;
		field.axis = k++;
		m->of[n->output[i]] = import_add(m, &field, 1, &whole);
	}
}

static bool
make_opaque(struct import *m, node_id id, const char *name, uint32_t nin_most)
{
	const struct node *n = import_node_of(m, id);
	struct low op = import_blank(m, id, LOW_OPAQUE, name);
	uint32_t most = n->ninputs + n->nimplicit, nin = 0;
	low_id *in = arena_new(m->low->arena, low_id, most);
	struct dims *more = arena_new(m->low->arena, struct dims, n->noutputs);
	low_id whole;

	for (uint32_t i = 0; i < most && nin < nin_most; i++)
		if (n->input[i] != VALUE_NONE)
			in[nin++] = m->of[n->input[i]];
	for (uint32_t i = first_output(n) + 1; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			more[op.nmore++] = import_dims_of_type(
			    &graph_value(m->graph, n->output[i])->type);
	op.more = more;
	whole = import_add(m, &op, nin, in);
	if (op.nmore == 0 && n->output[0] != VALUE_NONE)
		return import_define(m, id, whole);
	define_fields(m, id, whole);
	return true;
}

bool
import_opaque(struct import *m, node_id id, const char *name)
{
	return make_opaque(m, id, name, UINT32_MAX);
}

/* What is constant beside the data is an attribute there. */
bool
import_data_only(struct import *m, node_id id, const char *name)
{
	return make_opaque(m, id, name, 1);
}

/* ---- the whole ---- */

static const struct {
	enum op op;
	importer *import;
	const char *name;
} importers[] = {
#define IMPORT(op, function, name) {OP_##op, import_##function, name},
#include "targets/mrvl/low_import.def"
#undef IMPORT
};

static bool
import_node(struct import *m, node_id id)
{
	const struct node *n = import_node_of(m, id);

	for (size_t i = 0; i < sizeof importers / sizeof importers[0]; i++)
		if (importers[i].op == n->op && n->domain[0] == '\0')
			return importers[i].import(m, id, importers[i].name);
	return import_opaque(m, id, n->op_type);
}

static void
import_value(struct import *m, value_id v)
{
	const struct value *value = graph_value(m->graph, v);
	struct low var = {.kind = LOW_VAR,
	    .name = "var",
	    .node = NODE_NONE,
	    .dtype = value->type.dtype,
	    .value = v};
	const struct tensor *t = value->constant;

	if (t && t->dtype == DT_FLOAT && t->rank <= DIMS_MAX) {
		struct packed k = packed_of(m->graph, v);

		m->of[v] = low_const(m->low, &k);
		return;
	}
	var.dims = import_dims_of_type(&value->type);
	if (t) {
		/* not float32: nothing here looks into it */
		var.kind = LOW_CONST;
		var.name = "constant";
	}
	m->of[v] = low_add(m->low, &var);
}

bool
low_import(
    struct lowered *l, const struct graph *g, struct arena *a, struct err *err)
{
	struct import m = {.low = l, .graph = g, .err = err};

	*l = (struct lowered){.graph = g, .arena = a};
	m.of = arena_new(a, low_id, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++) {
		m.of[v] = LOW_NONE;
		if (g->value[v].producer == NODE_NONE || g->value[v].constant)
			import_value(&m, v);
	}
	for (node_id id = 0; id < g->nnodes; id++)
		if (!import_node(&m, id))
			return false;
	l->noutputs = g->noutputs;
	l->output = arena_new(a, low_id, g->noutputs);
	for (uint32_t i = 0; i < g->noutputs; i++) {
		l->output[i] = m.of[g->output[i]];
		if (l->output[i] == LOW_NONE)
			return err_set(err, ERR_UNSUPPORTED,
			    "output '%s' has no producer",
			    g->value[g->output[i]].name);
	}
	return true;
}
