/* Convolution with bias, folded BatchNormalization and post-operations. */
#include "targets/dnnl/layer.h"
#include "targets/dnnl/ways.h"
#include "targets/weights.h"
#include "targets/window.h"

struct dnnl_conv {
	const struct way *way;
	struct window window;
	int64_t group;
	const struct type *in, *weight, *out;
	struct conv_weights constant;
	struct md src, weight_plain, bias_desc, dst;
};

static bool
describe(struct build *b, struct dnnl_conv *c)
{
	const struct node *n = b->fused.anchor;
	const char *fault;

	c->way = way_get(b->candidate->implementation);
	if (!window_resolve(&c->window, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	c->group = attr_int_or(n, "group", 1);
	c->in = &node_in(b->graph, n, 0)->type;
	c->weight = &node_in(b->graph, n, 1)->type;
	c->out = &node_out(b->graph, n, 0)->type;
	fused_conv_weights(&c->constant, &b->fused, b->graph, b->scratch);
	desc_filters(&c->weight_plain, c->weight, c->group);
	desc_plain(&c->bias_desc, 1, c->weight->dim);
	return desc_value(b, n->input[0], &c->src)
	    && desc_value(b, b->fused.end, &c->dst);
}

static struct operation
operation_of(const struct dnnl_conv *c)
{
	struct operation op = {
	    .kind = dnnl_convolution,
	    .alg = c->way->algorithm >= WINOGRAD ? dnnl_convolution_winograd
	                                         : dnnl_convolution_direct,
	    .md = {[ROLE_SRC] = c->src,
	        [ROLE_WEIGHTS] = md_any(&c->weight_plain),
	        [ROLE_DST] = c->dst},
	};

	op.md[ROLE_WEIGHTS].type = c->src.type;
	if (c->constant.bias)
		op.md[ROLE_BIAS] = c->bias_desc;
	layer_dims(&op.window, &c->window);
	return op;
}

static bool
bind(struct build *b, struct dnnl_conv *c, dnnl_primitive_desc_t pd)
{
	return need_kernel(b, pd, c->out, c->weight)
	    && bind_value(b, DNNL_ARG_SRC, b->fused.anchor->input[0], &c->src)
	    && bind_constant(b, DNNL_ARG_WEIGHTS, c->constant.weights,
	        &c->weight_plain, wanted(b, pd, dnnl_query_weights_md, 0))
	    && (!c->constant.bias
	        || bind_constant(b, DNNL_ARG_BIAS, c->constant.bias,
	            &c->bias_desc, &c->bias_desc))
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &c->dst)
	    && bind_post_operands(b, c->way->residual, c->out->rank);
}

bool
build_conv(struct build *b)
{
	struct dnnl_conv c = {0};
	struct operation op;
	dnnl_primitive_desc_t pd;
	bool ok;

	if (!describe(b, &c)
	    || !post_operations(b, c.way->residual, c.out->rank))
		return false;
	op = operation_of(&c);
	if (!make_primitive(b, &op, way_nth(c.way), &pd))
		return false;
	ok = bind(b, &c, pd);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
