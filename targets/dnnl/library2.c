/* Descriptions as oneDNN 2 takes them: plain structures. */
#include "targets/dnnl/library.h"

const dnnl_primitive_kind_t library_groups = dnnl_undefined_primitive;
const unsigned library_halves = 0;
const bool library_winograd = true;

static const dnnl_memory_desc_t *
fill(dnnl_memory_desc_t *out, const struct md *md, dnnl_status_t *s)
{
	if (md->native != NULL)
		return md->native;
	if (md->ndims == 0)
		return NULL;
	*s = md->tag != dnnl_format_tag_undef
	    ? dnnl_memory_desc_init_by_tag(
	        out, md->ndims, md->dims, md_type(md), md->tag)
	    : dnnl_memory_desc_init_by_strides(
	        out, md->ndims, md->dims, md_type(md), md->strides);
	return out;
}

size_t
md_size(const struct md *md)
{
	dnnl_memory_desc_t d;
	dnnl_status_t s = dnnl_success;
	const dnnl_memory_desc_t *is = fill(&d, md, &s);

	return is && s == dnnl_success ? dnnl_memory_desc_get_size(is) : 0;
}

dnnl_status_t
md_memory(dnnl_memory_t *m, const struct md *md, dnnl_engine_t e, void *data)
{
	dnnl_memory_desc_t d;
	dnnl_status_t s = dnnl_success;
	const dnnl_memory_desc_t *is = fill(&d, md, &s);

	return s == dnnl_success ? dnnl_memory_create(m, is, e, data) : s;
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
	dnnl_memory_desc_t d, *made = arena_new(a, dnnl_memory_desc_t, 1);
	dnnl_status_t s = dnnl_success;
	const dnnl_memory_desc_t *of = fill(&d, whole, &s);

	if (s == dnnl_success)
		s = dnnl_memory_desc_init_submemory(made, of, dims, at);
	*part = (struct md){.native = made};
	return s;
}

void
md_part_release(struct md *part)
{
	*part = (struct md){.native = NULL};
}

dnnl_status_t
md_reorder(dnnl_primitive_desc_t *pd, const struct md *from,
    const struct md *to, dnnl_engine_t e)
{
	dnnl_memory_desc_t d[2];
	dnnl_status_t s = dnnl_success, t = dnnl_success;
	const dnnl_memory_desc_t *a = fill(&d[0], from, &s);
	const dnnl_memory_desc_t *b = fill(&d[1], to, &t);

	if (s != dnnl_success || t != dnnl_success)
		return dnnl_invalid_arguments;
	return dnnl_reorder_primitive_desc_create(pd, a, e, b, e, NULL);
}

dnnl_status_t
md_concat(dnnl_primitive_desc_t *pd, const struct md *dst, struct md_list part,
    int axis, dnnl_engine_t e, struct arena *scratch)
{
	dnnl_memory_desc_t to,
	    *from = arena_new(scratch, dnnl_memory_desc_t, (size_t)part.n);
	dnnl_status_t s = dnnl_success;

	fill(&to, dst, &s);
	for (int i = 0; i < part.n && s == dnnl_success; i++)
		fill(&from[i], &part.md[i], &s);
	return s == dnnl_success ? dnnl_concat_primitive_desc_create(
	           pd, &to, part.n, axis, from, NULL, e)
	                         : s;
}

union description {
	dnnl_convolution_desc_t conv;
	dnnl_deconvolution_desc_t deconv;
	dnnl_pooling_v2_desc_t pool;
	dnnl_matmul_desc_t matmul;
	dnnl_resampling_desc_t resampling;
	dnnl_softmax_v2_desc_t softmax;
	dnnl_layer_normalization_desc_t layer;
	dnnl_batch_normalization_desc_t batch;
	dnnl_lrn_desc_t lrn;
	dnnl_eltwise_desc_t eltwise;
	dnnl_binary_desc_t binary;
	dnnl_prelu_desc_t prelu;
	dnnl_reduction_desc_t reduction;
	dnnl_rnn_desc_t rnn;
};

