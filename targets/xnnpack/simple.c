/* Operators without weights: pooling, pointwise, softmax. */
#include <math.h>

#include "targets/window.h"
#include "targets/xnnpack/op.h"

/* ---- pooling ---- */

static enum xnn_status
setup_max(
    const struct layer *l, const float *left, const float *right, float *out)
{
	(void)right;
	return xnn_setup_max_pooling2d_nhwc_f32(
	    l->op, l->batch, l->height, l->width, left, out, library_pool());
}

static enum xnn_status
setup_average(
    const struct layer *l, const float *left, const float *right, float *out)
{
	(void)right;
	return xnn_setup_average_pooling2d_nhwc_f32(
	    l->op, l->batch, l->height, l->width, left, out, library_pool());
}

static enum xnn_status
setup_global(
    const struct layer *l, const float *left, const float *right, float *out)
{
	(void)right;
	return xnn_setup_global_average_pooling_nwc_f32(
	    l->op, l->batch, l->height * l->width, left, out, library_pool());
}

static enum xnn_status
create_pooling(
    struct layer *l, enum op op, const struct window *w, size_t channels)
{
	if (op == OP_MAXPOOL) {
		l->setup = setup_max;
		return xnn_create_max_pooling2d_nhwc_f32((uint32_t)w->before[0],
		    (uint32_t)w->after[1], (uint32_t)w->after[0],
		    (uint32_t)w->before[1], (uint32_t)w->kernel[0],
		    (uint32_t)w->kernel[1], (uint32_t)w->stride[0],
		    (uint32_t)w->stride[1], (uint32_t)w->dilation[0],
		    (uint32_t)w->dilation[1], channels, channels, channels,
		    -INFINITY, INFINITY, 0, &l->op);
	}
	l->setup = setup_average;
	return xnn_create_average_pooling2d_nhwc_f32((uint32_t)w->before[0],
	    (uint32_t)w->after[1], (uint32_t)w->after[0],
	    (uint32_t)w->before[1], (uint32_t)w->kernel[0],
	    (uint32_t)w->kernel[1], (uint32_t)w->stride[0],
	    (uint32_t)w->stride[1], channels, channels, channels, -INFINITY,
	    INFINITY, 0, &l->op);
}

bool
build_pooling(struct build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *in = &node_in(b->graph, n, 0)->type;
	const size_t channels = (size_t)in->dim[1];
	struct layer *l = b->layer;
	struct window w;
	const char *fault;

	operand_of(b, n->input[0], 4, &l->left);
	l->batch = (size_t)in->dim[0];
	l->height = (size_t)in->dim[2];
	l->width = (size_t)in->dim[3];
	if (n->op == OP_GLOBALAVERAGEPOOL) {
		l->setup = setup_global;
		return status_ok(b,
		    xnn_create_global_average_pooling_nwc_f32(channels,
		        channels, channels, -INFINITY, INFINITY, 0, &l->op),
		    "global average pooling");
	}
	if (!window_resolve(&w, b->graph, n, &fault))
		return err_set(b->err, ERR_UNSUPPORTED, "%s", fault);
	return status_ok(b, create_pooling(l, n->op, &w, channels), "pooling");
}

/* ---- one operand ---- */

static enum xnn_status
setup_unary(
    const struct layer *l, const float *left, const float *right, float *out)
{
	pthreadpool_t pool = library_pool();

	(void)right;
	switch (l->kind) {
	case STEP_RELU:
		return xnn_setup_leaky_relu_nc_f32(
		    l->op, l->batch, left, out, pool);
	case STEP_ELU:
		return xnn_setup_elu_nc_f32(l->op, l->batch, left, out, pool);
	case STEP_SIGMOID:
		return xnn_setup_sigmoid_nc_f32(
		    l->op, l->batch, left, out, pool);
	case STEP_HARDSWISH:
		return xnn_setup_hardswish_nc_f32(
		    l->op, l->batch, left, out, pool);
	case STEP_ABS:
		return xnn_setup_abs_nc_f32(l->op, l->batch, left, out, pool);
	case STEP_SQRT:
		return xnn_setup_square_root_nc_f32(
		    l->op, l->batch, left, out, pool);
	case STEP_SQUARE:
		return xnn_setup_square_nc_f32(
		    l->op, l->batch, left, out, pool);
	default:
		return xnn_setup_clamp_nc_f32(l->op, l->batch, left, out, pool);
	}
}

static enum xnn_status
create_unary(struct layer *l, const struct step *s, size_t n)
{
	switch (s->kind) {
	case STEP_RELU:
		return xnn_create_leaky_relu_nc_f32(
		    n, n, n, s->alpha, 0, &l->op);
	case STEP_ELU:
		return xnn_create_elu_nc_f32(n, n, n, s->alpha, 0, &l->op);
	case STEP_SIGMOID:
		return xnn_create_sigmoid_nc_f32(n, n, n, 0, &l->op);
	case STEP_HARDSWISH:
		return xnn_create_hardswish_nc_f32(n, n, n, 0, &l->op);
	case STEP_ABS:
		return xnn_create_abs_nc_f32(n, n, n, 0, &l->op);
	case STEP_SQRT:
		return xnn_create_square_root_nc_f32(n, n, n, 0, &l->op);
	case STEP_SQUARE:
		return xnn_create_square_nc_f32(n, n, n, 0, &l->op);
	default:
		return xnn_status_unsupported_parameter;
	}
}

