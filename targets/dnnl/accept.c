#include "targets/dnnl/accept.h"

#include <string.h>

#include "targets/fused.h"
#include "targets/window.h"

#define NEED why_need
#define DIMS_MAX 12 /* SOURCE: dnnl_types.h, DNNL_MAX_NDIMS */

static const struct type *
type_of(const struct match_in *m, value_id v)
{
	return &graph_value(m->graph, v)->type;
}

static const struct node *
root_of(const struct match_in *m)
{
	return graph_node(m->graph, m->match->root);
}

static const char *
text(const struct match_in *m, value_id v)
{
	return graph_value(m->graph, v)->name;
}

/* float32 of known shape, as all kernels here take. */
static bool
need_tensor(const struct match_in *m, struct why *w, value_id v)
{
	const struct type *t = type_of(m, v);
	bool ok = NEED(w, t->kind == TYPE_TENSOR && t->dtype == DT_FLOAT,
	    "float32", "float32", "'%s' is %s", text(m, v),
	    t->kind == TYPE_TENSOR ? dtype_name(t->dtype) : "no tensor");

	return NEED(w, type_is_static(t), "static_shape",
	           "every dimension known", "'%s' has a dynamic shape",
	           text(m, v))
	    && ok;
}

static bool
need_rank(const struct match_in *m, struct why *w, value_id v, uint32_t low,
    uint32_t high)
{
	const struct type *t = type_of(m, v);

	return NEED(w, t->rank >= low && t->rank <= high, "rank",
	    low == 1       ? "1..12"
	        : low == 2 ? "2..12"
	                   : "3..5",
	    "'%s' has rank %d", text(m, v), (int)t->rank);
}

/* Is the tensor nonempty, and small enough for the library's indices? */
static bool
need_size(const struct match_in *m, struct why *w, value_id v)
{
	const struct type *t = type_of(m, v);
	size_t n = 0, bytes = 0;
	bool ok = type_is_static(t)
	    && tensor_size(DT_FLOAT, t->dim, t->rank, &n, &bytes);

	return NEED(w, ok && n > 0 && n <= INT32_MAX, "elements", "1..2^31-1",
	    "'%s' has %zu elements", text(m, v), n);
}

/* The first `ninputs` inputs of a node and its first output. */
static bool
need_tensors(const struct match_in *m, struct why *w, const struct node *n,
    uint32_t ninputs)
{
	bool ok = true;

	for (uint32_t i = 0; i < n->ninputs && i < ninputs; i++) {
		if (n->input[i] == VALUE_NONE)
			continue;
		ok = need_tensor(m, w, n->input[i]) && ok;
		ok = ok && need_size(m, w, n->input[i]) && ok;
	}
	ok = need_tensor(m, w, n->output[0]) && ok;
	ok = ok && need_size(m, w, n->output[0]) && ok;
	for (uint32_t i = 1; i < n->noutputs; i++)
		ok = NEED(w,
		         n->output[i] == VALUE_NONE
		             || (m->uses->start[n->output[i]]
		                     == m->uses->start[n->output[i] + 1]
		                 && !(graph_value(m->graph, n->output[i])->flags
		                     & VALUE_OUTPUT)),
		         "one_output", "only the first output is used",
		         "output %u is used", (unsigned)i)
		    && ok;
	return ok;
}

static bool
need_all_tensors(const struct match_in *m, struct why *w)
{
	bool ok = true;

	for (uint32_t i = 0; i < m->match->nnodes; i++)
		ok = need_tensors(m, w, graph_node(m->graph, m->match->node[i]),
		         UINT32_MAX)
		    && ok;
	return ok;
}

/* Does `t` broadcast to `out` without enlarging it? */
static bool
fits(const struct type *t, const struct type *out)
{
	uint32_t skip = out->rank - t->rank;

	if (t->rank > out->rank)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] != 1 && t->dim[i] != out->dim[skip + i])
			return false;
	return true;
}

static bool
same_shape(const struct type *t, const struct type *out)
{
	if (t->rank != out->rank)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] != out->dim[i])
			return false;
	return true;
}

static bool
is_commutative(enum step_kind kind)
{
	return kind != STEP_SUB && kind != STEP_DIV;
}

