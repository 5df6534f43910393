/* Softmax and the normalisations. */
#include <string.h>

#include "targets/dnnl/layer.h"
#include "targets/layer_norm.h"

static uint32_t
axis_of(const struct node *n, int64_t otherwise, uint32_t rank)
{
	int64_t axis = attr_int_or(n, "axis", otherwise);

	return (uint32_t)(axis < 0 ? axis + rank : axis);
}

/* The tensor as a matrix: dimensions before `axis`, and from it on. */
static void
desc_matrix(dnnl_memory_desc_t *md, const struct type *t, uint32_t axis)
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
	uint32_t axis = axis_of(n, n->opset < 13 ? 1 : -1, t->rank);
	dnnl_memory_desc_t md;
	dnnl_softmax_v2_desc_t op;
	dnnl_primitive_desc_t pd;

	if (n->opset < 13) {
		desc_matrix(&md, t, axis);
		axis = 1;
	} else if (!desc_value(b, n->input[0], &md)) {
		return false;
	}
	if (!check(b,
	        dnnl_softmax_v2_forward_desc_init(&op, dnnl_forward_inference,
	            n->op == OP_SOFTMAX ? dnnl_softmax_accurate
	                                : dnnl_softmax_log,
	            &md, &md, (int)axis),
	        "softmax")
	    || !make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &md);
}

/* Bind a constant vector, when the node has it. */
static bool
bind_vector(struct build *b, int arg, value_id v)
{
	dnnl_memory_desc_t md;
	int64_t count;

	if (v == VALUE_NONE)
		return true;
	count = (int64_t)graph_value(b->graph, v)->constant->count;
	desc_plain(&md, 1, &count);
	return bind_operand(b, arg, v, &md);
}

bool
build_layer_norm(struct build *b)
{
	unsigned flags = 0;
	dnnl_memory_desc_t md;
	dnnl_layer_normalization_desc_t op;
	dnnl_primitive_desc_t pd;
	struct layer_norm l;
	const char *fault;

	if (!layer_norm_read(&l, b->graph, b->candidate->match, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "oneDNN: %s", fault);
	if (l.scale != VALUE_NONE)
		flags |= dnnl_use_scale;
	if (l.shift != VALUE_NONE)
		flags |= dnnl_use_shift;
	desc_matrix(&md, &graph_value(b->graph, l.x)->type, l.axis);
	if (!check(b,
	        dnnl_layer_normalization_forward_desc_init(
	            &op, dnnl_forward_inference, &md, NULL, l.epsilon, flags),
	        "layer normalization")
	    || !make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, l.x, &md)
	    && bind_vector(b, DNNL_ARG_SCALE, l.scale)
	    && bind_vector(b, DNNL_ARG_SHIFT, l.shift)
	    && bind_value(b, DNNL_ARG_DST, l.y, &md);
}

bool
build_batch_norm(struct build *b)
{
	const struct node *n = b->fused.anchor;
	dnnl_memory_desc_t md;
	dnnl_batch_normalization_desc_t op;
	dnnl_primitive_desc_t pd;

	if (!desc_value(b, n->input[0], &md)
	    || !check(b,
	        dnnl_batch_normalization_forward_desc_init(&op,
	            dnnl_forward_inference, &md,
	            attr_float_or(n, "epsilon", 1e-5f),
	            dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift),
	        "batch normalization")
	    || !post_operations(b, RESIDUAL_BINARY, (uint32_t)md.ndims)
	    || !make_primitive(b, &op, 0, &pd))
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
	dnnl_memory_desc_t md;
	dnnl_lrn_desc_t op;
	dnnl_primitive_desc_t pd;

	if (!desc_value(b, n->input[0], &md)
	    || !check(b,
	        dnnl_lrn_forward_desc_init(&op, dnnl_forward_inference,
	            dnnl_lrn_across_channels, &md, attr_int_or(n, "size", 1),
	            attr_float_or(n, "alpha", 1e-4f),
	            attr_float_or(n, "beta", 0.75f),
	            attr_float_or(n, "bias", 1)),
	        "local response normalization")
	    || !make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &md);
}