/* Pointwise operators do not look at the layout: batches of 64 elements where
 * that divides the tensor, else one by one in a single batch. */
bool
build_unary(struct build *b)
{
	struct layer *l = b->layer;
	size_t count = 1;
	float low, high;

	operand_of(b, b->fused.start,
	    graph_value(b->graph, b->fused.start)->type.rank, &l->left);
	for (uint32_t i = 0; i < l->left.rank; i++)
		count *= l->left.shape[i];
	l->setup = setup_unary;
	l->batch = 1;
	l->kind = b->fused.step[0].kind;
	if (clamp_of(&b->fused, 0, &low, &high)) {
		l->kind = STEP_CLIP;
		return status_ok(b,
		    xnn_create_clamp_nc_f32(
		        count, count, count, low, high, 0, &l->op),
		    "clamp");
	}
	return status_ok(
	    b, create_unary(l, &b->fused.step[0], count), "pointwise");
}

/* ---- two operands ---- */

/* NOLINTNEXTLINE: one row a kind */
static enum xnn_status
setup_pair(
    const struct layer *l, const float *left, const float *right, float *out)
{
	const struct operand *a = &l->left, *b = &l->right;
	pthreadpool_t pool = library_pool();

	switch (l->kind) {
	case STEP_SUB:
		return xnn_setup_subtract_nd_f32(l->op, a->rank, a->shape,
		    b->rank, b->shape, left, right, out, pool);
	case STEP_MUL:
		return xnn_setup_multiply_nd_f32(l->op, a->rank, a->shape,
		    b->rank, b->shape, left, right, out, pool);
	case STEP_DIV:
		return xnn_setup_divide_nd_f32(l->op, a->rank, a->shape,
		    b->rank, b->shape, left, right, out, pool);
	case STEP_MAX:
		return xnn_setup_maximum_nd_f32(l->op, a->rank, a->shape,
		    b->rank, b->shape, left, right, out, pool);
	case STEP_MIN:
		return xnn_setup_minimum_nd_f32(l->op, a->rank, a->shape,
		    b->rank, b->shape, left, right, out, pool);
	default:
		return xnn_setup_add_nd_f32(l->op, a->rank, a->shape, b->rank,
		    b->shape, left, right, out, pool);
	}
}

static enum xnn_status
create_pair(struct layer *l, float low, float high)
{
	switch (l->kind) {
	case STEP_SUB:
		return xnn_create_subtract_nd_f32(low, high, 0, &l->op);
	case STEP_MUL:
		return xnn_create_multiply_nd_f32(low, high, 0, &l->op);
	case STEP_DIV:
		return xnn_create_divide_nd_f32(low, high, 0, &l->op);
	case STEP_MAX:
		return xnn_create_maximum_nd_f32(0, &l->op);
	case STEP_MIN:
		return xnn_create_minimum_nd_f32(0, &l->op);
	default:
		return xnn_create_add_nd_f32(low, high, 0, &l->op);
	}
}

bool
build_pair(struct build *b)
{
	const struct step *s = &b->fused.step[0];
	const uint32_t rank = graph_value(b->graph, b->fused.end)->type.rank;
	struct layer *l = b->layer;
	float low, high;

	l->kind = s->kind;
	l->setup = setup_pair;
	operand_of(b, s->swapped ? s->other : b->fused.start, rank, &l->left);
	operand_of(b, s->swapped ? b->fused.start : s->other, rank, &l->right);
	clamp_of(&b->fused, 1, &low, &high);
	return status_ok(b, create_pair(l, low, high), "two operands");
}

/* ---- softmax ---- */

static enum xnn_status
setup_softmax(
    const struct layer *l, const float *left, const float *right, float *out)
{
	(void)right;
	return xnn_setup_softmax_nc_f32(
	    l->op, l->batch, left, out, library_pool());
}

/* Rows along the last dimension, or before opset 13 from `axis` on. */
bool
build_distribution(struct build *b)
{
	const struct node *n = b->fused.anchor;
	const struct type *t = &node_in(b->graph, n, 0)->type;
	int64_t axis = attr_int_or(n, "axis", n->opset < 13 ? 1 : -1);
	struct layer *l = b->layer;
	size_t channels = 1;

	axis += axis < 0 ? t->rank : 0;
	operand_of(b, n->input[0], t->rank, &l->left);
	l->batch = 1;
	for (uint32_t i = 0; i < t->rank; i++)
		if ((int64_t)i < axis)
			l->batch *= (size_t)t->dim[i];
		else
			channels *= (size_t)t->dim[i];
	l->setup = setup_softmax;
	return status_ok(b,
	    xnn_create_softmax_nc_f32(channels, channels, channels, 0, &l->op),
	    "softmax");
}
