/* Operators without weights: pooling, pointwise, softmax, products of what is
 * computed, transposition. */
#include "targets/window.h"
#include "targets/xnnpack/op.h"

bool
build_pooling(struct xnn_build *b)
{
	const struct node *n = graph_node(b->graph, b->candidate->match->root);
	struct operator* o = & b->layer->what;
	struct window w;
	const char *fault;

	/* as a pool each is */
	b->fused = (struct fused){
	    .anchor = n, .start = n->input[0], .end = n->output[0]};
	read_image(b, n->input[0]);
	if (n->op == OP_GLOBALAVERAGEPOOL || n->op == OP_REDUCEMEAN) {
		o->kind = OPERATOR_AVERAGE;
		return create(b, "global average pooling");
	}
	if (!window_resolve(&w, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	o->kind = n->op == OP_MAXPOOL ? OPERATOR_MAXIMA : OPERATOR_AVERAGES;
	o->window = sides_of(&w);
	return create(b, "pooling");
}

/* Pointwise operators do not look at the layout: one row of all elements. */
bool
build_unary(struct xnn_build *b)
{
	const struct step *s = &b->fused.step[0];
	const value_id v = b->fused.start;
	struct operator* o = & b->layer->what;
	struct extents x = operand_of(
	    b, v, graph_value(b->graph, v)->type.rank, &b->layer->left);

	o->kind = OPERATOR_UNARY;
	o->step = s->kind;
	o->alpha = s->alpha;
	if (clamp_of(&b->fused, 0, &o->low, &o->high))
		o->step = STEP_CLIP;
	o->batch = 1;
	o->in = 1;
	for (uint32_t i = 0; i < x.rank; i++)
		o->in *= x.size[i];
	return create(b, "pointwise");
}

bool
build_pair(struct xnn_build *b)
{
	const struct step *s = &b->fused.step[0];
	const uint32_t rank = graph_value(b->graph, b->fused.end)->type.rank;
	struct xnn_layer *l = b->layer;

	l->what.kind = OPERATOR_PAIR;
	l->what.step = s->kind;
	l->what.left = operand_of(
	    b, s->swapped ? s->other : b->fused.start, rank, &l->left);
	l->what.right = operand_of(
	    b, s->swapped ? b->fused.start : s->other, rank, &l->right);
	clamp_of(&b->fused, 1, &l->what.low, &l->what.high);
	return create(b, "two operands");
}

/* Rows along the last dimension, or before opset 13 from `axis` on. */
bool
build_distribution(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *t = &node_in(b->graph, n, 0)->type;
	int64_t axis = attr_int_or(n, "axis", n->opset < 13 ? 1 : -1);
	struct operator* o = & b->layer->what;

	axis += axis < 0 ? t->rank : 0;
	operand_of(b, n->input[0], t->rank, &b->layer->left);
	o->kind = OPERATOR_SOFTMAX;
	o->batch = 1;
	o->in = 1;
	for (uint32_t i = 0; i < t->rank; i++)
		if ((int64_t)i < axis)
			o->batch *= (size_t)t->dim[i];
		else
			o->in *= (size_t)t->dim[i];
	return create(b, "softmax");
}

bool
build_product(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	const uint32_t rank = node_in(b->graph, n, 0)->type.rank;
	struct xnn_layer *l = b->layer;

	l->what.kind = OPERATOR_PRODUCT;
	l->what.left = operand_of(b, n->input[0], rank, &l->left);
	l->what.right = operand_of(b, n->input[1], rank, &l->right);
	return create(b, "product");
}

bool
build_transposition(struct xnn_build *b)
{
	const struct node *n = b->fused.anchor;
	struct operator* o = & b->layer->what;
	uint32_t count = 0;
	const int64_t *perm = attr_ints(n, "perm", &count);

	o->kind = OPERATOR_TRANSPOSITION;
	o->left = operand_of(b, n->input[0], node_in(b->graph, n, 0)->type.rank,
	    &b->layer->left);
	for (uint32_t i = 0; i < o->left.rank; i++)
		o->order[i] = perm ? (size_t)perm[i] : o->left.rank - 1 - i;
	return create(b, "transposition");
}
