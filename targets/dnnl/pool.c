/* Pooling, local and global. */
#include <string.h>

#include "targets/dnnl/layer.h"
#include "targets/window.h"

/* Global pooling is a window as large as the map. */
static void
whole_map(struct window *w, const struct type *in)
{
	*w = (struct window){.n = in->rank - 2};
	for (uint32_t i = 0; i < w->n; i++) {
		w->kernel[i] = in->dim[i + 2];
		w->stride[i] = w->dilation[i] = 1;
	}
}

static dnnl_alg_kind_t
algorithm(const struct node *n)
{
	if (n->op == OP_MAXPOOL || n->op == OP_GLOBALMAXPOOL)
		return dnnl_pooling_max;
	if (attr_int_or(n, "count_include_pad", 0) != 0)
		return dnnl_pooling_avg_include_padding;
	return dnnl_pooling_avg_exclude_padding;
}

bool
build_pool(struct build *b)
{
	const struct node *n = match_as_node(b->candidate->match, b->graph);
	const struct type *in = &node_in(b->graph, n, 0)->type;
	struct md src, dst;
	struct operation op = {.kind = dnnl_pooling, .alg = algorithm(n)};
	dnnl_primitive_desc_t pd;
	struct window w;
	const char *fault;

	/* an operator by itself, or an idiom that is one */
	b->fused = (struct fused){.anchor = n, .end = n->output[0]};
	if (n->op == OP_GLOBALMAXPOOL || n->op == OP_GLOBALAVERAGEPOOL
	    || n->op == OP_REDUCEMEAN)
		whole_map(&w, in);
	else if (!window_resolve(&w, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	layer_dims(&op.window, &w);
	if (!desc_value(b, n->input[0], &src)
	    || !desc_value(b, b->fused.end, &dst)
	    || !post_operations(b, RESIDUAL_BINARY, in->rank))
		return false;
	op.md[ROLE_SRC] = src;
	op.md[ROLE_DST] = dst;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, n->input[0], &src)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &dst)
	    && bind_post_operands(b, RESIDUAL_BINARY, in->rank);
}
