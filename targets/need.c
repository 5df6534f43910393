#include "targets/need.h"

#include "targets/axes.h"
#include "targets/dequantized.h"
#include "targets/narrow.h"

#define NEED why_need

const struct type *
matched_type(const struct match_in *m, value_id v)
{
	return &graph_value(m->graph, v)->type;
}

const struct node *
matched_root(const struct match_in *m)
{
	return graph_node(m->graph, m->match->root);
}

const char *
matched_name(const struct match_in *m, value_id v)
{
	return graph_value(m->graph, v)->name;
}

bool
makes_halves(const struct match_in *m)
{
	const struct type *t = matched_type(m, matched_root(m)->output[0]);

	return t->kind == TYPE_TENSOR && t->dtype == DT_FLOAT16;
}

/* Numbers of that type, of known shape. */
static bool
need_tensor_of(
    const struct match_in *m, struct why *w, value_id v, enum dtype dtype)
{
	const char *name = dtype == DT_FLOAT ? "float32" : "float16";
	const struct type *t = matched_type(m, v);
	bool fixed = type_is_static(t);
	bool ok = NEED(w, t->kind == TYPE_TENSOR && t->dtype == dtype, name,
	    name, "'%s' is %s", matched_name(m, v),
	    t->kind == TYPE_TENSOR ? dtype_name(t->dtype) : "no tensor");

	return NEED(w, fixed, "static_shape", "every dimension known",
	           "'%s' has a %s shape", matched_name(m, v),
	           fixed ? "static" : "dynamic")
	    && ok;
}

/* float32, as most kernels here take. */
bool
need_tensor(const struct match_in *m, struct why *w, value_id v)
{
	return need_tensor_of(m, w, v, DT_FLOAT);
}

bool
need_rank_in(const struct match_in *m, struct why *w, value_id v, uint32_t low,
    uint32_t high)
{
	const struct type *t = matched_type(m, v);

	return NEED(w, t->rank >= low && t->rank <= high, "rank",
	    low == 1       ? "1..12"
	        : low == 2 ? "2..12"
	                   : "3..5",
	    "'%s' has rank %d", matched_name(m, v), (int)t->rank);
}

/* Is the tensor nonempty, and small enough for the library's indices? */
bool
need_size(const struct match_in *m, struct why *w, value_id v)
{
	const struct type *t = matched_type(m, v);
	size_t n = 0, bytes = 0;
	bool ok = type_is_static(t)
	    && tensor_size(DT_FLOAT, t->dim, t->rank, &n, &bytes);

	return NEED(w, ok && n > 0 && n <= INT32_MAX, "elements", "1..2^31-1",
	    "'%s' has %zu elements", matched_name(m, v), n);
}

bool
need_byte_images(const struct match_in *m, struct why *w, const struct node *n)
{
	const struct type *t = matched_type(m, n->input[0]);

	return NEED(w, t->kind == TYPE_TENSOR && dtype_is_byte(t->dtype),
	           "type", "int8 or uint8", "another")
	    && need_first_output(m, w, n) && need_size(m, w, n->input[0])
	    && need_size(m, w, n->output[0])
	    && need_rank_in(m, w, n->input[0], 4, 4);
}

bool
need_first_output(const struct match_in *m, struct why *w, const struct node *n)
{
	bool ok = true;

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

/* The first `ninputs` inputs of a node and its first output. */
static bool
need_tensors_of(const struct match_in *m, struct why *w, const struct node *n,
    uint32_t ninputs, enum dtype dtype)
{
	bool ok = true;

	for (uint32_t i = 0; i < n->ninputs && i < ninputs; i++) {
		if (n->input[i] == VALUE_NONE)
			continue;
		ok = need_tensor_of(m, w, n->input[i], dtype) && ok;
		ok = ok && need_size(m, w, n->input[i]) && ok;
	}
	ok = need_tensor_of(m, w, n->output[0], dtype) && ok;
	ok = ok && need_size(m, w, n->output[0]) && ok;
	return need_first_output(m, w, n) && ok;
}

bool
need_tensors(const struct match_in *m, struct why *w, const struct node *n,
    uint32_t ninputs)
{
	return need_tensors_of(m, w, n, ninputs, DT_FLOAT);
}

bool
need_all_numbers(const struct match_in *m, struct why *w, bool halves)
{
	const enum dtype dtype =
	    halves && makes_halves(m) ? DT_FLOAT16 : DT_FLOAT;
	bool ok = true;

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		if (!is_dequantizing(m->graph, n))
			ok = need_tensors_of(m, w, n, UINT32_MAX, dtype) && ok;
	}
	return ok;
}

