/* XNNPACK of late 2024: an operator is reshaped (and says how much workspace it
 * wants) before it is told where its tensors are; functions of one and of two
 * tensors have one operator each, which clamps nothing. */
#include <math.h>
#include <stdlib.h>

#include "targets/xnnpack/library.h"

const bool library_clamps_pairs = false;
const struct library_skips library_skips = {.maxima = false, .means = true};

typedef enum xnn_status status;

static const struct xnn_quantization_params none = {0, 1};

/* Where an operator's tensors are. */
struct tensors {
	const float *const *in; /* [2] */
	float *out;
	pthreadpool_t pool;
};

static enum xnn_datatype
type_of(const struct operator* o)
{
	return o->halves ? xnn_datatype_fp16 : xnn_datatype_fp32;
}

/* A workspace goes with the operator. */
static status
make_room(struct instance *i, status s, size_t bytes)
{
	enum { ALIGNMENT = 128 };

	free(i->workspace);
	i->workspace = NULL;
	if (s != xnn_status_success || bytes == 0)
		return s;
	bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	i->workspace = aligned_alloc(ALIGNMENT, bytes);
	return i->workspace ? s : xnn_status_out_of_memory;
}

static status
create_convolution(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return OF_TYPE(o, xnn_create_convolution2d_nhwc, w->before[0],
	    w->after[1], w->after[0], w->before[1], w->kernel[0], w->kernel[1],
	    w->stride[0], w->stride[1], w->dilation[0], w->dilation[1],
	    o->groups, o->in, o->out, o->in * o->groups, o->out * o->groups,
	    o->weights, o->bias, o->low, o->high, o->flags, NULL, NULL, op);
}

static status
setup_convolution(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	size_t bytes = 0, align, h, w;
	status s = OF_TYPE(o, xnn_reshape_convolution2d_nhwc, i->op, o->batch,
	    o->height, o->width, &bytes, &align, &h, &w, t->pool);

	s = make_room(i, s, bytes);
	return s != xnn_status_success
	    ? s
	    : OF_TYPE(o, xnn_setup_convolution2d_nhwc, i->op, i->workspace,
	        t->in[0], t->out);
}

static status
create_deconvolution(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return xnn_create_deconvolution2d_nhwc_f32(w->before[0], w->after[1],
	    w->after[0], w->before[1], w->kernel[0], w->kernel[1], w->stride[0],
	    w->stride[1], w->dilation[0], w->dilation[1], o->groups, o->in,
	    o->out, o->in * o->groups, o->out * o->groups, o->weights, o->bias,
	    o->low, o->high, o->flags, NULL, NULL, op);
}

static status
setup_deconvolution(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	size_t h, w;
	status s = xnn_reshape_deconvolution2d_nhwc_f32(i->op, o->batch,
	    o->height, o->width, (uint32_t)o->size[0], (uint32_t)o->size[1], &h,
	    &w, t->pool);

	return s != xnn_status_success
	    ? s
	    : xnn_setup_deconvolution2d_nhwc_f32(i->op, t->in[0], t->out);
}

static status
create_dense(const struct operator* o, xnn_operator_t *op)
{
	return OF_TYPE(o, xnn_create_fully_connected_nc, o->in, o->out, o->in,
	    o->row, o->weights, o->bias, o->low, o->high, o->flags, NULL, NULL,
	    op);
}

static status
setup_dense(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	status s = OF_TYPE(
	    o, xnn_reshape_fully_connected_nc, i->op, o->batch, t->pool);

	return s != xnn_status_success
	    ? s
	    : OF_TYPE(o, xnn_setup_fully_connected_nc, i->op, t->in[0], t->out);
}

static status
create_maxima(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return OF_TYPE(o, xnn_create_max_pooling2d_nhwc, w->before[0],
	    w->after[1], w->after[0], w->before[1], w->kernel[0], w->kernel[1],
	    w->stride[0], w->stride[1], w->dilation[0], w->dilation[1],
	    -INFINITY, INFINITY, o->flags, op);
}

static status
setup_maxima(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	size_t h, w;
	status s = OF_TYPE(o, xnn_reshape_max_pooling2d_nhwc, i->op, o->batch,
	    o->height, o->width, o->in, o->in, o->in, &h, &w, t->pool);

	return s != xnn_status_success
	    ? s
	    : OF_TYPE(o, xnn_setup_max_pooling2d_nhwc, i->op, t->in[0], t->out);
}

static status
create_averages(const struct operator* o, xnn_operator_t *op)
{
	const struct sides *w = &o->window;

	return OF_TYPE(o, xnn_create_average_pooling2d_nhwc, w->before[0],
	    w->after[1], w->after[0], w->before[1], w->kernel[0], w->kernel[1],
	    w->stride[0], w->stride[1], -INFINITY, INFINITY, o->flags, op);
}

