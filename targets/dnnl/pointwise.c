/* Chains of pointwise operators: one eltwise or binary primitive. */
#include "targets/dnnl/layer.h"

/* Take the first step out; what is left becomes post-operations. */
static struct step
pop_step(struct fused *f)
{
	struct step s = f->step[0];

	f->nsteps--;
	for (uint32_t i = 0; i < f->nsteps; i++)
		f->step[i] = f->step[i + 1];
	return s;
}

bool
build_eltwise(struct build *b)
{
	struct step s = pop_step(&b->fused);
	const uint32_t rank = graph_value(b->graph, b->fused.end)->type.rank;
	struct md src, dst;
	struct operation op = {.kind = dnnl_eltwise, .a = s.alpha, .b = s.beta};
	dnnl_primitive_desc_t pd;

	if (!step_algorithm(&s, &op.alg))
		return err_set(b->err, ERR_UNSUPPORTED,
		    "oneDNN: no algorithm for this activation");
	if (!desc_value(b, b->fused.start, &src)
	    || !desc_value(b, b->fused.end, &dst)
	    || !post_operations(b, RESIDUAL_BINARY, rank))
		return false;
	op.md[ROLE_SRC] = src;
	op.md[ROLE_DST] = dst;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_value(b, DNNL_ARG_SRC, b->fused.start, &src)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &dst)
	    && bind_post_operands(b, RESIDUAL_BINARY, rank);
}

/* The library broadcasts its second operand only, so the larger one comes
 * first; the predicate has seen that it may. */
static void
order(const struct build *b, const struct step *s, value_id *left,
    value_id *right)
{
	const struct type *out = &graph_value(b->graph, b->fused.end)->type;
	const struct type *t;
	bool full;

	*left = s->swapped ? s->other : b->fused.start;
	*right = s->swapped ? b->fused.start : s->other;
	t = &graph_value(b->graph, *left)->type;
	full = t->rank == out->rank;
	for (uint32_t i = 0; full && i < t->rank; i++)
		full = t->dim[i] == out->dim[i];
	if (!full || graph_value(b->graph, *left)->constant != NULL) {
		value_id v = *left;

		*left = *right;
		*right = v;
	}
}

bool
build_binary(struct build *b)
{
	struct step s = pop_step(&b->fused);
	const uint32_t rank = graph_value(b->graph, b->fused.end)->type.rank;
	struct md left_md, right_md, dst;
	struct operation op = {
	    .kind = dnnl_binary, .alg = binary_algorithm(s.kind)};
	dnnl_primitive_desc_t pd;
	value_id left, right;

	order(b, &s, &left, &right);
	if (!desc_operand(b, left, rank, &left_md)
	    || !desc_operand(b, right, rank, &right_md)
	    || !desc_value(b, b->fused.end, &dst)
	    || !post_operations(b, RESIDUAL_BINARY, rank))
		return false;
	op.md[ROLE_SRC] = left_md;
	op.md[ROLE_SRC_1] = right_md;
	op.md[ROLE_DST] = dst;
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	dnnl_primitive_desc_destroy(pd);
	return bind_operand(b, DNNL_ARG_SRC_0, left, &left_md)
	    && bind_operand(b, DNNL_ARG_SRC_1, right, &right_md)
	    && bind_value(b, DNNL_ARG_DST, b->fused.end, &dst)
	    && bind_post_operands(b, RESIDUAL_BINARY, rank);
}

bool
build_prelu(struct build *b)
{
	const struct node *n = b->fused.anchor;
	const uint32_t rank = node_in(b->graph, n, 0)->type.rank;
	struct md md, slope, plain;
	struct operation op = {.kind = dnnl_prelu};
	dnnl_primitive_desc_t pd;
	bool ok;

	if (!desc_value(b, n->input[0], &md)
	    || !desc_operand(b, n->input[1], rank, &slope))
		return false;
	op.md[ROLE_SRC] = op.md[ROLE_DST] = md;
	op.md[ROLE_WEIGHTS] = md_any(&slope);
	if (!make_primitive(b, &op, 0, &pd))
		return false;
	desc_plain(&plain, rank, slope.dims);
	ok = bind_value(b, DNNL_ARG_SRC, n->input[0], &md)
	    && bind_constant(b, DNNL_ARG_WEIGHTS,
	        constant_floats(b, n->input[1]), &plain,
	        wanted(b, pd, dnnl_query_weights_md, 0))
	    && bind_value(b, DNNL_ARG_DST, n->output[0], &md);
	dnnl_primitive_desc_destroy(pd);
	return ok;
}