/* The nodes form a chain of steps, each of which can be a post-operation. */
static bool
need_chain(const struct match_in *m, struct why *w, struct fused *f)
{
	const char *fault;
	bool ok = fused_read(f, m->graph, m->match, &fault);
	const struct type *out;

	if (!NEED(w, ok, "chain", "an operator and steps behind it", "%s",
	        ok ? "it is one" : fault))
		return false;
	out = type_of(m, f->end);
	ok = NEED(w,
	    f->anchor == NULL
	        || same_shape(type_of(m, f->anchor->output[0]), out),
	    "steps_keep_shape", "no step enlarges the result",
	    "the result has rank %d", (int)out->rank);
	for (uint32_t i = 0; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];

		if (!step_is_binary(s->kind))
			continue;
		ok = NEED(w, fits(type_of(m, s->other), out), "operand_fits",
		         "broadcasts to the result", "'%s' does not",
		         text(m, s->other))
		    && ok;
		if (f->anchor || i > 0)
			ok = NEED(w, is_commutative(s->kind) || !s->swapped,
			         "operand_order",
			         "the chain is the left operand",
			         "it is the right one")
			    && ok;
	}
	return ok;
}

static bool
need_constant(const struct match_in *m, struct why *w, const struct node *n,
    uint32_t input, const char *what)
{
	return n->ninputs <= input || n->input[input] == VALUE_NONE
	    || NEED(w, graph_value(m->graph, n->input[input])->constant != NULL,
	        what, "a constant", "'%s' is computed",
	        text(m, n->input[input]));
}

static bool
need_window(const struct match_in *m, struct why *w, const struct node *n,
    struct window *window)
{
	const char *fault;
	bool ok = window_resolve(window, m->graph, n, &fault);

	return NEED(w, ok, "window", "positive kernel, strides, dilations",
	    "%s", ok ? "it is" : fault);
}

/* A mean over a training batch is another operator. */
static bool
need_inference(struct why *w, const struct node *n)
{
	int64_t training = attr_int_or(n, "training_mode", 0);
	int64_t spatial = attr_int_or(n, "spatial", 1);

	return NEED(w, training == 0 && spatial == 1, "inference",
	    "training_mode 0, spatial 1", "training_mode %d, spatial %d",
	    (int)training, (int)spatial);
}

bool
accept_conv(const struct match_in *m, struct why *why)
{
	struct fused f;
	struct window w;
	bool ok = need_all_tensors(m, why);

	if (!ok || !need_chain(m, why, &f) || !f.anchor)
		return false;
	ok = need_rank(m, why, f.anchor->input[0], 3, 5);
	ok = ok && need_window(m, why, f.anchor, &w);
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
	ok = need_rank(m, why, n->input[0], 2, DIMS_MAX);
	ok = need_rank(m, why, n->input[1], 2, DIMS_MAX) && ok;
	ok = NEED(why, graph_value(m->graph, n->input[0])->constant == NULL,
	         "left_operand", "not a constant", "'%s' is constant",
	         text(m, n->input[0]))
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
	const struct node *n = root_of(m);
	bool local = n->op == OP_MAXPOOL || n->op == OP_AVERAGEPOOL;
	bool ok =
	    need_all_tensors(m, why) && need_rank(m, why, n->input[0], 3, 5);
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
	const struct type *out = type_of(m, f->end);
	value_id left = s->swapped ? s->other : f->start;
	value_id right = s->swapped ? f->start : s->other;
	bool full = same_shape(type_of(m, left), out)
	    && graph_value(m->graph, left)->constant == NULL;

	if (is_commutative(s->kind))
		full = full
		    || (same_shape(type_of(m, right), out)
		        && graph_value(m->graph, right)->constant == NULL);
	return NEED(why, full, "full_operand",
	    "a computed operand of the result's shape", "'%s' and '%s' are not",
	    text(m, left), text(m, right));
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
	return ok && need_rank(m, why, f.end, 1, DIMS_MAX)
	    && need_full_operand(m, why, &f);
}

bool
accept_softmax(const struct match_in *m, struct why *why)
{
	return need_all_tensors(m, why)
	    && need_rank(m, why, root_of(m)->input[0], 1, DIMS_MAX);
}

