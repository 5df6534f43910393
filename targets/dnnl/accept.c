#include "targets/dnnl/accept.h"

#include "targets/axes.h"
#include "targets/dnnl/ways.h"
#include "targets/need.h"

#define NEED why_need
#define DIMS_MAX 12 /* SOURCE: dnnl_types.h, DNNL_MAX_NDIMS */

/* float32; or float16, where library and processor compute that. */
static bool
need_numbers(const struct match_in *m, struct why *why)
{
	return need_all_numbers(m, why, dnnl_has_halves());
}

/* SOURCE: seen in oneDNN 2.6.3: kernels keep the parameters of an algorithm
 * once, whatever step of the chain has them. */
bool
need_distinct_algorithms(struct why *why, const struct step *s, uint32_t n)
{
	bool ok = true;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			ok = ok
			    && (step_is_binary(s[i].kind)
			        || s[i].kind != s[k].kind
			        || (s[i].alpha == s[k].alpha
			            && s[i].beta == s[k].beta));
	return NEED(why, ok, "one_algorithm_once",
	    "no function twice with other parameters", "%s",
	    ok ? "none is" : "one is");
}

/* Steps behind an operator, each of which can be a post-operation. */
static bool
need_steps(const struct match_in *m, struct why *why, struct fused *f)
{
	return need_chain(m, why, f)
	    && need_distinct_algorithms(why, f->step, f->nsteps);
}

bool
accept_conv(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	bool ok = need_numbers(m, why);

	if (!ok || !need_steps(m, why, &f) || !f.anchor)
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
	bool ok = need_numbers(m, why);
	float alpha, beta;

	if (!ok || !need_steps(m, why, &f) || !f.anchor)
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

/* SOURCE: oneDNN 2.6.3 calls others invalid. */
static bool
need_holes_inside(struct why *why, int64_t size, int64_t dilation)
{
	return NEED(why, dilation <= size, "dilation",
	    "at most the size of the dimension", "%d of %d", (int)dilation,
	    (int)size);
}

static bool
need_pool_window(
    const struct match_in *m, struct why *why, const struct node *n)
{
	const struct type *in = &node_in(m->graph, n, 0)->type;
	struct window w;
	bool ok = need_window(m, why, n, &w);

	if (!ok)
		return false;
	for (uint32_t i = 0; i < w.n; i++)
		ok =
		    NEED(why,
		        w.before[i] < w.kernel[i] && w.after[i] < w.kernel[i],
		        "padding", "smaller than the kernel", "%d and %d of %d",
		        (int)w.before[i], (int)w.after[i], (int)w.kernel[i])
		    && need_holes_inside(why, in->dim[2 + i], w.dilation[i])
		    && ok;
	ok = NEED(why, window_meets_input(&w, m->graph, n), "window",
	         "over some element everywhere", "on padding alone")
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
accept_pool(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	const bool local = n->op == OP_MAXPOOL || n->op == OP_AVERAGEPOOL;

	if (n->op == OP_REDUCEMEAN)
		return need_mean_of_images(m, why, n);
	return need_numbers(m, why) && need_rank_in(m, why, n->input[0], 3, 5)
	    && (!local || need_pool_window(m, why, n));
}

bool
accept_byte_pool(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);

	return need_byte_images(m, why, n) && need_pool_window(m, why, n);
}

bool
accept_eltwise(const struct match_in *m, struct why *why)
{
	struct fused f;
	bool ok = need_numbers(m, why);

	if (!ok || !need_chain(m, why, &f))
		return false;
	ok = NEED(why,
	    f.anchor == NULL && f.nsteps == 1
	        && !step_is_binary(f.step[0].kind),
	    "one_function", "one function of one tensor", "%u steps",
	    (unsigned)f.nsteps);
	return ok
	    && NEED(why,
	        same_shape(matched_type(m, f.start), matched_type(m, f.end)),
	        "keeps_shape", "a result of the operand's shape",
	        "a constant raises the rank");
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
	bool ok = need_numbers(m, why);

	if (!ok || !need_steps(m, why, &f))
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
	return need_numbers(m, why)
	    && need_rank_in(m, why, matched_root(m)->input[0], 1, DIMS_MAX);
}

bool
accept_layer_norm(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);
	uint32_t axis;
	bool ok;

	if (!need_first_output(m, why, matched_root(m))
	    || !need_tensor(m, why, n->input[0])
	    || !need_tensor(m, why, n->output[0]))
		return false;
	axis = dnnl_norm_axis(m->graph, n);
	ok =
	    NEED(why, axis >= 1, "axis", "not the first", "axis %d", (int)axis);
	ok = need_line_weights(m, why, n, 1, axis) && ok;
	return need_line_weights(m, why, n, 2, axis) && ok;
}

