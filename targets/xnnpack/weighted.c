/* Operators with packed weights: convolution and fully connected. */
#include "targets/weights.h"
#include "targets/window.h"
#include "targets/xnnpack/op.h"

/* [K, C, kh, kw] to [K, kh, kw, C]. */
static const float *
kernel_last(const float *from, const struct type *t, struct arena *a)
{
	size_t k = (size_t)t->dim[0], c = (size_t)t->dim[1];
	size_t area = (size_t)t->dim[2] * (size_t)t->dim[3];
	float *to = arena_new(a, float, k *c *area);

	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < c; j++)
			for (size_t p = 0; p < area; p++)
				to[(i * area + p) * c + j] =
				    from[(i * c + j) * area + p];
	return to;
}

static enum xnn_status
setup_convolution(
    const struct layer *l, const float *left, const float *right, float *out)
{
	(void)right;
	return xnn_setup_convolution2d_nhwc_f32(
	    l->op, l->batch, l->height, l->width, left, out, library_pool());
}

bool
build_convolution(struct build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *in = &node_in(b->graph, n, 0)->type;
	const struct type *t = &node_in(b->graph, n, 1)->type;
	const size_t group = (size_t)attr_int_or(n, "group", 1);
	const size_t from = (size_t)t->dim[1], to = (size_t)t->dim[0] / group;
	struct conv_weights w;
	struct window x;
	const char *fault;
	float low, high;

	if (!window_resolve(&x, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	fused_conv_weights(&w, &b->fused, b->graph, b->arena);
	clamp_of(&b->fused, 0, &low, &high);
	operand_of(b, n->input[0], 4, &b->layer->left);
	b->layer->batch = (size_t)in->dim[0];
	b->layer->height = (size_t)in->dim[2];
	b->layer->width = (size_t)in->dim[3];
	b->layer->setup = setup_convolution;
	return status_ok(b,
	    xnn_create_convolution2d_nhwc_f32((uint32_t)x.before[0],
	        (uint32_t)x.after[1], (uint32_t)x.after[0],
	        (uint32_t)x.before[1], (uint32_t)x.kernel[0],
	        (uint32_t)x.kernel[1], (uint32_t)x.stride[0],
	        (uint32_t)x.stride[1], (uint32_t)x.dilation[0],
	        (uint32_t)x.dilation[1], (uint32_t)group, from, to,
	        from * group, to * group, kernel_last(w.weights, t, b->arena),
	        w.bias, low, high, 0, &b->layer->op),
	    "convolution");
}

static enum xnn_status
setup_dense(
    const struct layer *l, const float *left, const float *right, float *out)
{
	(void)right;
	return xnn_setup_fully_connected_nc_f32(
	    l->op, l->batch, left, out, library_pool());
}

/* Rows of everything but the last dimension. */
static size_t
rows_of(const struct type *t)
{
	size_t n = 1;

	for (uint32_t i = 0; i + 1 < t->rank; i++)
		n *= (size_t)t->dim[i];
	return n;
}

bool
build_dense(struct build *b)
{
	struct product p;
	const struct type *in, *weight;
	const float *bias = NULL;
	size_t inner, outer;
	float low, high;

	fused_product(&p, &b->fused, b->graph);
	in = &graph_value(b->graph, p.left)->type;
	weight = &graph_value(b->graph, p.right)->type;
	inner = (size_t)weight->dim[p.transpose_right ? 1 : 0];
	outer = (size_t)weight->dim[p.transpose_right ? 0 : 1];
	if (p.bias != VALUE_NONE)
		bias = scaled_floats(b->graph, p.bias, p.beta, b->arena);
	clamp_of(&b->fused, 0, &low, &high);
	operand_of(b, p.left, in->rank, &b->layer->left);
	b->layer->batch = rows_of(in);
	b->layer->setup = setup_dense;
	return status_ok(b,
	    xnn_create_fully_connected_nc_f32(inner, outer, inner, outer,
	        scaled_floats(b->graph, p.right, p.alpha, b->arena), bias, low,
	        high, p.transpose_right ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS,
	        &b->layer->op),
	    "fully connected");
}
