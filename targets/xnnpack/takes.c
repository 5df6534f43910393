/* Predicates of this backend's rules. */
#include "targets/need.h"
#include "targets/xnnpack/op.h"

#define NEED why_need

bool
need_clamps(struct why *w, const struct fused *f, uint32_t first)
{
	float low = 0, high = 0;
	bool ok = clamp_of(f, first, &low, &high);

	return NEED(w, ok && low < high, "clamp_only",
	    "Relu or Clip with room between its bounds", "%s",
	    ok ? "no room" : "another step");
}

/* float32; or float16, where the library has that. */
static bool
need_numbers(const struct match_in *m, struct why *why, enum operator_kind kind)
{
	return need_all_numbers(m, why, library_has_halves(kind));
}

bool
takes_convolution(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	bool ok = need_numbers(m, why, OPERATOR_CONVOLUTION);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	ok = need_rank_in(m, why, f.anchor->input[0], 4, 4)
	    && need_window(m, why, f.anchor, &w);
	ok = need_constant(m, why, f.anchor, 1, "weights") && ok;
	ok = need_constant(m, why, f.anchor, 2, "bias") && ok;
	ok = need_clamps(why, &f, 0) && ok;
	return ok && (!f.norm || need_inference(why, f.norm));
}

bool
takes_dense(const struct match_in *m, struct why *why)
{
	const struct node *n;
	struct fused f;
	bool ok = need_numbers(m, why, OPERATOR_DENSE);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	n = f.anchor;
	fused_take_bias(
	    &f, m->graph, graph_value(m->graph, f.end)->type.rank - 1);
	ok = need_rank_in(m, why, n->input[0], 2, 6)
	    && need_rank_in(m, why, n->input[1], 2, 2);
	ok = NEED(why, attr_int_or(n, "transA", 0) == 0, "transA", "0", "1")
	    && ok;
	ok = NEED(why, graph_value(m->graph, n->input[0])->constant == NULL,
	         "left_operand", "not a constant", "a constant")
	    && ok;
	ok = need_constant(m, why, n, 1, "right_operand") && ok;
	ok = need_constant(m, why, n, 2, "bias") && ok;
	ok = need_bias_row(m, why, n) && ok;
	return need_clamps(why, &f, 0) && ok;
}

static enum operator_kind
pooling_of(const struct node *n)
{
	switch (n->op) {
	case OP_MAXPOOL:
		return OPERATOR_MAXIMA;
	case OP_AVERAGEPOOL:
		return OPERATOR_AVERAGES;
	default:
		return OPERATOR_AVERAGE;
	}
}

bool
takes_pooling(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	struct window w;
	bool padded = false, dense = true, apart = false, skips, ok;

	if (n->op == OP_REDUCEMEAN)
		return need_mean_of_images(m, why, n);
	ok = need_numbers(m, why, pooling_of(n))
	    && need_rank_in(m, why, n->input[0], 4, 4);
	if (!ok || n->op == OP_GLOBALAVERAGEPOOL)
		return ok;
	if (!need_window(m, why, n, &w))
		return false;
	for (uint32_t i = 0; i < w.n; i++) {
		padded |= w.before[i] > 0 || w.after[i] > 0;
		dense &= w.dilation[i] == 1;
		apart |= w.stride[i] > w.kernel[i];
	}
	skips =
	    n->op == OP_MAXPOOL ? library_skips.maxima : library_skips.means;
	ok = NEED(why, w.kernel[0] * w.kernel[1] > 1, "window",
	    "more than one element", "1x1");
	/* SOURCE: seen: with both, elements outside the window count. */
	ok = NEED(why, dense || (n->op == OP_MAXPOOL && !padded), "dilations",
	         "1, or of a maximum without padding", "more")
	    && ok;
	ok = NEED(why, !apart || skips, "strides",
	         "at most the window: this XNNPACK has no more", "more")
	    && ok;
	if (n->op == OP_MAXPOOL)
		return NEED(why, attr_int_or(n, "storage_order", 0) == 0,
		           "storage_order", "0", "1")
		    && ok;
	return NEED(why, !padded || attr_int_or(n, "count_include_pad", 0) == 0,
	           "padding", "not counted", "counted")
	    && ok;
}