/* Normalised dimensions: the last ones, all of them weighted. */
bool
accept_layer_norm(const struct match_in *m, struct why *why)
{
	const struct node *n = root_of(m);
	const struct type *t;
	int64_t axis, count = 1;
	bool ok = need_all_tensors(m, why);

	if (!ok)
		return false;
	t = type_of(m, n->input[0]);
	axis = attr_int_or(n, "axis", -1);
	axis += axis < 0 ? t->rank : 0;
	ok =
	    NEED(why, axis >= 1, "axis", "not the first", "axis %d", (int)axis);
	for (uint32_t i = ok ? (uint32_t)axis : t->rank; i < t->rank; i++)
		count *= t->dim[i];
	for (uint32_t i = 1; i < n->ninputs && i < 3; i++) {
		if (n->input[i] == VALUE_NONE)
			continue;
		ok = need_constant(m, why, n, i, "weights") && ok;
		ok = ok
		    && NEED(why,
		        graph_value(m->graph, n->input[i])->constant->count
		            == (size_t)count,
		        "weights", "one per normalised element", "'%s' has %zu",
		        text(m, n->input[i]),
		        graph_value(m->graph, n->input[i])->constant->count);
	}
	return ok;
}

bool
accept_batch_norm(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->node[0]);

	return need_all_tensors(m, why) && need_inference(why, n)
	    && need_rank(m, why, n->input[0], 2, 5);
}

bool
accept_concat(const struct match_in *m, struct why *why)
{
	const struct node *n = root_of(m);
	bool ok = need_all_tensors(m, why), variable = true;

	for (uint32_t i = 0; i < n->ninputs; i++)
		variable &=
		    graph_value(m->graph, n->input[i])->constant == NULL;
	ok = NEED(why, variable, "variable_inputs", "no constants",
	         "a part is constant")
	    && ok;
	return ok && need_rank(m, why, n->output[0], 1, DIMS_MAX);
}

bool
accept_lrn(const struct match_in *m, struct why *why)
{
	const struct node *n = root_of(m);
	int64_t size = attr_int_or(n, "size", 1);

	return need_all_tensors(m, why) && need_rank(m, why, n->input[0], 3, 5)
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
	const struct node *n = root_of(m);
	struct string_view mode = attr_str_or(n, "mode", "nearest");
	struct string_view where =
	    attr_str_or(n, "coordinate_transformation_mode",
	        n->op == OP_UPSAMPLE || n->opset < 11 ? "asymmetric"
	                                              : "half_pixel");
	bool nearest = is_text(mode, "nearest"),
	     linear = is_text(mode, "linear");
	const struct type *in, *out;
	bool ok = need_tensors(m, why, n, 1), whole = true;

	if (!ok || !need_rank(m, why, n->input[0], 3, 5))
		return false;
	in = type_of(m, n->input[0]);
	out = type_of(m, n->output[0]);
	for (uint32_t i = 0; i < in->rank; i++)
		whole &= out->dim[i] % in->dim[i] == 0;
	ok = NEED(why, nearest || linear, "mode", "nearest or linear", "%.*s",
	    (int)mode.n, mode.s);
	ok = NEED(why, in->dim[0] == out->dim[0] && in->dim[1] == out->dim[1],
	         "resized_dims", "spatial ones", "batch or channels")
	    && ok;
	ok = NEED(why, !nearest || whole, "nearest_factor", "a whole number",
	         "it is not")
	    && ok;
	ok = NEED(why,
	         !nearest || is_text(where, "asymmetric")
	             || is_text(where, "half_pixel"),
	         "coordinates", "asymmetric or half_pixel", "%.*s",
	         (int)where.n, where.s)
	    && ok;
	ok = NEED(why, !linear || is_text(where, "half_pixel"), "coordinates",
	         "half_pixel for linear", "%.*s", (int)where.n, where.s)
	    && ok;
	return NEED(why, attr_int_or(n, "antialias", 0) == 0, "antialias", "0",
	           "1")
	    && ok;
}

bool
accept_transpose(const struct match_in *m, struct why *why)
{
	const struct node *n = root_of(m);

	return need_all_tensors(m, why)
	    && need_rank(m, why, n->input[0], 2, DIMS_MAX);
}