/* A window as large as the map. (xnn_create_reduce_nd(mean) of this library ends
 * in a segmentation fault with every shape tried.) */
static status
create_average(const struct operator* o, xnn_operator_t *op)
{
	const uint32_t h = (uint32_t)o->height, w = (uint32_t)o->width;

	return OF_TYPE(o, xnn_create_average_pooling2d_nhwc, 0, 0, 0, 0, h, w,
	    h, w, -INFINITY, INFINITY, o->flags, op);
}

static status
setup_averages(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	size_t bytes = 0, align, h, w;
	status s = OF_TYPE(o, xnn_reshape_average_pooling2d_nhwc, i->op,
	    o->batch, o->height, o->width, o->in, o->in, o->in, &bytes, &align,
	    &h, &w, t->pool);

	s = make_room(i, s, bytes);
	return s != xnn_status_success
	    ? s
	    : OF_TYPE(o, xnn_setup_average_pooling2d_nhwc, i->op, i->workspace,
	        t->in[0], t->out);
}

/* SOURCE: seen: its logarithm of infinity is 88.4, and so is NaN's. */
static const struct {
	enum step_kind step;
	enum xnn_unary_operator op;
} unary[] = {
    {STEP_CLIP, xnn_unary_clamp},
    {STEP_RELU, xnn_unary_leaky_relu},
    {STEP_ELU, xnn_unary_elu},
    {STEP_SIGMOID, xnn_unary_sigmoid},
    {STEP_HARDSWISH, xnn_unary_hardswish},
    {STEP_ABS, xnn_unary_abs},
    {STEP_SQRT, xnn_unary_square_root},
    {STEP_SQUARE, xnn_unary_square},
    {STEP_TANH, xnn_unary_tanh},
    {STEP_GELU_ERF, xnn_unary_gelu},
    {STEP_EXP, xnn_unary_exp},
    {STEP_ROUND, xnn_unary_bankers_rounding},
};

bool
library_computes(enum step_kind function)
{
	for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
		if (unary[i].step == function)
			return true;
	return false;
}

static status
create_unary(const struct operator* o, xnn_operator_t *op)
{
	union xnn_unary_params p = {.clamp = {o->low, o->high}};

	if (o->step == STEP_RELU)
		p.leaky_relu.negative_slope = o->alpha;
	else if (o->step == STEP_ELU)
		p.elu.alpha = o->alpha;
	for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
		if (unary[i].step == o->step)
			return xnn_create_unary_elementwise_nc(unary[i].op,
			    type_of(o), type_of(o), &p, &none, &none, o->flags,
			    op);
	return xnn_status_unsupported_parameter;
}

static status
setup_unary(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	status s = xnn_reshape_unary_elementwise_nc(
	    i->op, o->batch, o->in, o->in, o->in, t->pool);

	return s != xnn_status_success
	    ? s
	    : xnn_setup_unary_elementwise_nc(i->op, t->in[0], t->out);
}

static const struct {
	enum step_kind step;
	enum xnn_binary_operator op;
} binary[] = {
    {STEP_ADD, xnn_binary_add},
    {STEP_SUB, xnn_binary_subtract},
    {STEP_MUL, xnn_binary_multiply},
    {STEP_DIV, xnn_binary_divide},
    {STEP_MAX, xnn_binary_maximum},
    {STEP_MIN, xnn_binary_minimum},
};

static status
create_pair(const struct operator* o, xnn_operator_t *op)
{
	for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
		if (binary[i].step == o->step)
			return xnn_create_binary_elementwise_nd(binary[i].op,
			    type_of(o), &none, &none, &none, o->flags, op);
	return xnn_status_unsupported_parameter;
}

static status
setup_pair(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	status s = xnn_reshape_binary_elementwise_nd(i->op, o->left.rank,
	    o->left.size, o->right.rank, o->right.size, t->pool);

	return s != xnn_status_success ? s
	                               : xnn_setup_binary_elementwise_nd(
	                                   i->op, t->in[0], t->in[1], t->out);
}

static status
create_slopes(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_binary_elementwise_nd(xnn_binary_prelu,
	    xnn_datatype_fp32, &none, &none, &none, o->flags, op);
}

static status
setup_slopes(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	const size_t a[] = {o->batch, o->in}, b[] = {o->in};
	status s =
	    xnn_reshape_binary_elementwise_nd(i->op, 2, a, 1, b, t->pool);

	return s != xnn_status_success ? s
	                               : xnn_setup_binary_elementwise_nd(
	                                   i->op, t->in[0], o->weights, t->out);
}

