/* Moving data: concatenation, resizing, transposition. */
#include <string.h>

#include "targets/dnnl/layer.h"

static bool
bind_parts(
    struct build *b, const struct node *n, const dnnl_memory_desc_t *part)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (!bind_operand(b, DNNL_ARG_MULTIPLE_SRC + (int)i,
		        n->input[i], &part[i]))
			return false;
	return true;
}

bool
build_concat(struct build *b)
{
	const struct node *n = b->fused.anchor;
	dnnl_memory_desc_t *part =
	    arena_new(b->arena, dnnl_memory_desc_t, n->ninputs);
	int64_t axis = attr_int_or(n, "axis", 1);
	dnnl_memory_desc_t dst;
	dnnl_primitive_desc_t pd;
	bool ok;

	if (!desc_value(b, b->fused.end, &dst))
		return false;
	if (axis < 0)
		axis += dst.ndims;
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (!desc_value(b, n->input[i], &part[i]))
			return false;
	if (!check(b,
	        dnnl_concat_primitive_desc_create(&pd, &dst, (int)n->ninputs,
	            (int)axis, part, NULL, b->layer->engine),
	        "concat"))
		return false;
	ok = make_from(b, pd) && bind_parts(b, n, part)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &dst);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}

bool
build_resize(struct build *b)
{
	const struct node *n = b->fused.anchor;
	dnnl_memory_desc_t src, dst;
	dnnl_resampling_desc_t op;
	dnnl_primitive_desc_t pd;

	if (!desc_value(b, n->input[0], &src)
	    || !desc_value(b, b->fused.end, &dst)
	    || !check(b,
	        dnnl_resampling_forward_desc_init(&op, dnnl_forward_inference,
	            attr_is(n, "mode", "nearest", "linear")
	                ? dnnl_resampling_linear
	                : dnnl_resampling_nearest,
	            NULL, &src, &dst),
	        "resampling")
	    || !make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &src)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &dst);
}

/* A reorder between two orders of the same dimensions. */
bool
build_transpose(struct build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *in = &node_in(b->graph, n, 0)->type;
	uint32_t count = 0;
	const int64_t *perm = attr_ints(n, "perm", &count);
	dnnl_dims_t dims, strides;
	dnnl_memory_desc_t src, dst, plain;
	dnnl_primitive_desc_t pd;
	bool ok;

	desc_plain(&src, in->rank, in->dim);
	desc_plain(&plain, in->rank, node_out(b->graph, n, 0)->type.dim);
	for (uint32_t i = 0; i < in->rank; i++) {
		uint32_t from = perm ? (uint32_t)perm[i] : in->rank - 1 - i;

		dims[from] = in->dim[from];
		strides[from] = plain.format_desc.blocking.strides[i];
	}
	if (!check(b,
	        dnnl_memory_desc_init_by_strides(
	            &dst, (int)in->rank, dims, dnnl_f32, strides),
	        "transpose")
	    || !check(b,
	        dnnl_reorder_primitive_desc_create(
	            &pd, &src, b->layer->engine, &dst, b->layer->engine, NULL),
	        "transpose"))
		return false;
	ok = make_from(b, pd) && bind_value(b, DNNL_ARG_FROM, n->input[0], &src)
	    && bind_value(b, DNNL_ARG_TO, b->fused.end, &dst);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
