/* Descriptions as oneDNN 3 takes them: handles that are made and destroyed. */
#include "targets/dnnl/library3.h"

const unsigned library_halves = dnnl_cpu_isa_avx512_core_fp16;
const bool library_winograd = false;

static dnnl_status_t
open_md(dnnl_memory_desc_t *out, const struct md *md)
{
	*out = NULL;
	if (md->native != NULL)
		return dnnl_memory_desc_clone(
		    out, (const_dnnl_memory_desc_t)md->native);
	if (md->ndims == 0)
		return dnnl_success;
	if (md->tag != dnnl_format_tag_undef)
		return dnnl_memory_desc_create_with_tag(
		    out, md->ndims, md->dims, md_type(md), md->tag);
	return dnnl_memory_desc_create_with_strides(
	    out, md->ndims, md->dims, md_type(md), md->strides);
}

static void
close_md(dnnl_memory_desc_t md)
{
	if (md)
		dnnl_memory_desc_destroy(md);
}

size_t
md_size(const struct md *md)
{
	dnnl_memory_desc_t d;
	size_t n = 0;

	if (open_md(&d, md) == dnnl_success && d)
		n = dnnl_memory_desc_get_size(d);
	close_md(d);
	return n;
}

dnnl_status_t
md_memory(dnnl_memory_t *m, const struct md *md, dnnl_engine_t e, void *data)
{
	dnnl_memory_desc_t d;
	dnnl_status_t s = open_md(&d, md);

	if (s == dnnl_success)
		s = dnnl_memory_create(m, d, e, data);
	close_md(d);
	return s;
}

struct md
md_wanted(const_dnnl_primitive_desc_t pd, dnnl_query_t q, int index)
{
	return (struct md){
	    .native = dnnl_primitive_desc_query_md(pd, q, index)};
}

dnnl_status_t
md_part(struct md *part, const struct md *whole, const dnnl_dims_t dims,
    const dnnl_dims_t at, struct arena *a)
{
	dnnl_memory_desc_t of, made = NULL;
	dnnl_status_t s = open_md(&of, whole);

	(void)a;
	if (s == dnnl_success)
		s = dnnl_memory_desc_create_submemory(&made, of, dims, at);
	close_md(of);
	*part = (struct md){.native = made};
	return s;
}

void
md_part_release(struct md *part)
{
	union {
		const void *is;
		dnnl_memory_desc_t md;
	} made = {.is = part->native};

	close_md(made.md);
	*part = (struct md){.native = NULL};
}

dnnl_status_t
md_reorder(dnnl_primitive_desc_t *pd, const struct md *from,
    const struct md *to, dnnl_engine_t e)
{
	dnnl_memory_desc_t a, b = NULL;
	dnnl_status_t s = open_md(&a, from);

	if (s == dnnl_success)
		s = open_md(&b, to);
	if (s == dnnl_success)
		s = dnnl_reorder_primitive_desc_create(pd, a, e, b, e, NULL);
	close_md(a);
	close_md(b);
	return s;
}

dnnl_status_t
md_concat(dnnl_primitive_desc_t *pd, const struct md *dst, struct md_list part,
    int axis, dnnl_engine_t e, struct arena *scratch)
{
	dnnl_memory_desc_t to,
	    *from = arena_new(scratch, dnnl_memory_desc_t, (size_t)part.n);
	dnnl_status_t s = open_md(&to, dst);

	for (int i = 0; i < part.n && s == dnnl_success; i++)
		s = open_md(&from[i], &part.md[i]);
	if (s == dnnl_success)
		s = dnnl_concat_primitive_desc_create(pd, e, to, part.n, axis,
		    (const_dnnl_memory_desc_t const *)from, NULL);
	for (int i = 0; i < part.n; i++)
		close_md(from[i]);
	close_md(to);
	return s;
}