static status
create_softmax(const struct operator* o, xnn_operator_t *op)
{
	return OF_TYPE(o, xnn_create_softmax_nc, o->flags, op);
}

static status
setup_softmax(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	status s = OF_TYPE(o, xnn_reshape_softmax_nc, i->op, o->in, o->in,
	    o->in, o->batch, t->pool);

	return s != xnn_status_success
	    ? s
	    : OF_TYPE(o, xnn_setup_softmax_nc, i->op, t->in[0], t->out);
}

static status
create_padding(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_constant_pad_nd_x32(&o->alpha, o->flags, op);
}

static status
setup_padding(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	status s = xnn_reshape_constant_pad_nd_x32(
	    i->op, o->left.rank, o->left.size, o->before, o->after, t->pool);

	return s != xnn_status_success
	    ? s
	    : xnn_setup_constant_pad_nd_x32(i->op, t->in[0], t->out);
}

static status
create_resizing(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_resize_bilinear2d_nhwc_f32(
	    o->size[0], o->size[1], o->flags, op);
}

static status
setup_resizing(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	size_t bytes = 0, align;
	status s = xnn_reshape_resize_bilinear2d_nhwc_f32(i->op, o->batch,
	    o->height, o->width, o->in, o->in, o->in, &bytes, &align, t->pool);

	s = make_room(i, s, bytes);
	return s != xnn_status_success
	    ? s
	    : xnn_setup_resize_bilinear2d_nhwc_f32(
	        i->op, i->workspace, t->in[0], t->out);
}

static status
create_product(const struct operator* o, xnn_operator_t *op)
{
	return OF_TYPE(o, xnn_create_batch_matrix_multiply_nc, o->flags, op);
}

/* Stacked along all dimensions but the last two. */
static status
setup_product(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	const size_t stack = o->left.rank - 2;
	size_t bytes = 0, align;
	status s = OF_TYPE(o, xnn_reshape_batch_matrix_multiply_nc, i->op,
	    stack, o->left.size, o->right.size, o->left.size[stack],
	    o->right.size[stack], o->right.size[stack + 1], &bytes, &align,
	    t->pool);

	s = make_room(i, s, bytes);
	return s != xnn_status_success
	    ? s
	    : OF_TYPE(o, xnn_setup_batch_matrix_multiply_nc, i->op,
	        i->workspace, t->in[0], t->in[1], t->out);
}

static status
create_transposition(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_transpose_nd_x32(o->flags, op);
}

static status
setup_transposition(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	status s = xnn_reshape_transpose_nd_x32(
	    i->op, o->left.rank, o->left.size, o->order, t->pool);

	return s != xnn_status_success
	    ? s
	    : xnn_setup_transpose_nd_x32(i->op, t->in[0], t->out);
}

static status
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
		    NULL, NULL, op);
	return xnn_create_convolution2d_nhwc_qs8_qc8w(w->before[0], w->after[1],
	    w->after[0], w->before[1], w->kernel[0], w->kernel[1], w->stride[0],
	    w->stride[1], w->dilation[0], w->dilation[1], o->groups, o->in,
	    o->out, o->in * o->groups, o->out * o->groups, (int8_t)b->in_zero,
	    b->in_scale, b->scale, b->codes, b->bias, (int8_t)b->out_zero,
	    b->out_scale, INT8_MIN, INT8_MAX, o->flags, NULL, NULL, op);
}

static status
setup_bytes(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	const bool u = o->bytes.is_unsigned;
	const void *in = t->in[0];
	size_t bytes = 0, align, h, w;
	void *out = t->out;
	status s = u ? xnn_reshape_convolution2d_nhwc_qu8(i->op, o->batch,
	               o->height, o->width, &bytes, &align, &h, &w, t->pool)
	             : xnn_reshape_convolution2d_nhwc_qs8_qc8w(i->op, o->batch,
	                 o->height, o->width, &bytes, &align, &h, &w, t->pool);

	s = make_room(i, s, bytes);
	if (s != xnn_status_success)
		return s;
	return u
	    ? xnn_setup_convolution2d_nhwc_qu8(i->op, i->workspace, in, out)
	    : xnn_setup_convolution2d_nhwc_qs8_qc8w(
	        i->op, i->workspace, in, out);
}

static status
create_narrow(const struct operator* o, xnn_operator_t *op)
{
	const struct byte_filters *b = &o->bytes;

	return b->is_four
	    ? xnn_create_fully_connected_nc_f32_qc4w(o->in, o->out, o->in,
	        o->out, (uint8_t)b->zero, b->scale, b->codes, o->bias, o->low,
	        o->high, o->flags, NULL, NULL, op)
	    : xnn_create_fully_connected_nc_f32_qc8w(o->in, o->out, o->in,
	        o->out, b->scale, b->codes, o->bias, o->low, o->high, o->flags,
	        NULL, NULL, op);
}

