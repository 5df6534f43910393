/* Softmax and the normalisations. */
#include <string.h>

#include "targets/axes.h"
#include "targets/dnnl/accept.h"
#include "targets/dnnl/layer.h"

/* The tensor as a matrix: dimensions before `axis`, and from it on. */
static void
desc_matrix(struct md *md, const struct type *t, uint32_t axis)
{
	int64_t dim[2] = {1, 1};

	for (uint32_t i = 0; i < t->rank; i++)
		dim[i >= axis] *= t->dim[i];
	desc_plain(md, 2, dim);
}

/* Before opset 13 everything from `axis` on is one distribution. */
bool
build_softmax(struct build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *t = &node_in(b->graph, n, 0)->type;
	uint32_t axis = axes_one(n, n->opset < 13 ? 1 : -1, t->rank);
	struct md md;
	struct operation op = {
	    .kind = dnnl_softmax,
	    .alg =
	        n->op == OP_SOFTMAX ? dnnl_softmax_accurate : dnnl_softmax_log,
	};
	dnnl_primitive_desc_t pd;

	if (n->opset < 13) {
		desc_matrix(&md, t, axis);
		md.type = t->dtype == DT_FLOAT16 ? dnnl_f16 : dnnl_f32;
		axis = 1;
	} else if (!desc_value(b, n->input[0], &md)) {
		return false;
	}
	op.md[ROLE_SRC] = op.md[ROLE_DST] = md;
	op.n = axis;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &md);
}

/* Bind a constant vector, when the node has it. */
static bool
bind_vector(struct build *b, int arg, value_id v)
{
	struct md md;
	int64_t count;

	if (v == VALUE_NONE)
		return true;
	count = (int64_t)graph_value(b->graph, v)->constant->count;
	desc_plain(&md, 1, &count);
	return bind_operand(b, arg, v, &md);
}

uint32_t
dnnl_norm_axis(const struct graph *g, const struct node *n)
{
	return axes_one(n, -1, node_in(g, n, 0)->type.rank);
}

/* The value of input i unless it does nothing: an idiom has ones for a scale
 * that the model does without. */
static value_id
weights_of(const struct build *b, const struct node *n, uint32_t i)
{
	const struct tensor *t;
	const float one = 1;

	if (i >= n->ninputs || n->input[i] == VALUE_NONE)
		return VALUE_NONE;
	t = graph_value(b->graph, n->input[i])->constant;
	return i == 1 && t->kind == TENSOR_FILL
	        && memcmp(t->fill, &one, sizeof one) == 0
	    ? VALUE_NONE
	    : n->input[i];
}

bool
build_layer_norm(struct build *b)
{
	const struct match *m = b->candidate->match;
	const struct node *n = match_as_node(m, b->graph);
	struct operation op = {.kind = dnnl_layer_normalization};
	dnnl_primitive_desc_t pd;
	value_id scale, shift;
	struct md md;

	b->graph = match_graph(m, b->graph);
	scale = weights_of(b, n, 1);
	shift = weights_of(b, n, 2);
	if (scale != VALUE_NONE)
		op.flags |= dnnl_use_scale;
	if (shift != VALUE_NONE)
		op.flags |= dnnl_use_shift;
	desc_matrix(
	    &md, &node_in(b->graph, n, 0)->type, dnnl_norm_axis(b->graph, n));
	op.md[ROLE_SRC] = op.md[ROLE_DST] = md;
	op.a = attr_float_or(n, "epsilon", 1e-5f);
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_vector(b, DNNL_ARG_SCALE, scale)
	    && bind_vector(b, DNNL_ARG_SHIFT, shift)
	    && bind_value(b, DNNL_ARG_DST, n->output[0], &md);
}

bool
dnnl_has_groups(void)
{
	return library_groups != dnnl_undefined_primitive;
}

int64_t
dnnl_norm_groups(const struct graph *g, const struct node *n)
{
	return n->op == OP_GROUPNORMALIZATION ? attr_int_or(n, "num_groups", 1)
	                                      : node_in(g, n, 0)->type.dim[1];
}

bool
build_group_norm(struct build *b)
{
	const struct match *m = b->candidate->match;
	const struct node *n = match_as_node(m, b->graph);
	struct operation op = {
	    .kind = library_groups,
	    .n = dnnl_norm_groups(b->graph, n),
	    .a = attr_float_or(n, "epsilon", 1e-5f),
	    .flags = dnnl_use_scale | dnnl_use_shift,
	};
	dnnl_primitive_desc_t pd;
	struct md md;

	if (!desc_value(b, n->input[0], &md))
		return false;
	b->graph = match_graph(m, b->graph);
	op.md[ROLE_SRC] = op.md[ROLE_DST] = md;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_vector(b, DNNL_ARG_SCALE, n->input[1])
	    && bind_vector(b, DNNL_ARG_SHIFT, n->input[2])
	    && bind_value(b, DNNL_ARG_DST, n->output[0], &md);
}

bool
build_batch_norm(struct build *b)
{
	const struct node *n = b->fused.anchor;
	struct md md;
	struct operation op = {
	    .kind = dnnl_batch_normalization,
	    .a = attr_float_or(n, "epsilon", 1e-5f),
	    .flags = dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift,
	};
	dnnl_primitive_desc_t pd;

	if (!desc_value(b, n->input[0], &md)
	    || !post_operations(b, RESIDUAL_BINARY, (uint32_t)md.ndims))
		return false;
	op.md[ROLE_SRC] = op.md[ROLE_DST] = md;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_vector(b, DNNL_ARG_SCALE, n->input[1])
	    && bind_vector(b, DNNL_ARG_SHIFT, n->input[2])
	    && bind_vector(b, DNNL_ARG_MEAN, n->input[3])
	    && bind_vector(b, DNNL_ARG_VARIANCE, n->input[4])
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &md);
}

bool
build_lrn(struct build *b)
{
	const struct node *n = b->fused.anchor;
	struct md md;
	struct operation op = {
	    .kind = dnnl_lrn,
	    .alg = dnnl_lrn_across_channels,
	    .n = attr_int_or(n, "size", 1),
	    .a = attr_float_or(n, "alpha", 1e-4f),
	    .b = attr_float_or(n, "beta", 0.75f),
	    .c = attr_float_or(n, "bias", 1),
	};
	dnnl_primitive_desc_t pd;

	if (!desc_value(b, n->input[0], &md))
		return false;
	op.md[ROLE_SRC] = op.md[ROLE_DST] = md;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &md);
}
