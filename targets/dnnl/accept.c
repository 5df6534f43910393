#include "targets/dnnl/accept.h"

#include <string.h>

#include "targets/axes.h"
#include "targets/layer_norm.h"
#include "targets/need.h"

#define NEED why_need
#define DIMS_MAX 12 /* SOURCE: dnnl_types.h, DNNL_MAX_NDIMS */

bool
accept_conv(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	ok = need_rank_in(m, why, f.anchor->input[0], 3, 5);
	ok = ok && need_window(m, why, f.anchor, &w);
	ok = need_constant(m, why, f.anchor, 1, "weights") && ok;
	ok = need_constant(m, why, f.anchor, 2, "bias") && ok;
	if (f.norm)
		ok = need_inference(why, f.norm) && ok;
	return ok;
}

bool
accept_matmul(const struct match_in *m, struct why *why)
{
	const struct node *n;
	struct fused f;
	bool ok = need_all_tensors(m, why);
	float alpha, beta;

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	n = f.anchor;
	ok = need_rank_in(m, why, n->input[0], 2, DIMS_MAX);
	ok = need_rank_in(m, why, n->input[1], 2, DIMS_MAX) && ok;
	ok = NEED(why, graph_value(m->graph, n->input[0])->constant == NULL,
	         "left_operand", "not a constant", "'%s' is constant",
	         matched_name(m, n->input[0]))
	    && ok;
	if (n->op != OP_GEMM)
		return ok;
	ok = need_constant(m, why, n, 2, "bias") && ok;
	alpha = attr_float_or(n, "alpha", 1);
	beta = attr_float_or(n, "beta", 1);
	ok = NEED(why,
	         alpha == 1 || graph_value(m->graph, n->input[1])->constant,
	         "alpha", "1, or a constant right operand", "alpha = %g",
	         (double)alpha)
	    && ok;
	return NEED(why, beta == 1 || n->ninputs > 2, "beta",
	           "1 without a bias", "beta = %g", (double)beta)
	    && ok;
}

bool
accept_pool(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool local = n->op == OP_MAXPOOL || n->op == OP_AVERAGEPOOL;
	bool ok =
	    need_all_tensors(m, why) && need_rank_in(m, why, n->input[0], 3, 5);
	struct window w;

	if (!ok || !local)
		return ok;
	ok = need_window(m, why, n, &w);
	if (!ok)
		return false;
	for (uint32_t i = 0; i < w.n; i++)
		ok =
		    NEED(why,
		        w.before[i] < w.kernel[i] && w.after[i] < w.kernel[i],
		        "padding", "smaller than the kernel", "%d and %d of %d",
		        (int)w.before[i], (int)w.after[i], (int)w.kernel[i])
		    && ok;
	if (n->op == OP_AVERAGEPOOL)
		ok = NEED(why,
		         !w.beyond
		             || attr_int_or(n, "count_include_pad", 0) == 0,
		         "ceil_mode", "padding not counted",
		         "the last window passes the padding")
		    && ok;
	return NEED(why, attr_int_or(n, "storage_order", 0) == 0,
	           "storage_order", "0", "1")
	    && ok;
}

bool
accept_eltwise(const struct match_in *m, struct why *why)
{
	struct fused f;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f))
		return false;
	return NEED(why,
	    f.anchor == NULL && f.nsteps == 1
	        && !step_is_binary(f.step[0].kind),
	    "one_function", "one function of one tensor", "%u steps",
	    (unsigned)f.nsteps);
}

/* One operand must have the result's shape: the library broadcasts the other.
 * When it does not commute, that has to be the left one. */
static bool
need_full_operand(
    const struct match_in *m, struct why *why, const struct fused *f)
{
	const struct step *s = &f->step[0];
	const struct type *out = matched_type(m, f->end);
	value_id left = s->swapped ? s->other : f->start;
	value_id right = s->swapped ? f->start : s->other;
	bool full = same_shape(matched_type(m, left), out)
	    && graph_value(m->graph, left)->constant == NULL;

	if (step_commutes(s->kind))
		full = full
		    || (same_shape(matched_type(m, right), out)
		        && graph_value(m->graph, right)->constant == NULL);
	return NEED(why, full, "full_operand",
	    "a computed operand of the result's shape", "'%s' and '%s' are not",
	    matched_name(m, left), matched_name(m, right));
}

/* A slope for each element of one of the dimensions, or for all. */
bool
accept_prelu(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);

	return need_all_tensors(m, why)
	    && need_rank_in(m, why, n->input[0], 2, 5)
	    && NEED(why,
	        matched_type(m, n->input[1])->rank
	            <= matched_type(m, n->input[0])->rank,
	        "slope", "broadcasts to the tensor", "it has more dimensions");
}

bool
accept_binary(const struct match_in *m, struct why *why)
{
	struct fused f;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f))
		return false;
	ok = NEED(why,
	    f.anchor == NULL && f.nsteps > 0 && step_is_binary(f.step[0].kind),
	    "two_tensors", "an operation of two tensors", "%u steps",
	    (unsigned)f.nsteps);
	return ok && need_rank_in(m, why, f.end, 1, DIMS_MAX)
	    && need_full_operand(m, why, &f);
}

