/* Moving data: concatenation, resizing, transposition. */
#include <string.h>

#include "targets/dnnl/layer.h"

static bool
bind_parts(struct build *b, const struct node *n, const struct md *part)
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
	struct md *part = arena_new(b->arena, struct md, n->ninputs);
	int64_t axis = attr_int_or(n, "axis", 1);
	struct md dst;
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
	        md_concat(&pd, &dst, (struct md_list){(int)n->ninputs, part},
	            (int)axis, b->layer->engine, b->arena),
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
	struct md src, dst;
	struct operation op = {
	    .kind = dnnl_resampling,
	    .alg = attr_is(n, "mode", "nearest", "linear")
	        ? dnnl_resampling_linear
	        : dnnl_resampling_nearest,
	};
	dnnl_primitive_desc_t pd;

	if (!desc_value(b, n->input[0], &src)
	    || !desc_value(b, b->fused.end, &dst))
		return false;
	op.md[ROLE_SRC] = src;
	op.md[ROLE_DST] = dst;
	if (!make_primitive(b, &op, 0, &pd))
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
	struct md src, dst, plain;
	dnnl_primitive_desc_t pd;
	bool ok;

	desc_plain(&src, in->rank, in->dim);
	desc_plain(&plain, in->rank, node_out(b->graph, n, 0)->type.dim);
	for (uint32_t i = 0; i < in->rank; i++) {
		uint32_t from = perm ? (uint32_t)perm[i] : in->rank - 1 - i;

		dims[from] = in->dim[from];
		strides[from] = plain.strides[i];
	}
	dst = md_by_strides((int)in->rank, dims, strides);
	if (!check(
	        b, md_reorder(&pd, &src, &dst, b->layer->engine), "transpose"))
		return false;
	ok = make_from(b, pd) && bind_value(b, DNNL_ARG_FROM, n->input[0], &src)
	    && bind_value(b, DNNL_ARG_TO, b->fused.end, &dst);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