bool
need_all_tensors(const struct match_in *m, struct why *w)
{
	return need_all_numbers(m, w, false);
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

bool
same_shape(const struct type *t, const struct type *out)
{
	if (t->rank != out->rank)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] != out->dim[i])
			return false;
	return true;
}

bool
step_commutes(enum step_kind kind)
{
	return kind != STEP_SUB && kind != STEP_DIV;
}

/* The nodes form a chain of steps, each of which can be a post-operation. */
bool
need_chain(const struct match_in *m, struct why *w, struct fused *f)
{
	const char *fault;
	bool ok = fused_read(f, m->graph, m->match, &fault);
	const struct type *out;

	if (!NEED(w, ok, "chain", "an operator and steps behind it", "%s",
	        ok ? "it is one" : fault))
		return false;
	out = matched_type(m, f->end);
	ok = NEED(w,
	    f->anchor == NULL
	        || same_shape(matched_type(m, f->anchor->output[0]), out),
	    "steps_keep_shape", "no step enlarges the result",
	    "the result has rank %d", (int)out->rank);
	for (uint32_t i = 0; i < f->nsteps; i++) {
		const struct step *s = &f->step[i];

		if (!step_is_binary(s->kind))
			continue;
		ok = NEED(w, fits(matched_type(m, s->other), out),
		         "operand_fits", "broadcasts to the result",
		         "'%s' does not", matched_name(m, s->other))
		    && ok;
		if (f->anchor || i > 0)
			ok = NEED(w, step_commutes(s->kind) || !s->swapped,
			         "operand_order",
			         "the chain is the left operand",
			         "it is the right one")
			    && ok;
	}
	return ok;
}

/* Dequantised inside the match, from constants? */
static bool
match_makes_packable(const struct match_in *m, value_id v)
{
	const node_id n = graph_value(m->graph, v)->producer;

	return n != NODE_NONE && match_has(m->match, n)
	    && is_packable(m->graph, v);
}

bool
need_constant(const struct match_in *m, struct why *w, const struct node *n,
    uint32_t input, const char *what)
{
	return n->ninputs <= input || n->input[input] == VALUE_NONE
	    || NEED(w,
	        graph_value(m->graph, n->input[input])->constant != NULL
	            || match_makes_packable(m, n->input[input]),
	        what, "a constant", "'%s' is computed",
	        matched_name(m, n->input[input]));
}

bool
is_bias_row(const struct type *t, const struct type *out)
{
	return t->rank > 0 && t->dim[t->rank - 1] == out->dim[1]
	    && (t->rank == 1 || t->dim[0] == 1);
}

bool
need_bias_row(const struct match_in *m, struct why *w, const struct node *n)
{
	const struct type *t, *out = matched_type(m, n->output[0]);
	bool row;

	if (n->op != OP_GEMM || n->ninputs < 3 || n->input[2] == VALUE_NONE)
		return true;
	t = matched_type(m, n->input[2]);
	row = is_bias_row(t, out);
	return NEED(w, row, "bias_per_column", "one per column",
	    "'%s' has another shape", matched_name(m, n->input[2]));
}

enum operand_form
form_of(const struct type *t, const struct type *out)
{
	const uint32_t skip = out->rank - t->rank;
	bool ones = true;

	if (same_shape(t, out))
		return FORM_FULL;
	for (uint32_t i = 0; i < t->rank; i++)
		ones = ones && t->dim[i] == 1;
	if (ones)
		return FORM_SCALAR;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] != (skip + i == 1 ? out->dim[1] : 1))
			return FORM_OTHER;
	return FORM_CHANNEL;
}

bool
need_window(const struct match_in *m, struct why *w, const struct node *n,
    struct window *window)
{
	const char *fault;
	bool ok = window_resolve(window, m->graph, n, &fault);

	return NEED(w, ok, "window", "positive kernel, strides, dilations",
	    "%s", ok ? "it is" : fault);
}

bool
need_transposed(const struct match_in *m, struct why *w, const struct node *n,
    struct window *window)
{
	const char *fault;
	bool ok = window_transposed(window, m->graph, n, &fault);

	return NEED(w, ok, "window",
	    "positive kernel, strides, dilations; stated padding", "%s",
	    ok ? "it is" : fault);
}