static dnnl_status_t
describe_recurrent(union description *d, const struct operation *op,
    const dnnl_memory_desc_t *const *m)
{
	const dnnl_prop_kind_t p = dnnl_forward_inference;

	switch (op->alg) {
	case dnnl_vanilla_lstm:
		return dnnl_lstm_forward_desc_init(&d->rnn, p, op->direction,
		    m[ROLE_SRC], m[ROLE_SRC_ITER], m[ROLE_SRC_ITER_C],
		    m[ROLE_WEIGHTS], m[ROLE_WEIGHTS_ITER], m[ROLE_BIAS],
		    m[ROLE_DST], m[ROLE_DST_ITER], m[ROLE_DST_ITER_C], 0);
	case dnnl_vanilla_gru:
		return dnnl_gru_forward_desc_init(&d->rnn, p, op->direction,
		    m[ROLE_SRC], m[ROLE_SRC_ITER], m[ROLE_WEIGHTS],
		    m[ROLE_WEIGHTS_ITER], m[ROLE_BIAS], m[ROLE_DST],
		    m[ROLE_DST_ITER], 0);
	case dnnl_lbr_gru:
		return dnnl_lbr_gru_forward_desc_init(&d->rnn, p, op->direction,
		    m[ROLE_SRC], m[ROLE_SRC_ITER], m[ROLE_WEIGHTS],
		    m[ROLE_WEIGHTS_ITER], m[ROLE_BIAS], m[ROLE_DST],
		    m[ROLE_DST_ITER], 0);
	default:
		return dnnl_vanilla_rnn_forward_desc_init(&d->rnn, p,
		    dnnl_eltwise_tanh, op->direction, m[ROLE_SRC],
		    m[ROLE_SRC_ITER], m[ROLE_WEIGHTS], m[ROLE_WEIGHTS_ITER],
		    m[ROLE_BIAS], m[ROLE_DST], m[ROLE_DST_ITER], 0, 0, 0);
	}
}

static dnnl_status_t
describe(union description *d, const struct operation *op,
    const dnnl_memory_desc_t *const *m)
{
	const dnnl_prop_kind_t p = dnnl_forward_inference;

	switch (op->kind) {
	case dnnl_convolution:
		return dnnl_dilated_convolution_forward_desc_init(&d->conv, p,
		    op->alg, m[ROLE_SRC], m[ROLE_WEIGHTS], m[ROLE_BIAS],
		    m[ROLE_DST], op->window.stride, op->window.holes,
		    op->window.before, op->window.after);
	case dnnl_deconvolution:
		return dnnl_dilated_deconvolution_forward_desc_init(&d->deconv,
		    p, op->alg, m[ROLE_SRC], m[ROLE_WEIGHTS], m[ROLE_BIAS],
		    m[ROLE_DST], op->window.stride, op->window.holes,
		    op->window.before, op->window.after);
	case dnnl_pooling:
		return dnnl_pooling_v2_forward_desc_init(&d->pool, p, op->alg,
		    m[ROLE_SRC], m[ROLE_DST], op->window.stride,
		    op->window.kernel, op->window.holes, op->window.before,
		    op->window.after);
	case dnnl_matmul:
		return dnnl_matmul_desc_init(&d->matmul, m[ROLE_SRC],
		    m[ROLE_WEIGHTS], m[ROLE_BIAS], m[ROLE_DST]);
	case dnnl_resampling:
		return dnnl_resampling_forward_desc_init(
		    &d->resampling, p, op->alg, NULL, m[ROLE_SRC], m[ROLE_DST]);
	case dnnl_softmax:
		return dnnl_softmax_v2_forward_desc_init(&d->softmax, p,
		    op->alg, m[ROLE_SRC], m[ROLE_DST], (int)op->n);
	case dnnl_layer_normalization:
		return dnnl_layer_normalization_forward_desc_init(
		    &d->layer, p, m[ROLE_SRC], NULL, op->a, op->flags);
	case dnnl_batch_normalization:
		return dnnl_batch_normalization_forward_desc_init(
		    &d->batch, p, m[ROLE_SRC], op->a, op->flags);
	case dnnl_lrn:
		return dnnl_lrn_forward_desc_init(&d->lrn, p, op->alg,
		    m[ROLE_SRC], op->n, op->a, op->b, op->c);
	case dnnl_eltwise:
		return dnnl_eltwise_forward_desc_init(
		    &d->eltwise, p, op->alg, m[ROLE_SRC], op->a, op->b);
	case dnnl_binary:
		return dnnl_binary_desc_init(&d->binary, op->alg, m[ROLE_SRC],
		    m[ROLE_SRC_1], m[ROLE_DST]);
	case dnnl_prelu:
		return dnnl_prelu_forward_desc_init(
		    &d->prelu, p, m[ROLE_SRC], m[ROLE_WEIGHTS]);
	case dnnl_reduction:
		return dnnl_reduction_desc_init(
		    &d->reduction, op->alg, m[ROLE_SRC], m[ROLE_DST], op->a, 0);
	default:
		return describe_recurrent(d, op, m);
	}
}