bool
takes_unary(const struct match_in *m, struct why *why)
{
	struct fused f;
	float low, high;
	bool ok = need_numbers(m, why, OPERATOR_UNARY);

	if (!ok || !need_chain(m, why, &f))
		return false;
	ok = NEED(why,
	    f.anchor == NULL && f.nsteps == 1
	        && !step_is_binary(f.step[0].kind),
	    "one_function", "one function of one tensor", "%u steps",
	    (unsigned)f.nsteps);
	ok = ok
	    && NEED(why, library_computes(f.step[0].kind), "function",
	        "one that this XNNPACK has", "%s",
	        op_get(matched_root(m)->op)->type);
	return ok && (!clamp_of(&f, 0, &low, &high) || need_clamps(why, &f, 0));
}

bool
takes_pair(const struct match_in *m, struct why *why)
{
	struct fused f;
	bool ok = need_numbers(m, why, OPERATOR_PAIR);
	enum step_kind k;

	if (!ok || !need_chain(m, why, &f))
		return false;
	ok = NEED(why,
	    f.anchor == NULL && f.nsteps > 0 && step_is_binary(f.step[0].kind),
	    "two_tensors", "an operation of two tensors", "%u steps",
	    (unsigned)f.nsteps);
	if (!ok)
		return false;
	k = f.step[0].kind;
	ok = NEED(why, (k != STEP_MAX && k != STEP_MIN) || f.nsteps == 1,
	    "no_clamp", "nothing behind Max and Min", "%u steps",
	    (unsigned)f.nsteps);
	ok = NEED(why, library_clamps_pairs || f.nsteps == 1, "clamp",
	         "nothing behind: this XNNPACK has no such operator",
	         "%u steps", (unsigned)f.nsteps)
	    && ok;
	return need_rank_in(m, why, f.end, 1, XNN_MAX_TENSOR_DIMS)
	    && need_clamps(why, &f, 1) && ok;
}

bool
takes_distribution(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	const struct type *t;
	int64_t axis = attr_int_or(n, "axis", n->opset < 13 ? 1 : -1);

	if (!need_numbers(m, why, OPERATOR_SOFTMAX)
	    || !need_rank_in(m, why, n->input[0], 1, XNN_MAX_TENSOR_DIMS))
		return false;
	t = matched_type(m, n->input[0]);
	axis += axis < 0 ? t->rank : 0;
	return NEED(why, n->opset < 13 || axis + 1 == t->rank, "axis",
	    "the last dimension", "%d", (int)axis);
}

/* Stacks of matrices: all dimensions but the last two are those of both. */
static bool
are_stacked_alike(const struct type *left, const struct type *right)
{
	bool alike = left->rank == right->rank;

	for (uint32_t i = 0; alike && i + 2 < left->rank; i++)
		alike = left->dim[i] == right->dim[i];
	return alike;
}

static bool
need_operator(struct why *w, enum operator_kind kind)
{
	return NEED(w, library_has(kind), "library",
	    "an XNNPACK with such an operator", "this one has none");
}

bool
takes_product(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool ok = need_numbers(m, why, OPERATOR_PRODUCT)
	    && need_operator(why, OPERATOR_PRODUCT);

	if (!ok || !need_rank_in(m, why, n->input[0], 2, XNN_MAX_TENSOR_DIMS))
		return false;
	return NEED(why,
	    are_stacked_alike(
	        matched_type(m, n->input[0]), matched_type(m, n->input[1])),
	    "operands", "stacked alike", "one is repeated");
}

bool
takes_transposition(const struct match_in *m, struct why *why)
{
	return need_all_tensors(m, why)
	    && need_operator(why, OPERATOR_TRANSPOSITION)
	    && need_rank_in(
	        m, why, matched_root(m)->input[0], 2, XNN_MAX_TENSOR_DIMS);
}