/* Where scales are given they count, not the sizes that they were rounded to;
 * libraries know sizes only. */
static bool
has_exact_scales(const struct match_in *m, const struct node *n)
{
	const uint32_t slot = n->op == OP_UPSAMPLE || n->opset < 11 ? 1 : 2;
	const struct value *v =
	    slot < n->ninputs && n->input[slot] != VALUE_NONE
	    ? node_in(m->graph, n, slot)
	    : NULL;
	const struct type *in = matched_type(m, n->input[0]);
	const struct type *out = matched_type(m, n->output[0]);

	if (v == NULL || (v->constant && v->constant->count == 0))
		return node_attr(n, "scales") == NULL
		    && node_attr(n, "axes") == NULL;
	if (v->constant == NULL || v->constant->count != in->rank)
		return false;
	for (uint32_t i = 0; i < in->rank; i++)
		if (tensor_real(v->constant, i) * (double)in->dim[i]
		    != (double)out->dim[i])
			return false;
	return true;
}

bool
need_spatial_scales(
    const struct match_in *m, struct why *w, const struct node *n)
{
	const struct type *in = matched_type(m, n->input[0]);
	const struct type *out = matched_type(m, n->output[0]);
	const bool exact = has_exact_scales(m, n);
	bool ok =
	    NEED(w, in->dim[0] == out->dim[0] && in->dim[1] == out->dim[1],
	        "resized_dims", "spatial ones", "batch or channels");

	ok = NEED(w, exact, "scales", "known, and exact for these sizes",
	         "they are not")
	    && ok;
	ok = NEED(w,
	         attr_is(n, "keep_aspect_ratio_policy", "stretch", "stretch"),
	         "aspect", "not kept", "it is kept")
	    && ok;
	return NEED(w, attr_int_or(n, "antialias", 0) == 0, "antialias", "0",
	           "1")
	    && ok;
}

/* A mean over a training batch is another operator. */
bool
need_mean_of_images(
    const struct match_in *m, struct why *w, const struct node *n)
{
	return need_tensors(m, w, n, 1) && need_rank_in(m, w, n->input[0], 4, 4)
	    && need_rank_in(m, w, n->output[0], 4, 4)
	    && NEED(w, axes_are_images(m->graph, n), "axes",
	        "the last two of four", "others");
}

bool
need_inference(struct why *w, const struct node *n)
{
	int64_t training = attr_int_or(n, "training_mode", 0);
	int64_t spatial = attr_int_or(n, "spatial", 1);

	return NEED(w, training == 0 && spatial == 1, "inference",
	    "training_mode 0, spatial 1", "training_mode %d, spatial %d",
	    (int)training, (int)spatial);
}

bool
need_narrow(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	const struct type *x = matched_type(m, n->input[0]);
	const char *fault = narrow_fault(m->graph, n);
	const bool real = x->kind == TYPE_TENSOR
	    && (x->dtype == DT_FLOAT || x->dtype == DT_FLOAT16);
	bool ok = NEED(why, fault == NULL, "weights",
	    "constant halves, or blocks of 4 or 8 bits", "%s",
	    fault ? fault : "they are");

	ok = NEED(why, real, "type", "float32 or float16", "'%s' is %s",
	         matched_name(m, n->input[0]),
	         x->kind == TYPE_TENSOR ? dtype_name(x->dtype) : "no tensor")
	    && ok;
	ok = need_size(m, why, n->input[0]) && ok;
	ok = need_size(m, why, n->output[0]) && ok;
	return need_constant(m, why, n, 5, "bias") && ok;
}

bool
need_line_weights(const struct match_in *m, struct why *why,
    const struct node *n, uint32_t input, uint32_t axis)
{
	const struct graph *g = match_graph(m->match, m->graph);
	const struct type *x = &graph_value(g, n->input[0])->type;
	const struct value *v;
	bool ok;

	if (input >= n->ninputs || n->input[input] == VALUE_NONE)
		return true;
	v = graph_value(g, n->input[input]);
	ok = v->constant != NULL && v->type.rank <= x->rank;
	for (uint32_t i = 0; ok && i < x->rank; i++) {
		uint32_t skip = x->rank - v->type.rank;
		int64_t dim = i < skip ? 1 : v->type.dim[i - skip];

		ok = dim == (i < axis ? 1 : x->dim[i]);
	}
	return NEED(why, ok, "weights", "constants, one per normalised element",
	    "'%s' is not", v->name);
}
