/* Fused steps as post-operations. */
#include "targets/dnnl/layer.h"

static const struct {
	enum step_kind kind;
	dnnl_alg_kind_t alg;
} unary[] = {
    {STEP_RELU, dnnl_eltwise_relu},
    {STEP_ELU, dnnl_eltwise_elu},
    {STEP_CLIP, dnnl_eltwise_clip},
    {STEP_LINEAR, dnnl_eltwise_linear},
    {STEP_SIGMOID, dnnl_eltwise_logistic},
    {STEP_TANH, dnnl_eltwise_tanh},
    {STEP_HARDSWISH, dnnl_eltwise_hardswish},
    {STEP_SWISH, dnnl_eltwise_swish},
    {STEP_GELU_ERF, dnnl_eltwise_gelu_erf},
    {STEP_GELU_TANH, dnnl_eltwise_gelu_tanh},
    {STEP_MISH, dnnl_eltwise_mish},
    {STEP_SOFTPLUS, dnnl_eltwise_soft_relu},
    {STEP_EXP, dnnl_eltwise_exp},
    {STEP_LOG, dnnl_eltwise_log},
    {STEP_SQRT, dnnl_eltwise_sqrt},
    {STEP_ABS, dnnl_eltwise_abs},
    {STEP_SQUARE, dnnl_eltwise_square},
    {STEP_POW, dnnl_eltwise_pow},
    {STEP_ROUND, dnnl_eltwise_round},
};

bool
step_algorithm(const struct step *s, dnnl_alg_kind_t *alg)
{
	for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
		if (unary[i].kind == s->kind) {
			*alg = unary[i].alg;
			return true;
		}
	return false;
}

dnnl_alg_kind_t
binary_algorithm(enum step_kind kind)
{
	switch (kind) {
	case STEP_SUB:
		return dnnl_binary_sub;
	case STEP_MUL:
		return dnnl_binary_mul;
	case STEP_DIV:
		return dnnl_binary_div;
	case STEP_MAX:
		return dnnl_binary_max;
	case STEP_MIN:
		return dnnl_binary_min;
	default:
		return dnnl_binary_add;
	}
}

/* The step that may be an in-place sum: the first one, adding a tensor. */
static bool
is_sum(const struct fused *f, uint32_t i, enum residual how)
{
	return how == RESIDUAL_SUM && i == 0 && f->step[0].kind == STEP_ADD;
}

static bool
append_function(struct build *b, dnnl_post_ops_t ops, const struct step *s)
{
	dnnl_alg_kind_t alg;

	if (!step_algorithm(s, &alg))
		return err_set(b->err, ERR_UNSUPPORTED,
		    "oneDNN: no algorithm for a fused step");
	return check(b, post_append_eltwise(ops, alg, s->alpha, s->beta),
	    "eltwise post-op");
}

static bool
append(struct build *b, dnnl_post_ops_t ops, uint32_t i, enum residual how,
    uint32_t rank)
{
	const struct step *s = &b->fused.step[i];
	struct md md;

	if (is_sum(&b->fused, i, how))
		return check(b, post_append_sum(ops), "sum post-op");
	if (step_is_binary(s->kind))
		return desc_operand(b, s->other, rank, &md)
		    && check(b,
		        post_append_binary(ops, binary_algorithm(s->kind), &md),
		        "binary post-op");
	return append_function(b, ops, s);
}

static bool
append_functions(struct build *b, dnnl_post_ops_t ops, const struct fused *f)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < f->nsteps; i++)
		ok = append_function(b, ops, &f->step[i]);
	return ok;
}

bool
post_operations_depthwise(
    struct build *b, const struct fused *second, int64_t stride)
{
	dnnl_post_ops_t ops;
	bool ok;

	if (!check(b, dnnl_primitive_attr_create(&b->attr), "attributes")
	    || !check(b, dnnl_post_ops_create(&ops), "post-ops"))
		return false;
	ok = append_functions(b, ops, &b->fused)
	    && check(b, post_append_dw(ops, stride), "depthwise post-op")
	    && append_functions(b, ops, second)
	    && check(
	        b, dnnl_primitive_attr_set_post_ops(b->attr, ops), "post-ops");
	dnnl_post_ops_destroy(ops);
	return ok;
}

bool
post_operations(struct build *b, enum residual how, uint32_t rank)
{
	dnnl_post_ops_t ops;
	bool ok = true;

	if (b->fused.nsteps == 0)
		return true;
	if (!check(b, dnnl_primitive_attr_create(&b->attr), "attributes")
	    || !check(b, dnnl_post_ops_create(&ops), "post-ops"))
		return false;
	for (uint32_t i = 0; ok && i < b->fused.nsteps; i++)
		ok = append(b, ops, i, how, rank);
	ok = ok
	    && check(
	        b, dnnl_primitive_attr_set_post_ops(b->attr, ops), "post-ops");
	dnnl_post_ops_destroy(ops);
	return ok;
}

bool
bind_post_operands(struct build *b, enum residual how, uint32_t rank)
{
	const struct fused *f = &b->fused;

	for (uint32_t i = 0; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];
		struct md md;

		if (!step_is_binary(s->kind))
			continue;
		if (!desc_operand(b, s->other, rank, &md))
			return false;
		if (is_sum(f, i, how)) {
			b->layer->residual =
			    candidate_input(b->candidate, s->other);
			b->layer->residual_bytes = md_size(&md);
			continue;
		}
		if (!bind_operand(b,
		        DNNL_ARG_ATTR_MULTIPLE_POST_OP((int)i) | DNNL_ARG_SRC_1,
		        s->other, &md))
			return false;
	}
	return true;
}
