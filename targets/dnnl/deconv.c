/* Transposed convolution with bias and post-operations. */
#include "targets/dequantized.h"
#include "targets/dnnl/accept.h"
#include "targets/dnnl/layer.h"
#include "targets/need.h"

#define NEED why_need

bool
accept_deconv(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	bool ok = need_all_tensors(m, why), fits = true;

	if (!ok || !need_chain(m, why, &f) || !f.anchor
	    || !need_distinct_algorithms(why, f.step, f.nsteps))
		return false;
	ok = need_rank_in(m, why, f.anchor->input[0], 3, 5)
	    && need_transposed(m, why, f.anchor, &w);
	if (!ok)
		return false;
	for (uint32_t i = 0; i < w.n; i++)
		fits &= w.more[i] <= w.after[i];
	ok = NEED(why, fits, "output_padding", "within the padding",
	    "it reaches beyond");
	return need_constant(m, why, f.anchor, 2, "bias") && ok;
}

struct md
deconv_weights(const struct graph *g, const struct node *n)
{
	const struct type *t = &node_in(g, n, 1)->type;
	const int64_t group = attr_int_or(n, "group", 1);
	dnnl_dims_t dims, strides;
	int64_t stride = 1;
	int at = group > 1;

	for (uint32_t i = t->rank; i-- > 0;) {
		/* input and output channels change places */
		int to = at + (i == 0 ? 1 : i == 1 ? 0 : (int)i);

		dims[to] = i == 0 ? t->dim[0] / group : t->dim[i];
		strides[to] = stride;
		stride *= t->dim[i];
	}
	if (group > 1) {
		dims[0] = group;
		strides[0] = strides[2] * dims[2];
	}
	return md_by_strides((int)t->rank + at, dims, strides);
}

bool
deconv_window(struct build *b, struct dnnl_window *d, const struct node *n)
{
	struct window w;
	const char *fault;

	if (!window_transposed(&w, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	for (uint32_t i = 0; i < w.n; i++)
		w.after[i] -= w.more[i];
	layer_dims(d, &w);
	return true;
}

struct deconv {
	const struct node *node;
	bool has_bias;
	struct md src, weights, bias, dst;
};

static bool
describe(struct build *b, struct deconv *d, struct operation *op)
{
	const struct node *n = d->node;

	desc_plain(&d->bias, 1, node_out(b->graph, n, 0)->type.dim + 1);
	if (!desc_value(b, n->input[0], &d->src)
	    || !desc_value(b, b->fused.end, &d->dst))
		return false;
	d->weights = deconv_weights(b->graph, n);
	*op = (struct operation){
	    .kind = dnnl_deconvolution,
	    .alg = dnnl_deconvolution_direct,
	    .md = {[ROLE_SRC] = d->src,
	        [ROLE_WEIGHTS] = md_any(&d->weights),
	        [ROLE_DST] = d->dst},
	};
	if (d->has_bias)
		op->md[ROLE_BIAS] = d->bias;
	return deconv_window(b, &op->window, n);
}

static bool
bind(struct build *b, const struct deconv *d, dnnl_primitive_desc_t pd)
{
	const struct node *n = d->node;
	const uint32_t rank = node_in(b->graph, n, 0)->type.rank;

	return bind_value(b, DNNL_ARG_SRC, n->input[0], &d->src)
	    && bind_constant(b, DNNL_ARG_WEIGHTS,
	        packable_floats(b->graph, n->input[1], b->scratch), &d->weights,
	        wanted(b, pd, dnnl_query_weights_md, 0))
	    && (!d->has_bias
	        || bind_constant(b, DNNL_ARG_BIAS,
	            packable_floats(b->graph, n->input[2], b->scratch),
	            &d->bias, &d->bias))
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &d->dst)
	    && bind_post_operands(b, RESIDUAL_BINARY, rank);
}

bool
build_deconv(struct build *b)
{
	const struct node *n = b->fused.anchor;
	struct deconv d = {
	    .node = n, .has_bias = n->ninputs > 2 && n->input[2] != VALUE_NONE};
	struct operation op;
	dnnl_primitive_desc_t pd;
	bool ok;

	if (!describe(b, &d, &op)
	    || !post_operations(
	        b, RESIDUAL_BINARY, node_in(b->graph, n, 0)->type.rank)
	    || !make_primitive(b, &op, 0, &pd))
		return false;
	ok = bind(b, &d, pd);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
