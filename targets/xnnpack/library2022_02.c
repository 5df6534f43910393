/* XNNPACK of early 2022 (Debian 12): weights are packed for one operator. */
#include "targets/xnnpack/library2022.h"

const struct library_skips library_skips = {.maxima = true, .means = true};

enum xnn_status
create_convolution(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return OF_TYPE(o, xnn_create_convolution2d_nhwc, w->before[0],
	    w->after[1], w->after[0], w->before[1], w->kernel[0], w->kernel[1],
	    w->stride[0], w->stride[1], w->dilation[0], w->dilation[1],
	    o->groups, o->in, o->out, o->in * o->groups, o->out * o->groups,
	    o->weights, o->bias, o->low, o->high, o->flags, op);
}

enum xnn_status
create_deconvolution(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return xnn_create_deconvolution2d_nhwc_f32(w->before[0], w->after[1],
	    w->after[0], w->before[1], w->kernel[0], w->kernel[1], w->stride[0],
	    w->stride[1], w->dilation[0], w->dilation[1], o->groups, o->in,
	    o->out, o->in * o->groups, o->out * o->groups, o->weights, o->bias,
	    o->low, o->high, o->flags, op);
}

enum xnn_status
create_dense(const struct operator* o, xnn_operator_t *op)
{
	return OF_TYPE(o, xnn_create_fully_connected_nc, o->in, o->out, o->in,
	    o->row, o->weights, o->bias, o->low, o->high, o->flags, op);
}

enum xnn_status
create_slopes(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_prelu_nc_f32(
	    o->in, o->in, o->in, o->weights, o->flags, op);
}

const bool library_transposes = false;

enum xnn_status
create_transposition(const struct operator* o, xnn_operator_t *op)
{
	(void)o, (void)op;
	return xnn_status_unsupported_parameter;
}

enum xnn_status
setup_transposition(xnn_operator_t op, const struct operator* o,
    const float *const in[2], float *out, pthreadpool_t pool)
{
	(void)op, (void)o, (void)in, (void)out, (void)pool;
	return xnn_status_unsupported_parameter;
}

enum xnn_status
create_bytes(const struct operator* o, xnn_operator_t *op)
{
	const struct byte_filters *b = &o->bytes;
	const struct sides *w = &o->window;

	if (b->is_unsigned)
		return xnn_create_convolution2d_nhwc_qu8(w->before[0],
		    w->after[1], w->after[0], w->before[1], w->kernel[0],
		    w->kernel[1], w->stride[0], w->stride[1], w->dilation[0],
		    w->dilation[1], o->groups, o->in, o->out, o->in * o->groups,
		    o->out * o->groups, (uint8_t)b->in_zero, b->in_scale,
		    (uint8_t)b->zero, *b->scale, b->codes, b->bias,
		    (uint8_t)b->out_zero, b->out_scale, 0, UINT8_MAX, o->flags,
		    op);
	return xnn_create_convolution2d_nhwc_qc8(w->before[0], w->after[1],
	    w->after[0], w->before[1], w->kernel[0], w->kernel[1], w->stride[0],
	    w->stride[1], w->dilation[0], w->dilation[1], o->groups, o->in,
	    o->out, o->in * o->groups, o->out * o->groups, (int8_t)b->in_zero,
	    b->in_scale, b->scale, b->codes, b->bias, (int8_t)b->out_zero,
	    b->out_scale, INT8_MIN, INT8_MAX, o->flags, op);
}