/* One constant for each channel. */
static bool
need_channels(const struct match_in *m, struct why *why, const struct node *n,
    uint32_t input)
{
	const struct graph *g = match_graph(m->match, m->graph);
	const struct value *v = graph_value(g, n->input[input]);
	const struct type *x = &graph_value(g, n->input[0])->type;

	return NEED(why,
	    v->constant != NULL && (int64_t)v->constant->count == x->dim[1],
	    "weights", "constants, one per channel", "'%s' is not", v->name);
}

bool
accept_group_norm(const struct match_in *m, struct why *why)
{
	const struct node *n = match_as_node(m->match, m->graph);

	return NEED(why, dnnl_has_groups(), "library",
	           "a oneDNN that normalises groups (3.2)", "this one does not")
	    && need_first_output(m, why, matched_root(m))
	    && need_tensor(m, why, n->input[0])
	    && need_tensor(m, why, n->output[0])
	    && need_rank_in(m, why, n->input[0], 3, 5)
	    && need_channels(m, why, n, 1) && need_channels(m, why, n, 2);
}

bool
accept_batch_norm(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->node[0]);
	struct fused f;

	return need_all_tensors(m, why) && need_steps(m, why, &f)
	    && need_inference(why, n)
	    && need_rank_in(m, why, n->input[0], 2, 5);
}

bool
accept_concat(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool ok = need_numbers(m, why), variable = true;

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
	const struct type *in = matched_type(m, n->input[0]);
	bool longer = false;

	if (!ok || !need_rank_in(m, why, n->input[0], 1, DIMS_MAX))
		return false;
	ok = axes_read(reduced, m->graph, n);
	for (uint32_t i = 0; ok && i < in->rank; i++)
		longer |= reduced[i] && in->dim[i] > 1;
	return NEED(why, ok, "axes", "known", "they are computed")
	    && NEED(why, longer, "reduces", "a dimension longer than 1",
	        "all that are reduced have one element");
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

/* Where the library's nearest neighbour, round((y + 1/2) / factor - 1/2), is
 * ONNX's, for whole factors up to `most` (0: any): there it never lies halfway.
 * Linear interpolation takes pixel centres. */
static const struct {
	const char *mode, *coordinates, *rounding;
	int64_t most;
} sampling[] = {
    {"nearest", "half_pixel", "round_prefer_floor", 0},
    {"nearest", "half_pixel", "round_prefer_ceil", 0},
    {"nearest", "asymmetric", "floor", 0},
    {"nearest", "asymmetric", "round_prefer_floor", 2},
    {"linear", "half_pixel", NULL, 0},
};

static bool
is_sampled_so(const struct node *n, int64_t factor)
{
	const bool old = n->op == OP_UPSAMPLE || n->opset < 11;
	struct string_view mode = attr_str_or(n, "mode", "nearest");
	struct string_view where =
	    attr_str_or(n, "coordinate_transformation_mode",
	        old ? "asymmetric" : "half_pixel");
	struct string_view rounding = attr_str_or(
	    n, "nearest_mode", old ? "floor" : "round_prefer_floor");

	for (size_t i = 0; i < sizeof sampling / sizeof *sampling; i++)
		if (view_is(mode, sampling[i].mode)
		    && view_is(where, sampling[i].coordinates)
		    && (sampling[i].rounding == NULL
		        || view_is(rounding, sampling[i].rounding))
		    && (sampling[i].most == 0 || factor <= sampling[i].most))
			return true;
	return false;
}

bool
accept_resize(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	const bool nearest = attr_is(n, "mode", "nearest", "nearest");
	const struct type *in, *out;
	bool ok = need_tensors(m, why, n, 1), whole = true;
	int64_t factor = 1;

	if (!ok || !need_rank_in(m, why, n->input[0], 3, 5))
		return false;
	in = matched_type(m, n->input[0]);
	out = matched_type(m, n->output[0]);
	for (uint32_t i = 0; i < in->rank; i++) {
		whole &= out->dim[i] % in->dim[i] == 0;
		if (out->dim[i] / in->dim[i] > factor)
			factor = out->dim[i] / in->dim[i];
	}
	ok = need_spatial_scales(m, why, n);
	ok = NEED(why, !nearest || whole, "nearest_factor", "a whole number",
	         "it is not")
	    && ok;
	return NEED(why, is_sampled_so(n, factor), "sampling",
	           "pixel centres, or whole steps rounded down",
	           "another mode, coordinate transformation or rounding")
	    && ok;
}

bool
accept_transpose(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);

	return need_all_tensors(m, why)
	    && need_rank_in(m, why, n->input[0], 2, DIMS_MAX);
}
