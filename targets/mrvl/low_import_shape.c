#include <string.h>

#include "targets/mrvl/low_import.h"

/* Operators that move, cut, join and reduce. */

static uint32_t
axis_of(int64_t axis, uint32_t rank)
{
	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

bool
import_concat(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	struct low op = import_blank(m, id, LOW_CONCAT, name);
	low_id *in = arena_new(m->low->arena, low_id, n->ninputs);

	for (uint32_t i = 0; i < n->ninputs; i++)
		in[i] = import_input(m, id, i);
	op.axis = axis_of(attr_int_or(n, "axis", 1), op.dims.rank);
	return import_define(m, id, import_add(m, &op, n->ninputs, in));
}

static void
split_fields(struct import *m, node_id id, low_id whole)
{
	const struct node *n = import_node_of(m, id);

	for (uint32_t i = 0; i < n->noutputs; i++) {
		const struct value *v;
		struct low field = {.kind = LOW_FIELD,
		    .name = "field",
		    .node = id,
		    .axis = i,
		    .value = n->output[i]};

		if (n->output[i] == VALUE_NONE)
			continue;
		v = graph_value(m->graph, n->output[i]);
		field.dims = import_dims_of_type(&v->type);
		field.dtype = v->type.dtype;
		m->of[n->output[i]] = import_add(m, &field, 1, &whole);
	}
}

bool
import_split(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	struct low op = import_blank(m, id, LOW_SPLIT, name);
	struct dims *more = arena_new(m->low->arena, struct dims, n->noutputs);
	low_id x = import_input(m, id, 0);

	op.axis = axis_of(attr_int_or(n, "axis", 0), op.dims.rank);
	for (uint32_t i = 1; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE)
			more[op.nmore++] = import_dims_of_type(
			    &graph_value(m->graph, n->output[i])->type);
	op.more = more;
	split_fields(m, id, import_add(m, &op, 1, &x));
	return true;
}

bool
import_slice(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	struct low op = import_blank(m, id, LOW_SLICE, name);
	low_id x = import_input(m, id, 0);

	for (uint32_t i = 1; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && !node_in(m->graph, n, i)->constant)
			return import_opaque(m, id, "dyn.strided_slice");
	return import_define(m, id, import_add(m, &op, 1, &x));
}

bool
import_reshape(struct import *m, node_id id, const char *name)
{
	struct low op = import_blank(m, id, LOW_RESHAPE, name);
	low_id x = import_input(m, id, 0);

	return import_define(m, id, import_add(m, &op, 1, &x));
}

bool
import_flatten(struct import *m, node_id id, const char *name)
{
	struct low op = import_blank(m, id, LOW_BATCH_FLATTEN, name);
	low_id x = import_input(m, id, 0);
	int64_t axis = attr_int_or(import_node_of(m, id), "axis", 1);

	if (axis_of(axis, import_rank(m, x)) != 1) {
		op.kind = LOW_RESHAPE;
		op.name = "reshape";
	}
	return import_define(m, id, import_add(m, &op, 1, &x));
}

/* Axes as an attribute (old opsets) or as a constant input. */
static uint32_t
read_axes(const struct import *m, node_id id, int64_t *axes, bool *from_input)
{
	const struct node *n = import_node_of(m, id);
	uint32_t count, k = 0;
	const int64_t *list = attr_ints(n, "axes", &count);
	const struct value *v = n->ninputs > 1 ? node_in(m->graph, n, 1) : NULL;

	for (; list && k < count && k < DIMS_MAX; k++)
		axes[k] = list[k];
	*from_input = !list && v && v->constant;
	for (; *from_input && k < v->constant->count && k < DIMS_MAX; k++)
		axes[k] = tensor_int(v->constant, k);
	return k;
}

static void
mark_axes(struct low *op, uint32_t rank, const int64_t *axes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (axis_of(axes[i], rank) < rank)
			op->reduced[axis_of(axes[i], rank)] = true;
}

bool
import_squeeze(struct import *m, node_id id, const char *name)
{
	struct low op = import_blank(m, id, LOW_SQUEEZE, name);
	low_id x = import_input(m, id, 0);
	struct dims d = *import_dims(m, x);
	int64_t axes[DIMS_MAX];
	bool from_input;
	uint32_t n = read_axes(m, id, axes, &from_input);

	mark_axes(&op, d.rank, axes, n);
	for (uint32_t i = 0; n == 0 && i < d.rank; i++)
		op.reduced[i] = d.dim[i] == 1;
	return import_define(m, id, import_add(m, &op, 1, &x));
}

/* One dimension at a time, in ascending order of what the axes say. */
bool
import_unsqueeze(struct import *m, node_id id, const char *name)
{
	low_id x = import_input(m, id, 0);
	int64_t axes[DIMS_MAX];
	bool from_input;
	uint32_t n = read_axes(m, id, axes, &from_input);

	if (n == 0 || import_rank(m, x) + n > DIMS_MAX)
		return import_opaque(m, id, name);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = i; k > 0 && axes[k - 1] > axes[k]; k--) {
			int64_t swap = axes[k];

			axes[k] = axes[k - 1];
			axes[k - 1] = swap;
		}
	for (uint32_t i = 0; i < n; i++) {
		/* a negative axis counts from the end of a model input's
		 * final shape, of anything else's next */
		uint32_t left = low_get(m->low, x)->kind == LOW_VAR ? n - i : 1;
		int64_t axis =
		    axes[i] < 0 ? axes[i] + import_rank(m, x) + left : axes[i];

		x = step_expand(m, id, x, (uint32_t)axis);
	}
	return import_define(m, id, x);
}