static dnnl_status_t
describe_recurrent(dnnl_primitive_desc_t *pd, const struct operation *op,
    dnnl_memory_desc_t *m, dnnl_engine_t e, const_dnnl_primitive_attr_t attr)
{
	const dnnl_prop_kind_t p = dnnl_forward_inference;

	switch (op->alg) {
	case dnnl_vanilla_lstm:
		return dnnl_lstm_forward_primitive_desc_create(pd, e, p,
		    op->direction, m[ROLE_SRC], m[ROLE_SRC_ITER],
		    m[ROLE_SRC_ITER_C], m[ROLE_WEIGHTS], m[ROLE_WEIGHTS_ITER],
		    NULL, NULL, m[ROLE_BIAS], m[ROLE_DST], m[ROLE_DST_ITER],
		    m[ROLE_DST_ITER_C], 0, attr);
	case dnnl_vanilla_gru:
		return dnnl_gru_forward_primitive_desc_create(pd, e, p,
		    op->direction, m[ROLE_SRC], m[ROLE_SRC_ITER],
		    m[ROLE_WEIGHTS], m[ROLE_WEIGHTS_ITER], m[ROLE_BIAS],
		    m[ROLE_DST], m[ROLE_DST_ITER], 0, attr);
	case dnnl_lbr_gru:
		return dnnl_lbr_gru_forward_primitive_desc_create(pd, e, p,
		    op->direction, m[ROLE_SRC], m[ROLE_SRC_ITER],
		    m[ROLE_WEIGHTS], m[ROLE_WEIGHTS_ITER], m[ROLE_BIAS],
		    m[ROLE_DST], m[ROLE_DST_ITER], 0, attr);
	default:
		return dnnl_vanilla_rnn_forward_primitive_desc_create(pd, e, p,
		    dnnl_eltwise_tanh, op->direction, m[ROLE_SRC],
		    m[ROLE_SRC_ITER], m[ROLE_WEIGHTS], m[ROLE_WEIGHTS_ITER],
		    m[ROLE_BIAS], m[ROLE_DST], m[ROLE_DST_ITER], 0, 0, 0, attr);
	}
}

/* Version 3 gave these a slope and an offset; 2 had them built in. */
static void
own_slope(dnnl_alg_kind_t alg, float *a, float *b)
{
	if (alg == dnnl_eltwise_hardswish) {
		*a = 1.f / 6;
		*b = 0.5f;
	} else if (alg == dnnl_eltwise_soft_relu) {
		*a = 1;
	}
}

static dnnl_status_t
describe(dnnl_primitive_desc_t *pd, const struct operation *op,
    dnnl_memory_desc_t *m, dnnl_engine_t e, const_dnnl_primitive_attr_t attr)
{
	const dnnl_prop_kind_t p = dnnl_forward_inference;
	float a = op->a, b = op->b;

	if (library_groups != dnnl_undefined_primitive
	    && op->kind == library_groups)
		return describe_groups(pd, op, m, e, attr);
	switch (op->kind) {
	case dnnl_convolution:
		return dnnl_convolution_forward_primitive_desc_create(pd, e, p,
		    op->alg, m[ROLE_SRC], m[ROLE_WEIGHTS], m[ROLE_BIAS],
		    m[ROLE_DST], op->window.stride, op->window.holes,
		    op->window.before, op->window.after, attr);
	case dnnl_deconvolution:
		return dnnl_deconvolution_forward_primitive_desc_create(pd, e,
		    p, op->alg, m[ROLE_SRC], m[ROLE_WEIGHTS], m[ROLE_BIAS],
		    m[ROLE_DST], op->window.stride, op->window.holes,
		    op->window.before, op->window.after, attr);
	case dnnl_pooling:
		return dnnl_pooling_forward_primitive_desc_create(pd, e, p,
		    op->alg, m[ROLE_SRC], m[ROLE_DST], op->window.stride,
		    op->window.kernel, op->window.holes, op->window.before,
		    op->window.after, attr);
	case dnnl_matmul:
		return dnnl_matmul_primitive_desc_create(pd, e, m[ROLE_SRC],
		    m[ROLE_WEIGHTS], m[ROLE_BIAS], m[ROLE_DST], attr);
	case dnnl_resampling:
		return dnnl_resampling_forward_primitive_desc_create(
		    pd, e, p, op->alg, NULL, m[ROLE_SRC], m[ROLE_DST], attr);
	case dnnl_softmax:
		return dnnl_softmax_forward_primitive_desc_create(pd, e, p,
		    op->alg, m[ROLE_SRC], m[ROLE_DST], (int)op->n, attr);
	case dnnl_layer_normalization:
		return dnnl_layer_normalization_forward_primitive_desc_create(
		    pd, e, p, m[ROLE_SRC], m[ROLE_DST], NULL, a, op->flags,
		    attr);
	case dnnl_batch_normalization:
		return dnnl_batch_normalization_forward_primitive_desc_create(
		    pd, e, p, m[ROLE_SRC], m[ROLE_DST], a, op->flags, attr);
	case dnnl_lrn:
		return dnnl_lrn_forward_primitive_desc_create(pd, e, p, op->alg,
		    m[ROLE_SRC], m[ROLE_DST], op->n, a, b, op->c, attr);
	case dnnl_eltwise:
		own_slope(op->alg, &a, &b);
		return dnnl_eltwise_forward_primitive_desc_create(
		    pd, e, p, op->alg, m[ROLE_SRC], m[ROLE_DST], a, b, attr);
	case dnnl_binary:
		return dnnl_binary_primitive_desc_create(pd, e, op->alg,
		    m[ROLE_SRC], m[ROLE_SRC_1], m[ROLE_DST], attr);
	case dnnl_prelu:
		return dnnl_prelu_forward_primitive_desc_create(
		    pd, e, p, m[ROLE_SRC], m[ROLE_WEIGHTS], m[ROLE_DST], attr);
	case dnnl_reduction:
		return dnnl_reduction_primitive_desc_create(
		    pd, e, op->alg, m[ROLE_SRC], m[ROLE_DST], a, 0, attr);
	default:
		return describe_recurrent(pd, op, m, e, attr);
	}
}

