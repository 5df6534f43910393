/* XNNPACK of 2022: shapes come with the tensors, one function an operator. */
#include "targets/xnnpack/library2022.h"

#include <math.h>

const bool library_clamps_pairs = true;

typedef enum xnn_status status;

static status
setup_convolution(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return OF_TYPE(o, xnn_setup_convolution2d_nhwc, op, o->batch, o->height,
	    o->width, in[0], out, pool);
}

static status
setup_deconvolution(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return xnn_setup_deconvolution2d_nhwc_f32(op, o->batch, o->height,
	    o->width, (uint32_t)o->size[0], (uint32_t)o->size[1], in[0], out,
	    pool);
}

static status
setup_dense(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return OF_TYPE(
	    o, xnn_setup_fully_connected_nc, op, o->batch, in[0], out, pool);
}

static status
create_maxima(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return OF_TYPE(o, xnn_create_max_pooling2d_nhwc, w->before[0],
	    w->after[1], w->after[0], w->before[1], w->kernel[0], w->kernel[1],
	    w->stride[0], w->stride[1], w->dilation[0], w->dilation[1], o->in,
	    o->in, o->in, -INFINITY, INFINITY, o->flags, op);
}

static status
setup_maxima(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return OF_TYPE(o, xnn_setup_max_pooling2d_nhwc, op, o->batch, o->height,
	    o->width, in[0], out, pool);
}

static status
create_averages(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return xnn_create_average_pooling2d_nhwc_f32(w->before[0], w->after[1],
	    w->after[0], w->before[1], w->kernel[0], w->kernel[1], w->stride[0],
	    w->stride[1], o->in, o->in, o->in, -INFINITY, INFINITY, o->flags,
	    op);
}

static status
setup_averages(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return xnn_setup_average_pooling2d_nhwc_f32(
	    op, o->batch, o->height, o->width, in[0], out, pool);
}

static status
create_average(const struct operator* o, xnn_operator_t *op)
{
	return OF_TYPE(o, xnn_create_global_average_pooling_nwc, o->in, o->in,
	    o->in, -INFINITY, INFINITY, o->flags, op);
}

static status
setup_average(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return OF_TYPE(o, xnn_setup_global_average_pooling_nwc, op, o->batch,
	    o->height * o->width, in[0], out, pool);
}

bool
library_computes(enum step_kind function)
{
	switch (function) {
	case STEP_CLIP:
	case STEP_RELU:
	case STEP_ELU:
	case STEP_SIGMOID:
	case STEP_HARDSWISH:
	case STEP_ABS:
	case STEP_SQRT:
	case STEP_SQUARE:
	case STEP_ROUND:
		return true;
	default:
		return false;
	}
}

static status
create_unary(const struct operator* o, xnn_operator_t *op)
{
	const size_t n = o->in;

	switch (o->step) {
	case STEP_CLIP:
		return xnn_create_clamp_nc_f32(n, n, n, o->low, o->high, 0, op);
	case STEP_RELU:
		return xnn_create_leaky_relu_nc_f32(n, n, n, o->alpha, 0, op);
	case STEP_ELU:
		return xnn_create_elu_nc_f32(n, n, n, o->alpha, 0, op);
	case STEP_SIGMOID:
		return xnn_create_sigmoid_nc_f32(n, n, n, 0, op);
	case STEP_HARDSWISH:
		return xnn_create_hardswish_nc_f32(n, n, n, 0, op);
	case STEP_ABS:
		return xnn_create_abs_nc_f32(n, n, n, 0, op);
	case STEP_SQRT:
		return xnn_create_square_root_nc_f32(n, n, n, 0, op);
	case STEP_SQUARE:
		return xnn_create_square_nc_f32(n, n, n, 0, op);
	case STEP_ROUND:
		return xnn_create_bankers_rounding_nc_f32(n, n, n, 0, op);
	default:
		return xnn_status_unsupported_parameter;
	}
}

static status
setup_unary(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	switch (o->step) {
	case STEP_RELU:
		return xnn_setup_leaky_relu_nc_f32(
		    op, o->batch, in[0], out, pool);
	case STEP_ELU:
		return xnn_setup_elu_nc_f32(op, o->batch, in[0], out, pool);
	case STEP_SIGMOID:
		return xnn_setup_sigmoid_nc_f32(op, o->batch, in[0], out, pool);
	case STEP_HARDSWISH:
		return xnn_setup_hardswish_nc_f32(
		    op, o->batch, in[0], out, pool);
	case STEP_ABS:
		return xnn_setup_abs_nc_f32(op, o->batch, in[0], out, pool);
	case STEP_SQRT:
		return xnn_setup_square_root_nc_f32(
		    op, o->batch, in[0], out, pool);
	case STEP_SQUARE:
		return xnn_setup_square_nc_f32(op, o->batch, in[0], out, pool);
	case STEP_ROUND:
		return xnn_setup_bankers_rounding_nc_f32(
		    op, o->batch, in[0], out, pool);
	default:
		return xnn_setup_clamp_nc_f32(op, o->batch, in[0], out, pool);
	}
}