static status
setup_narrow(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	const bool four = o->bytes.is_four;
	status s = four
	    ? xnn_reshape_fully_connected_nc_f32_qc4w(i->op, o->batch, t->pool)
	    : xnn_reshape_fully_connected_nc_f32_qc8w(i->op, o->batch, t->pool);

	if (s != xnn_status_success)
		return s;
	return four
	    ? xnn_setup_fully_connected_nc_f32_qc4w(i->op, t->in[0], t->out)
	    : xnn_setup_fully_connected_nc_f32_qc8w(i->op, t->in[0], t->out);
}

/* Ours is laid out like the library's. */
_Static_assert(sizeof(struct row_code) == sizeof(struct xnn_quantization_params)
        && offsetof(struct row_code, zero)
            == offsetof(struct xnn_quantization_params, zero_point)
        && offsetof(struct row_code, scale)
            == offsetof(struct xnn_quantization_params, scale),
    "a row's code");

static status
create_dynamic(const struct operator* o, xnn_operator_t *op)
{
	return xnn_create_fully_connected_nc_qd8_f32_qc8w(o->in, o->out, o->in,
	    o->out, o->bytes.scale, o->bytes.codes, o->bias, o->low, o->high,
	    o->flags, NULL, NULL, op);
}

static status
setup_dynamic(
    struct instance *i, const struct operator* o, const struct tensors *t)
{
	status s = xnn_reshape_fully_connected_nc_qd8_f32_qc8w(
	    i->op, o->batch, t->pool);

	return s != xnn_status_success
	    ? s
	    : xnn_setup_fully_connected_nc_qd8_f32_qc8w(
	        i->op, (const void *)t->in[0], t->out, (const void *)o->rows);
}

static const struct {
	status (*create)(const struct operator* o, xnn_operator_t *op);
	status (*setup)(struct instance *i, const struct operator* o,
	    const struct tensors *t);
} calls[NOPERATORS] = {
    [OPERATOR_CONVOLUTION] = {create_convolution, setup_convolution},
    [OPERATOR_DECONVOLUTION] = {create_deconvolution, setup_deconvolution},
    [OPERATOR_DENSE] = {create_dense, setup_dense},
    [OPERATOR_MAXIMA] = {create_maxima, setup_maxima},
    [OPERATOR_AVERAGES] = {create_averages, setup_averages},
    [OPERATOR_AVERAGE] = {create_average, setup_averages},
    [OPERATOR_UNARY] = {create_unary, setup_unary},
    [OPERATOR_PAIR] = {create_pair, setup_pair},
    [OPERATOR_SOFTMAX] = {create_softmax, setup_softmax},
    [OPERATOR_PADDING] = {create_padding, setup_padding},
    [OPERATOR_RESIZING] = {create_resizing, setup_resizing},
    [OPERATOR_SLOPES] = {create_slopes, setup_slopes},
    [OPERATOR_PRODUCT] = {create_product, setup_product},
    [OPERATOR_TRANSPOSITION] = {create_transposition, setup_transposition},
    [OPERATOR_BYTES] = {create_bytes, setup_bytes},
    [OPERATOR_NARROW] = {create_narrow, setup_narrow},
    [OPERATOR_DYNAMIC] = {create_dynamic, setup_dynamic},
};

bool
library_has(enum operator_kind kind)
{
	return calls[kind].create != NULL;
}

bool
library_has_halves(enum operator_kind kind)
{
	switch (kind) {
	case OPERATOR_CONVOLUTION:
	case OPERATOR_DENSE:
	case OPERATOR_MAXIMA:
	case OPERATOR_AVERAGES:
	case OPERATOR_AVERAGE:
	case OPERATOR_UNARY:
	case OPERATOR_PAIR:
	case OPERATOR_SOFTMAX:
	case OPERATOR_PRODUCT:
		return true;
	default:
		return false;
	}
}

enum xnn_status
instance_create(struct instance *i, const struct operator* o)
{
	return calls[o->kind].create(o, &i->op);
}

enum xnn_status
instance_setup(struct instance *i, const struct operator* o,
    const float *const operand[2], float *out, pthreadpool_t pool)
{
	const struct tensors t = {operand, out, pool};

	return calls[o->kind].setup(i, o, &t);
}

void
instance_release(struct instance *i)
{
	if (i->op)
		xnn_delete_operator(i->op);
	free(i->workspace);
}
