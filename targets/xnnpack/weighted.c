/* Operators with packed weights: convolution and fully connected. */
#include "targets/weights.h"
#include "targets/window.h"
#include "targets/xnnpack/op.h"

bool
build_convolution(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *t = &node_in(b->graph, n, 1)->type;
	struct operator* o = & b->layer->what;
	struct conv_weights w;
	struct window x;
	const char *fault;

	if (!window_resolve(&x, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	fused_conv_weights(&w, &b->fused, b->graph, b->scratch);
	read_image(b, n->input[0]);
	o->kind = OPERATOR_CONVOLUTION;
	o->window = sides_of(&x);
	o->groups = (uint32_t)attr_int_or(n, "group", 1);
	o->in = (size_t)t->dim[1];
	o->out = (size_t)t->dim[0] / o->groups;
	o->weights = weights_channels_last(w.weights, t, b->scratch);
	o->bias = w.bias;
	clamp_of(&b->fused, 0, &o->low, &o->high);
	return create(b, "convolution");
}

bool
build_dense(struct xnn_build *b)
{
	struct operator* o = & b->layer->what;
	const struct type *in, *weight;
	const struct tensor *matrix;
	struct product p;

	fused_product(&p, &b->fused, b->graph);
	in = &graph_value(b->graph, p.left)->type;
	weight = &graph_value(b->graph, p.right)->type;
	operand_of(b, p.left, in->rank, &b->layer->left);
	o->kind = OPERATOR_DENSE;
	o->batch = type_leading(in, 1);
	o->in = (size_t)weight->dim[p.transpose_right ? 1 : 0];
	o->out = (size_t)weight->dim[p.transpose_right ? 0 : 1];
	o->row = o->out;
	if (p.bias != VALUE_NONE)
		o->bias = scaled_floats(b->graph, p.bias, p.beta, b->scratch);
	clamp_of(&b->fused, 0, &o->low, &o->high);
	o->flags = p.transpose_right ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS;
	matrix = graph_value(b->graph, p.right)->constant;
	if (columns_wanted(matrix))
		return create_columns(b, matrix, &p, "fully connected");
	o->weights = scaled_floats(b->graph, p.right, p.alpha, b->scratch);
	return create(b, "fully connected");
}