bool
import_transpose(struct import *m, node_id id, const char *name)
{
	struct low op = import_blank(m, id, LOW_TRANSPOSE, name);
	low_id x = import_input(m, id, 0);
	uint32_t count;
	const int64_t *perm = attr_ints(import_node_of(m, id), "perm", &count);

	for (uint32_t i = 0; i < op.dims.rank; i++)
		op.perm[i] = perm && i < count ? (uint32_t)perm[i]
		                               : op.dims.rank - 1 - i;
	return import_define(m, id, import_add(m, &op, 1, &x));
}

/* image.resize1d, 2d, 3d and nn.upsampling, nn.upsampling3d. */
bool
import_resize(struct import *m, node_id id, const char *name)
{
	static const char *const layout[] = {
	    [3] = "NCW", [4] = "NCHW", [5] = "NCDHW"};
	bool up = import_node_of(m, id)->op == OP_UPSAMPLE;
	struct low op =
	    import_blank(m, id, up ? LOW_UPSAMPLE : LOW_RESIZE, name);
	low_id x = import_input(m, id, 0);
	uint32_t rank = import_rank(m, x);

	if (rank < 3 || rank > 5)
		return import_opaque(m, id, name);
	strcpy(op.layout, layout[rank]);
	if (!up || rank == 5)
		op.name = arena_printf(m->low->arena, "%s%ud", name, rank - 2);
	return import_define(m, id, import_add(m, &op, 1, &x));
}

/* ---- reductions ---- */

/* What comes before and after the sum in the compound reductions. */
static low_id
before_sum(struct import *m, node_id id, low_id x)
{
	switch (import_node_of(m, id)->op) {
	case OP_REDUCEL1:
		return step_unary(m, id, "abs", x);
	case OP_REDUCEL2:
	case OP_REDUCESUMSQUARE:
		return step_binary(m, id, "multiply", x, x);
	default:
		return x;
	}
}

static low_id
after_sum(struct import *m, node_id id, low_id x)
{
	switch (import_node_of(m, id)->op) {
	case OP_REDUCEL2:
		return step_unary(m, id, "sqrt", x);
	case OP_REDUCELOGSUM:
		return step_unary(m, id, "log", x);
	default:
		return x;
	}
}

bool
import_reduce(struct import *m, node_id id, const char *name)
{
	const struct node *node = import_node_of(m, id);
	struct low op = import_blank(m, id, LOW_REDUCE, name);
	low_id x = before_sum(m, id, import_input(m, id, 0));
	uint32_t rank = import_rank(m, x), n;
	int64_t axes[DIMS_MAX];
	bool from_input;

	n = read_axes(m, id, axes, &from_input);
	if (from_input && n > 1)
		return err_set(m->err, ERR_UNSUPPORTED,
		    "node '%s': upstream reduces the first of %u axes only",
		    node->name, n);
	if (n == 0 && attr_int_or(node, "noop_with_empty_axes", 0))
		return import_define(m, id, import_input(m, id, 0));
	mark_axes(&op, rank, axes, n);
	for (uint32_t i = 0; n == 0 && i < rank; i++)
		op.reduced[i] = true;
	op.keepdims = attr_int_or(node, "keepdims", 1) != 0;
	x = import_add(m, &op, 1, &x);
	return import_define(m, id, after_sum(m, id, x));
}

/* Indices are 32 bits wide there, and cast. */
bool
import_arg_reduce(struct import *m, node_id id, const char *name)
{
	const struct node *n = import_node_of(m, id);
	struct low op = import_blank(m, id, LOW_REDUCE, name);
	struct low cast = import_blank(m, id, LOW_CAST, "cast");
	low_id x = import_input(m, id, 0);
	int64_t axis = attr_int_or(n, "axis", 0);

	mark_axes(&op, import_rank(m, x), &axis, 1);
	op.keepdims = attr_int_or(n, "keepdims", 1) != 0;
	op.dtype = DT_INT32;
	x = import_add(m, &op, 1, &x);
	return import_define(m, id, import_add(m, &cast, 1, &x));
}