dnnl_status_t
operation_describe(dnnl_primitive_desc_t *pd, const struct operation *op,
    dnnl_engine_t e, const_dnnl_primitive_attr_t attr, uint32_t nth)
{
	dnnl_primitive_desc_iterator_t it = NULL;
	const dnnl_memory_desc_t *m[NROLES];
	dnnl_memory_desc_t made[NROLES];
	union description d;
	dnnl_status_t s = dnnl_success;

	*pd = NULL;
	for (int i = 0; i < NROLES && s == dnnl_success; i++)
		m[i] = fill(&made[i], &op->md[i], &s);
	if (s == dnnl_success)
		s = describe(&d, op, m);
	if (s == dnnl_success)
		s = dnnl_primitive_desc_iterator_create(&it, &d, attr, e, NULL);
	for (; nth > 0 && s == dnnl_success; nth--)
		s = dnnl_primitive_desc_iterator_next(it);
	if (s == dnnl_success)
		*pd = dnnl_primitive_desc_iterator_fetch(it);
	if (it)
		dnnl_primitive_desc_iterator_destroy(it);
	return s == dnnl_success && *pd == NULL ? dnnl_unimplemented : s;
}

const int library_scales = 0;

dnnl_status_t
attr_scales(dnnl_primitive_attr_t attr, int n, const float *scale, bool grouped)
{
	(void)grouped;
	return dnnl_primitive_attr_set_output_scales(
	    attr, n, n > 1 ? 1 << 1 : 0, scale);
}

dnnl_status_t
attr_zero(dnnl_primitive_attr_t attr, int arg, int32_t zero)
{
	return dnnl_primitive_attr_set_zero_points(attr, arg, 1, 0, &zero);
}

dnnl_status_t
post_append_sum(dnnl_post_ops_t p)
{
	return dnnl_post_ops_append_sum(p, 1);
}

dnnl_status_t
post_append_eltwise(dnnl_post_ops_t p, dnnl_alg_kind_t alg, float a, float b)
{
	return dnnl_post_ops_append_eltwise(p, 1, alg, a, b);
}

dnnl_status_t
post_append_binary(dnnl_post_ops_t p, dnnl_alg_kind_t alg, const struct md *md)
{
	dnnl_memory_desc_t d;
	dnnl_status_t s = dnnl_success;

	fill(&d, md, &s);
	return s == dnnl_success ? dnnl_post_ops_append_binary(p, alg, &d) : s;
}

dnnl_status_t
post_append_dw(dnnl_post_ops_t p, int64_t stride)
{
	return dnnl_post_ops_append_dw(
	    p, dnnl_f32, dnnl_f32, dnnl_f32, 3, stride, 1, 0, 0, NULL);
}