dnnl_status_t
operation_describe(dnnl_primitive_desc_t *pd, const struct operation *op,
    dnnl_engine_t e, const_dnnl_primitive_attr_t attr, uint32_t nth)
{
	dnnl_memory_desc_t m[NROLES] = {0};
	dnnl_status_t s = dnnl_success;

	*pd = NULL;
	for (int i = 0; i < NROLES && s == dnnl_success; i++)
		s = open_md(&m[i], &op->md[i]);
	if (s == dnnl_success)
		s = describe(pd, op, m, e, attr);
	for (int i = 0; i < NROLES; i++)
		close_md(m[i]);
	for (; nth > 0 && s == dnnl_success; nth--)
		s = dnnl_primitive_desc_next_impl(*pd);
	if (s != dnnl_success && *pd) {
		dnnl_primitive_desc_destroy(*pd);
		*pd = NULL;
	}
	return s;
}

const int library_scales = DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS;

dnnl_status_t
attr_scales(dnnl_primitive_attr_t attr, int n, const float *scale, bool grouped)
{
	(void)scale;
	return dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_WEIGHTS,
	    n == 1        ? 0
	        : grouped ? 3
	                  : 1);
}

dnnl_status_t
attr_zero(dnnl_primitive_attr_t attr, int arg, int32_t zero)
{
	(void)zero;
	return dnnl_primitive_attr_set_zero_points_mask(attr, arg, 0);
}

dnnl_status_t
post_append_sum(dnnl_post_ops_t p)
{
	return dnnl_post_ops_append_sum(p, 1, 0, dnnl_data_type_undef);
}

dnnl_status_t
post_append_eltwise(dnnl_post_ops_t p, dnnl_alg_kind_t alg, float a, float b)
{
	own_slope(alg, &a, &b);
	return dnnl_post_ops_append_eltwise(p, alg, a, b);
}

dnnl_status_t
post_append_binary(dnnl_post_ops_t p, dnnl_alg_kind_t alg, const struct md *md)
{
	dnnl_memory_desc_t d;
	dnnl_status_t s = open_md(&d, md);

	if (s == dnnl_success)
		s = dnnl_post_ops_append_binary(p, alg, d);
	close_md(d);
	return s;
}

dnnl_status_t
post_append_dw(dnnl_post_ops_t p, int64_t stride)
{
	return dnnl_post_ops_append_dw(
	    p, dnnl_f32, dnnl_f32, dnnl_f32, 3, stride, 1);
}