static status
create_pair(const struct operator* o, xnn_operator_t *op)
{
	switch (o->step) {
	case STEP_ADD:
		return xnn_create_add_nd_f32(o->low, o->high, 0, op);
	case STEP_SUB:
		return xnn_create_subtract_nd_f32(o->low, o->high, 0, op);
	case STEP_MUL:
		return xnn_create_multiply_nd_f32(o->low, o->high, 0, op);
	case STEP_DIV:
		return xnn_create_divide_nd_f32(o->low, o->high, 0, op);
	case STEP_MAX:
		return xnn_create_maximum_nd_f32(0, op);
	case STEP_MIN:
		return xnn_create_minimum_nd_f32(0, op);
	default:
		return xnn_status_unsupported_parameter;
	}
}

static status
setup_pair(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	const struct extents *a = &o->left, *b = &o->right;

	switch (o->step) {
	case STEP_SUB:
		return xnn_setup_subtract_nd_f32(op, a->rank, a->size, b->rank,
		    b->size, in[0], in[1], out, pool);
	case STEP_MUL:
		return xnn_setup_multiply_nd_f32(op, a->rank, a->size, b->rank,
		    b->size, in[0], in[1], out, pool);
	case STEP_DIV:
		return xnn_setup_divide_nd_f32(op, a->rank, a->size, b->rank,
		    b->size, in[0], in[1], out, pool);
	case STEP_MAX:
		return xnn_setup_maximum_nd_f32(op, a->rank, a->size, b->rank,
		    b->size, in[0], in[1], out, pool);
	case STEP_MIN:
		return xnn_setup_minimum_nd_f32(op, a->rank, a->size, b->rank,
		    b->size, in[0], in[1], out, pool);
	default:
		return xnn_setup_add_nd_f32(op, a->rank, a->size, b->rank,
		    b->size, in[0], in[1], out, pool);
	}
}

static status
create_softmax(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_softmax_nc_f32(o->in, o->in, o->in, o->flags, op);
}

static status
setup_softmax(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return xnn_setup_softmax_nc_f32(op, o->batch, in[0], out, pool);
}

static status
create_padding(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_constant_pad_nd_x32(&o->alpha, o->flags, op);
}

static status
setup_padding(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return xnn_setup_constant_pad_nd_x32(op, o->left.rank, o->left.size,
	    o->before, o->after, in[0], out, pool);
}

static status
create_resizing(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_resize_bilinear2d_nhwc_f32(
	    o->in, o->in, o->in, o->flags, op);
}

static status
setup_resizing(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return xnn_setup_resize_bilinear2d_nhwc_f32(op, o->batch, o->height,
	    o->width, o->size[0], o->size[1], in[0], out, pool);
}

static status
setup_slopes(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	return xnn_setup_prelu_nc_f32(op, o->batch, in[0], out, pool);
}

static status
setup_bytes(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	const void *from = in[0];
	void *to = out;

	return o->bytes.is_unsigned
	    ? xnn_setup_convolution2d_nhwc_qu8(
	        op, o->batch, o->height, o->width, from, to, pool)
	    : xnn_setup_convolution2d_nhwc_qc8(
	        op, o->batch, o->height, o->width, from, to, pool);
}

static const struct {
	status (*create)(const struct operator* o, xnn_operator_t *op);
	status (*setup)(xnn_operator_t op, const struct operator* o,
	    const float *const in[2], float *out, pthreadpool_t pool);
} calls[NOPERATORS] = {
    [OPERATOR_CONVOLUTION] = {create_convolution, setup_convolution},
    [OPERATOR_DECONVOLUTION] = {create_deconvolution, setup_deconvolution},
    [OPERATOR_DENSE] = {create_dense, setup_dense},
    [OPERATOR_MAXIMA] = {create_maxima, setup_maxima},
    [OPERATOR_AVERAGES] = {create_averages, setup_averages},
    [OPERATOR_AVERAGE] = {create_average, setup_average},
    [OPERATOR_UNARY] = {create_unary, setup_unary},
    [OPERATOR_PAIR] = {create_pair, setup_pair},
    [OPERATOR_SOFTMAX] = {create_softmax, setup_softmax},
    [OPERATOR_PADDING] = {create_padding, setup_padding},
    [OPERATOR_RESIZING] = {create_resizing, setup_resizing},
    [OPERATOR_SLOPES] = {create_slopes, setup_slopes},
    [OPERATOR_TRANSPOSITION] = {create_transposition, setup_transposition},
    [OPERATOR_BYTES] = {create_bytes, setup_bytes},
};

bool
library_has(enum operator_kind kind)
{
	return calls[kind].create != NULL
	    && (kind != OPERATOR_TRANSPOSITION || library_transposes);
}

bool
library_has_halves(enum operator_kind kind)
{
	return kind == OPERATOR_CONVOLUTION || kind == OPERATOR_DENSE
	    || kind == OPERATOR_MAXIMA || kind == OPERATOR_AVERAGE;
}

enum xnn_status
instance_create(struct instance *i, const struct operator* o)
{
	return library_has(o->kind) ? calls[o->kind].create(o, &i->op)
	                            : xnn_status_unsupported_parameter;
}

enum xnn_status
instance_setup(struct instance *i, const struct operator* o,
    const float *const operand[2], float *out, pthreadpool_t pool)
{
	return calls[o->kind].setup(i->op, o, operand, out, pool);
}

void
instance_release(struct instance *i)
{
	if (i->op)
		xnn_delete_operator(i->op);
}