bool
accept_softmax(const struct match_in *m, struct why *why)
{
	return need_all_tensors(m, why)
	    && need_rank_in(m, why, matched_root(m)->input[0], 1, DIMS_MAX);
}

/* One weight for each normalised element, in their order. */
static bool
need_weights(const struct match_in *m, struct why *why,
    const struct layer_norm *l, value_id v)
{
	const struct type *x = matched_type(m, l->x), *t;
	bool ok;

	if (v == VALUE_NONE)
		return true;
	t = matched_type(m, v);
	ok = graph_value(m->graph, v)->constant != NULL && t->rank <= x->rank;
	for (uint32_t i = 0; ok && i < x->rank; i++) {
		uint32_t skip = x->rank - t->rank;
		int64_t dim = i < skip ? 1 : t->dim[i - skip];

		ok = dim == (i < l->axis ? 1 : x->dim[i]);
	}
	return NEED(why, ok, "weights", "constants, one per normalised element",
	    "'%s' is not", matched_name(m, v));
}

bool
accept_layer_norm(const struct match_in *m, struct why *why)
{
	struct layer_norm l;
	const char *fault;
	bool ok = layer_norm_read(&l, m->graph, m->match, &fault);

	if (!NEED(why, ok, "layer_norm", "a normalisation of one tensor", "%s",
	        ok ? "it is one" : fault)
	    || !need_tensor(m, why, l.x) || !need_tensor(m, why, l.y))
		return false;
	ok = NEED(
	    why, l.axis >= 1, "axis", "not the first", "axis %d", (int)l.axis);
	ok = need_weights(m, why, &l, l.scale) && ok;
	return need_weights(m, why, &l, l.shift) && ok;
}

bool
accept_batch_norm(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->node[0]);

	return need_all_tensors(m, why) && need_inference(why, n)
	    && need_rank_in(m, why, n->input[0], 2, 5);
}

bool
accept_concat(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool ok = need_all_tensors(m, why), variable = true;

	for (uint32_t i = 0; i < n->ninputs; i++)
		variable &=
		    graph_value(m->graph, n->input[i])->constant == NULL;
	ok = NEED(why, variable, "variable_inputs", "no constants",
	         "a part is constant")
	    && ok;
	return ok && need_rank_in(m, why, n->output[0], 1, DIMS_MAX);
}

/* Dimensions are known; ranks the library has. */
bool
accept_reduction(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool reduced[AXES_MAX], ok = need_tensors(m, why, n, 1);

	if (!ok || !need_rank_in(m, why, n->input[0], 1, DIMS_MAX))
		return false;
	ok = axes_read(reduced, m->graph, n);
	return NEED(why, ok, "axes", "known", "they are computed");
}

bool
accept_lrn(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	int64_t size = attr_int_or(n, "size", 1);

	return need_all_tensors(m, why)
	    && need_rank_in(m, why, n->input[0], 3, 5)
	    && NEED(why, size % 2 == 1, "size", "odd", "%d", (int)size);
}

static bool
is_text(struct string_view s, const char *want)
{
	return s.n == strlen(want) && memcmp(s.s, want, s.n) == 0;
}

/* Nearest is the same everywhere for whole factors; linear must take pixel
 * centres, as the library does. */
bool
accept_resize(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	struct string_view mode = attr_str_or(n, "mode", "nearest");
	struct string_view where =
	    attr_str_or(n, "coordinate_transformation_mode",
	        n->op == OP_UPSAMPLE || n->opset < 11 ? "asymmetric"
	                                              : "half_pixel");
	bool nearest = is_text(mode, "nearest"),
	     linear = is_text(mode, "linear");
	const struct type *in, *out;
	bool ok = need_tensors(m, why, n, 1), whole = true;

	if (!ok || !need_rank_in(m, why, n->input[0], 3, 5))
		return false;
	in = matched_type(m, n->input[0]);
	out = matched_type(m, n->output[0]);
	for (uint32_t i = 0; i < in->rank; i++)
		whole &= out->dim[i] % in->dim[i] == 0;
	ok = NEED(why, nearest || linear, "mode", "nearest or linear", "%.*s",
	    (int)mode.n, mode.s);
	ok = need_spatial_scales(m, why, n) && ok;
	ok = NEED(why, !nearest || whole, "nearest_factor", "a whole number",
	         "it is not")
	    && ok;
	ok = NEED(why,
	         !nearest || is_text(where, "asymmetric")
	             || is_text(where, "half_pixel"),
	         "coordinates", "asymmetric or half_pixel", "%.*s",
	         (int)where.n, where.s)
	    && ok;
	return NEED(why, !linear || is_text(where, "half_pixel"), "coordinates",
	           "half_pixel for linear", "%.*s", (int)where.n, where.s)
	    && ok;
}

bool
accept_transpose(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);

	return need_all_tensors(m, why)
	    && need_rank_in(m, why, n->input[0], 2, DIMS_MAX);
}
