#include "targets/mrvl/rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "targets/dequantized.h"
#include "targets/mrvl/int8.h"
#include "targets/mrvl/legacy.h"
#include "targets/mrvl/options.h"
#include "targets/mrvl/window.h"
#include "targets/quant.h"

/* Upstream walks from the match's root down to the operator that matters and
 * asks it; here that operator is captured by name. compat=legacy-v0.19 drops
 * conditions that upstream lacks; each has `lacks` in its comment.
 * SOURCE: mrvl.py of apache/tvm legacy-v0.19.post. */

#define BATCH_MAX 8

/* ---- conditions ---- */

static bool
is_legacy(const struct match_in *m)
{
	return mrvl_of(m->target)->legacy;
}

static const struct node *
captured(const struct match_in *m, const char *name)
{
	node_id id = match_node(m->match, name);

	return id == NODE_NONE ? NULL : graph_node(m->graph, id);
}

static const struct type *
type_of(const struct match_in *m, value_id v)
{
	return &graph_value(m->graph, v)->type;
}

/* What the model itself has in 8 bits is data of a target of 8 bits, too. */
static bool
is_data(const struct match_in *m, enum dtype t)
{
	return t == DT_FLOAT || (m->target->quantises && dtype_is_byte(t));
}

static bool
need_tensor(const struct match_in *m, value_id v, uint32_t rank,
    const char *rank_name, const char *rank_words, struct why *why)
{
	const struct type *t = type_of(m, v);
	bool ok = t->kind == TYPE_TENSOR;

	ok &= why_need(why, ok && t->rank == rank, rank_name, rank_words,
	    "rank = %" PRIi32, t->rank == RANK_UNKNOWN ? -1 : (int)t->rank);
	ok &= why_need(why, is_data(m, t->dtype), "float32", "float32", "%s",
	    dtype_name(t->dtype));
	return why_need(why, type_is_static(t), "static_shape",
	           "all dimensions known", "'%s'",
	           graph_value(m->graph, v)->name)
	    && ok;
}

/* Data of rank 4: float32, static. */
static bool
need_image(const struct match_in *m, value_id v, struct why *why)
{
	return need_tensor(m, v, 4, "data_rank_4", "4", why);
}

static int64_t
batch_of(const struct match_in *m, value_id v)
{
	const struct type *t = type_of(m, v);

	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN || t->rank < 1)
		return -1;
	return t->dim[0];
}

static bool
need_batch(const struct match_in *m, value_id v, int64_t most, struct why *why)
{
	int64_t n = batch_of(m, v);

	return why_need(why, n >= 1 && n <= most,
	    most == 1 ? "batch_1" : "batch_at_most_8", most == 1 ? "1" : "1..8",
	    "batch = %" PRIi64, n);
}

/* The data under an optional Pad. */
static value_id
data_of(const struct match_in *m, const struct node *anchor)
{
	const struct node *pad = captured(m, "pad");

	return pad ? pad->input[0] : anchor->input[0];
}

/* A fused Pad must mean what the layer's own padding means. Upstream lacks all
 * but the mode: a value is dropped, N and C pads too, conv pads overwritten. */
static bool
need_pad(const struct match_in *m, const struct mrvl_window *w, double value,
    const char *value_words, struct why *why)
{
	const struct node *pad = captured(m, "pad");
	struct padding p;
	bool ok, image;

	if (!pad)
		return true;
	ok = padding_of(&p, m->graph, pad);
	why_need(why, ok && p.rank == 4, "pad_is_static",
	    "constant pads of a rank-4 tensor", "%s",
	    ok ? "other rank" : "not constant");
	if (!ok || p.rank != 4) /* whatever is assumed */
		return false;
	ok = why_need(why, strcmp(p.mode, "constant") == 0, "pad_mode_constant",
	    "constant", "%s", p.mode);
	image = p.before[0] == 0 && p.after[0] == 0 && p.before[1] == 0
	    && p.after[1] == 0;
	for (int i = 2; i < 4; i++)
		ok &= why_need(why, p.before[i] >= 0 && p.after[i] >= 0,
		    "pad_not_negative", ">= 0", "%" PRIi64 ", %" PRIi64,
		    p.before[i], p.after[i]);
	if (is_legacy(m))
		return ok;
	ok &= why_need(why, image, "pad_height_width_only",
	    "no padding of N and C", "N %" PRIi64 " C %" PRIi64,
	    p.before[0] + p.after[0], p.before[1] + p.after[1]);
	ok &= why_need(why, p.value == value, "pad_value", value_words,
	    "pad value = %g", p.value);
	return why_need(why,
	           w->pad[0] == 0 && w->pad[1] == 0 && w->pad[2] == 0
	               && w->pad[3] == 0,
	           "one_padding", "Pad or padding attribute, not both",
	           "pads = %" PRIi64 ",%" PRIi64 ",%" PRIi64 ",%" PRIi64,
	           w->pad[0], w->pad[1], w->pad[2], w->pad[3])
	    && ok;
}

/* A constant added behind conv or FC is a bias: one value per output channel
 * (or one for all). Upstream lacks this: it takes any constant. */
static bool
need_bias(const struct match_in *m, uint32_t channel_axis, struct why *why)
{
	value_id v = match_value(m->match, "bias");
	const struct node *add = captured(m, "add");
	const struct type *t, *out;
	bool ok = true, raises = false;

	if (!add)
		return true;
	t = type_of(m, v);
	out = &node_out(m->graph, add, 0)->type;
	for (uint32_t i = 0; i < 2; i++)
		if (add->input[i] != v)
			raises = type_of(m, add->input[i])->rank != out->rank;
	ok = t->kind == TYPE_TENSOR && !raises && out->rank >= 2;
	for (uint32_t i = 0; ok && i < t->rank; i++) {
		uint32_t axis = out->rank - t->rank + i;

		ok = t->dim[i] == 1
		    || (axis == channel_axis && t->dim[i] == out->dim[axis]);
	}
	ok = why_need(why, ok || is_legacy(m), "bias_per_channel",
	    "one value per output channel", "'%s'",
	    graph_value(m->graph, v)->name);
	return why_need(why, t->dtype == DT_FLOAT, "bias_float32", "float32",
	           "%s", dtype_name(t->dtype))
	    && ok;
}

static bool
need_inference_norm(const struct match_in *m, struct why *why)
{
	const struct node *n = captured(m, "bn");
	bool ok;

	if (!n)
		return true;
	ok = why_need(why, attr_int_or(n, "training_mode", 0) == 0,
	    "batch_norm_inference", "training_mode 0", "training_mode 1");
	for (uint32_t i = 1; i < 5; i++) {
		const struct type *t = &node_in(m->graph, n, i)->type;

		ok &= why_need(why, t->dtype == DT_FLOAT && t->rank == 1,
		    "batch_norm_vectors", "float32 vectors", "input %u: %s", i,
		    dtype_name(t->dtype));
	}
	return ok;
}

/* A value that crosses the composite's boundary has a meaning in 8 bits. */
static bool
need_scale(const struct match_in *m, value_id v, struct why *why)
{
	const struct value *value;

	if (v == VALUE_NONE)
		return true;
	value = graph_value(m->graph, v);
	if (value->constant
	    || (value->producer != NODE_NONE
	        && match_has(m->match, value->producer)
	        && value->producer != m->match->root))
		return true;
	return why_need(why, format_quant(m->target->formats, v) != NULL,
	    "has_8_bit_scale", "a scale, of --calibrate or the model's own",
	    "'%s' has none", value->name);
}

static bool
need_scales(const struct match_in *m, struct why *why)
{
	const struct node *root = graph_node(m->graph, m->match->root);
	bool ok = need_scale(m, root->output[0], why);

	for (uint32_t i = 0; i < m->match->nnodes; i++) {
		const struct node *n = graph_node(m->graph, m->match->node[i]);

		for (uint32_t k = 0; k < n->ninputs; k++)
			ok &= need_scale(m, n->input[k], why);
	}
	return ok;
}

/* compat=legacy-v0.19: only what upstream's passes put into a region.
 * quantize=int8: only what has scales. */
static bool
need_target(const struct match_in *m, struct why *why)
{
	const struct legacy_sets *s = (const struct legacy_sets *)m->prepared;

	if (m->target->quantises)
		return need_scales(m, why);
	return !s
	    || why_need(why,
	        legacy_region(s, m->match->node, m->match->nnodes) > 0,
	        "upstream_takes_it", "a composite of a region upstream keeps",
	        "another set of nodes, or a region given back");
}

/* Weights the model has in 8 bits keep them: on a target of 8 bits only, and
 * symmetric ones. `first` is the first input of scale and zero point. */
static bool
need_own_weights(const struct match_in *m, const struct node *q, uint32_t first,
    uint32_t axis, struct why *why)
{
	const struct value *w = node_in(m->graph, q, first - 1);
	const struct value *scale = node_in(m->graph, q, first);
	const struct value *zero = node_in(m->graph, q, first + 1);
	bool ok = true, symmetric = true;

	for (size_t i = 0; zero && zero->constant && i < zero->constant->count;
	     i++)
		symmetric &= tensor_real(zero->constant, i) == 0;
	ok = why_need(why, m->target->quantises, "weights_are_floats",
	    "float32 weights, or quantize=int8", "weights of 8 bits");
	ok &= why_need(why, w->type.dtype == DT_INT8 && symmetric,
	    "weights_symmetric", "int8 with zero points 0", "%s%s",
	    dtype_name(w->type.dtype), symmetric ? "" : ", zero points not 0");
	return why_need(why,
	           scale->constant
	               && (scale->constant->count == 1
	                   || (int64_t)scale->constant->count
	                       == w->type.dim[axis]),
	           "weights_per_channel", "a scale, or one a channel",
	           "another number")
	    && ok;
}

/* Weights as floats, or the integers they are made from; few enough of them a
 * channel for sums of 32 bits. */
static bool
need_weights(const struct match_in *m, const struct node *n, uint32_t axis,
    struct why *why)
{
	const struct value *w = node_in(m->graph, n, 1);
	const struct type *t = &w->type;
	const struct node *q;
	int64_t terms = 1;

	for (uint32_t i = 0; i < t->rank; i++)
		terms *= i == axis ? 1 : t->dim[i];
	if (m->target->quantises
	    && !why_need(why, terms <= INT8_TERMS, "sums_fit_32_bits",
	        "at most 66311 products", "%" PRIi64, terms))
		return false;
	if (w->constant)
		return true;
	q = graph_node(m->graph, w->producer);
	if (!is_dequantizing(m->graph, q)) { /* whatever is assumed */
		why_need(why, false, "weights_constant",
		    "integers, scales and zero points constant", "others");
		return false;
	}
	return need_own_weights(m, q, 1, axis, why)
	    && why_need(why,
	        node_in(m->graph, q, 1)->constant->count == 1
	            || attr_int_or(q, "axis", 1) == (int64_t)axis,
	        "weights_scaled_by_channel", "axis of the output channels",
	        "axis = %" PRIi64, attr_int_or(q, "axis", 1));
}

/* ---- rules ---- */

static bool
need_groups(const struct match_in *m, const struct node *n,
    const struct type *x, const struct type *w, struct why *why)
{
	int64_t groups = attr_int_or(n, "group", 1), in = -1, out = -1;

	if (x->rank == 4)
		in = x->dim[1];
	if (w->rank == 4)
		out = w->dim[0];
	(void)m;
	return why_need(why, groups == 1 || (in == groups && out == groups),
	    "groups_1_or_depthwise",
	    "1, or as many as input and output channels",
	    "group = %" PRIi64 ", %" PRIi64 " -> %" PRIi64 " channels", groups,
	    in, out);
}

static bool
need_window(const struct match_in *m, const struct node *n,
    struct mrvl_window *w, struct why *why)
{
	const struct type *t = type_of(m, n->input[0]);

	return why_need(why,
	    t->rank == 4 && type_is_static(t)
	        && window_of(w, m->graph, n, t->dim),
	    "window_2d", "two strides, dilations, kernel sizes",
	    "another number");
}

static bool
conv_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = captured(m, "conv");
	value_id x = data_of(m, n);
	const struct type *weight = type_of(m, n->input[1]);
	struct mrvl_window w = {.same = false};
	bool ok = need_target(m, why);

	ok &= need_image(m, x, why);
	ok &= need_batch(m, x, BATCH_MAX, why);
	ok &= need_tensor(m, n->input[1], 4, "kernel_rank_4", "4", why);
	ok &= need_groups(m, n, type_of(m, x), weight, why);
	if (!ok || !need_window(m, n, &w, why))
		return false;
	ok &= need_pad(m, &w, 0, "0", why);
	ok &= need_bias(m, 1, why);
	ok &= need_weights(m, n, 0, why);
	return need_inference_norm(m, why) && ok;
}

/* QLinearConv: scales and zero points are its inputs 1, 2, 4, 5, 6, 7. */
static bool
qconv_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = captured(m, "conv");
	struct mrvl_window w = {.same = false};
	bool ok = why_need(why, m->target->quantises, "quantises",
	    "quantize=int8", "quantize=fp16");

	for (uint32_t i = 1; ok && i < n->ninputs; i++)
		ok = why_need(why,
		    n->input[i] == VALUE_NONE
		        || graph_value(m->graph, n->input[i])->constant,
		    "weights_constant", "all inputs but the data constant",
		    "input %u is computed", i);
	if (!ok || !need_target(m, why))
		return false;
	ok &= need_image(m, n->input[0], why);
	ok &= need_batch(m, n->input[0], BATCH_MAX, why);
	ok &= why_need(why, type_of(m, n->input[3])->rank == 4, "kernel_rank_4",
	    "4", "another rank");
	ok &= need_groups(
	    m, n, type_of(m, n->input[0]), type_of(m, n->input[3]), why);
	ok &= ok && need_own_weights(m, n, 4, 0, why);
	return ok && need_window(m, n, &w, why);
}

/* Crossing between bytes and floats costs nothing where both are held in the
 * same bytes. */
static bool
crossing_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	const struct formats *f = m->target->formats;
	const struct type *t = type_of(m, n->input[0]);
	const struct quant *in, *out;
	bool ok = why_need(why, m->target->quantises, "quantises",
	    "quantize=int8", "quantize=fp16");

	if (!ok || !need_target(m, why))
		return false;
	ok &= why_need(why, t->kind == TYPE_TENSOR && type_is_static(t),
	    "static_shape", "all dimensions known", "unknown dimensions");
	ok &= why_need(why, t->rank == 2 || t->rank == 4, "input_rank_2_or_4",
	    "2 or 4", "rank = %d", (int)t->rank);
	in = format_quant(f, n->input[0]);
	out = format_quant(f, n->output[0]);
	return why_need(why, in && out && quant_equal(in, out), "same_scale",
	           "one scale on both sides", "two scales")
	    && ok;
}

static bool
need_gemm(const struct match_in *m, const struct node *n, struct why *why)
{
	int64_t trans = attr_int_or(n, "transA", 0);

	if (n->op != OP_GEMM)
		return true;
	(void)m;
	return why_need(why, trans == 0, "gemm_not_transposed", "transA = 0",
	    "transA = %" PRIi64, trans);
}

/* Gemm's C: a bias must not depend on the row. */
static bool
need_gemm_bias(const struct match_in *m, const struct node *n, struct why *why)
{
	const struct value *c =
	    n->op == OP_GEMM ? node_in(m->graph, n, 2) : NULL;
	const struct type *t;

	if (!c)
		return true;
	t = &c->type;
	return why_need(why,
	    t->dtype == DT_FLOAT
	        && (t->rank < 2 || (t->rank == 2 && t->dim[0] == 1)),
	    "bias_per_channel", "one value per output", "'%s'", c->name);
}

static bool
need_flatten(const struct match_in *m, struct why *why)
{
	const struct node *flat = captured(m, "flat");
	const struct type *in, *out;
	bool ok;

	if (!flat)
		return true;
	in = &node_in(m->graph, flat, 0)->type;
	out = &node_out(m->graph, flat, 0)->type;
	ok = need_image(m, flat->input[0], why);
	return ok && in->rank == 4
	    && why_need(why, out->rank == 2 && out->dim[0] == in->dim[0],
	        "flatten_keeps_batch", "[N,C,H,W] to [N,C*H*W]",
	        "[%" PRIi64 ",...] to rank %u", in->dim[0],
	        (unsigned)out->rank);
}

static bool
fc_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = captured(m, "fc");
	value_id x = n->input[0];
	bool ok = need_target(m, why);

	ok &= need_tensor(m, x, 2, "data_rank_2", "2", why);
	/* upstream lacks both: a larger batch fails in its compiler */
	if (!is_legacy(m))
		ok &= need_batch(m, x, BATCH_MAX, why);
	ok &= need_tensor(m, n->input[1], 2, "kernel_rank_2", "2", why);
	ok &= need_gemm(m, n, why);
	ok &= need_gemm_bias(m, n, why);
	ok &= need_flatten(m, why);
	ok &= ok
	    && need_weights(m, n,
	        n->op == OP_MATMUL || attr_int_or(n, "transB", 0) == 0, why);
	return need_bias(m, 1, why) && ok;
}

static bool
maxpool_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = captured(m, "pool");
	value_id x = data_of(m, n);
	struct mrvl_window w = {.same = false};
	bool ok = need_target(m, why);

	ok &= need_image(m, x, why);
	ok &= need_batch(m, x, BATCH_MAX, why);
	ok &= why_need(why, n->noutputs < 2 || n->output[1] == VALUE_NONE,
	    "one_output", "no Indices output", "%u outputs", n->noutputs);
	if (!ok || !need_window(m, n, &w, why))
		return false;
	/* what a maximum ignores */
	return need_pad(m, &w, (double)-INFINITY, "-inf", why) && ok;
}

static bool
avgpool_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = captured(m, "pool");
	value_id x = data_of(m, n);
	struct mrvl_window w = {.same = false};
	bool ok = need_target(m, why);

	ok &= need_image(m, x, why);
	ok &= need_batch(m, x, 1, why);
	if (!ok || !need_window(m, n, &w, why))
		return false;
	return need_pad(m, &w, 0, "0", why) && ok;
}

static bool
global_ok(const struct match_in *m, int64_t most, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	bool ok = need_target(m, why);

	ok &= need_image(m, n->input[0], why);
	/* upstream has no limit for GlobalMaxPool; its compiler has */
	return need_batch(m, n->input[0], most, why) && ok;
}

static bool
globalavg_ok(const struct match_in *m, struct why *why)
{
	return global_ok(m, 1, why);
}

static bool
globalmax_ok(const struct match_in *m, struct why *why)
{
	return global_ok(m, BATCH_MAX, why);
}

/* Upstream also takes rank 3, broadcasts and constants; its code generator then
 * writes a wrong shape or aborts. With compat, what it takes of rank 4 is taken:
 * regions are upstream's, and code generation says what it cannot write. */
static bool
sum_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = captured(m, "sum");
	const struct type *x, *y;
	bool ok, same, first;

	ok = need_target(m, why);
	ok &= why_need(why, n->ninputs == 2, "two_operands", "2", "%u operands",
	    n->ninputs);
	if (!ok || n->ninputs < 2)
		return false;
	first = !graph_value(m->graph, n->input[0])->constant;
	ok &= need_image(m, n->input[!first], why);
	ok &= need_batch(m, n->input[!first], BATCH_MAX, why);
	if (m->prepared)
		return ok;
	x = type_of(m, n->input[0]);
	y = type_of(m, n->input[1]);
	ok &= why_need(why,
	    first && !graph_value(m->graph, n->input[1])->constant,
	    "operands_not_constant", "both computed", "a constant operand");
	same = x->rank == y->rank && x->dtype == y->dtype && type_is_static(y);
	for (uint32_t i = 0; same && i < x->rank; i++)
		same = x->dim[i] == y->dim[i];
	return why_need(why, same, "operands_same_shape", "no broadcasting",
	           "'%s' and '%s' differ",
	           graph_value(m->graph, n->input[0])->name,
	           graph_value(m->graph, n->input[1])->name)
	    && ok;
}

static bool
concat_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	int64_t axis = attr_int_or(n, "axis", 1);
	bool ok;

	ok = need_target(m, why);
	ok &= why_need(why, n->ninputs >= 2, "at_least_2_operands", ">= 2",
	    "%u operands", n->ninputs);
	ok &= why_need(why, axis == 1 || axis == -3, "concat_axis_channels",
	    "channels (1)", "axis = %" PRIi64, axis);
	for (uint32_t i = 0; i < n->ninputs; i++) {
		ok &= need_image(m, n->input[i], why);
		ok &= need_batch(m, n->input[i], 1, why);
		ok &=
		    why_need(why, !graph_value(m->graph, n->input[i])->constant,
		        "operands_not_constant", "all computed",
		        "operand %u is constant", i);
	}
	return ok;
}

/* The transposed tensor is NHWC bytes under another shape; only what does not
 * look at the shape can go on with it on the accelerator. */
static bool
feeds_flatten(const struct match_in *m, value_id v)
{
	for (uint32_t k = m->uses->start[v]; k < m->uses->start[v + 1]; k++) {
		const struct node *n = graph_node(m->graph, m->uses->user[k]);

		if ((n->op != OP_FLATTEN && n->op != OP_RESHAPE)
		    || type_of(m, n->output[0])->rank != 2)
			return false;
	}
	return true;
}

static bool
layout_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	static const int64_t to_nhwc[] = {0, 2, 3, 1};
	uint32_t count;
	const int64_t *perm = attr_ints(n, "perm", &count);
	bool ok = need_target(m, why);

	ok &= need_image(m, n->input[0], why);
	ok &= need_batch(m, n->input[0], BATCH_MAX, why);
	ok &= why_need(why, feeds_flatten(m, n->output[0]), "feeds_flatten",
	    "read by Flatten or Reshape to rank 2 only", "'%s'",
	    graph_value(m->graph, n->output[0])->name);
	return why_need(why,
	           perm && count == 4
	               && memcmp(perm, to_nhwc, sizeof to_nhwc) == 0,
	           "nchw_to_nhwc", "perm 0,2,3,1", "another permutation")
	    && ok;
}

bool
mrvl_keeps_nhwc(const struct graph *g, const struct node *n)
{
	const struct value *ends[] = {node_in(g, n, 0), node_out(g, n, 0)};

	for (int i = 0; i < 2; i++) {
		const struct type *t = &ends[i]->type;

		if (t->rank == 4 && t->dim[1] != 1
		    && t->dim[2] * t->dim[3] != 1)
			return false;
	}
	return true;
}

/* Bytes inside a region are NHWC. One whose order of bytes matters may read
 * what comes in from outside, or what a transpose made of them. */
static bool
reads_plain(const struct match_in *m, value_id v)
{
	node_id id = graph_value(m->graph, v)->producer;

	return id == NODE_NONE || graph_node(m->graph, id)->op == OP_TRANSPOSE;
}

/* Shape-only operators. Upstream asks about the output's rank only, and its
 * code generator aborts on the rest. */
static bool
shape_ok(const struct match_in *m, bool four_out, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	const struct type *in = type_of(m, n->input[0]);
	const struct type *out = type_of(m, n->output[0]);
	bool ok;

	ok = need_target(m, why);
	ok &= why_need(why, in->kind == TYPE_TENSOR && is_data(m, in->dtype),
	    "float32", "float32", "%s", dtype_name(in->dtype));
	ok &= why_need(why, !graph_value(m->graph, n->input[0])->constant,
	    "operands_not_constant", "computed", "a constant");
	ok &= why_need(why, type_is_static(in) && type_is_static(out),
	    "static_shape", "all dimensions known", "unknown dimensions");
	ok &= why_need(why, in->rank == 2 || in->rank == 4, "input_rank_2_or_4",
	    "2 or 4", "rank = %d", (int)in->rank);
	ok &= why_need(why, out->rank == 2 || (four_out && out->rank == 4),
	    four_out ? "output_rank_2_or_4" : "output_rank_2",
	    four_out ? "2 or 4" : "2", "rank = %d", (int)out->rank);
	ok &= need_batch(m, n->input[0], BATCH_MAX, why);
	return ok
	    && why_need(why,
	        mrvl_keeps_nhwc(m->graph, n)
	            || (out->rank == 2 && reads_plain(m, n->input[0])),
	        "channels_last_order",
	        "C or H*W is 1, or a transpose to NHWC before it",
	        "rank %u of several channels and pixels", in->rank);
}

static bool
reshape_ok(const struct match_in *m, struct why *why)
{
	return shape_ok(m, true, why);
}

static bool
flatten_ok(const struct match_in *m, struct why *why)
{
	const struct node *n = graph_node(m->graph, m->match->root);
	int64_t axis = attr_int_or(n, "axis", 1);
	bool ok = why_need(
	    why, axis == 1, "flatten_axis_1", "1", "axis = %" PRIi64, axis);

	return shape_ok(m, false, why) && ok;
}

static bool
squeeze_ok(const struct match_in *m, struct why *why)
{
	return shape_ok(m, false, why);
}

/* ---- the table ---- */

#define DATA MAYBE_PAD
#define MAYBE_PAD EITHER(AS("pad", NODE(PAD, VARIABLE, REST)), VARIABLE)
#define OPTIONAL_CONSTANT EITHER(ABSENT, CONSTANT)
/* floats, or the integers a model keeps for them */
#define WEIGHTS EITHER(CONSTANT, NODE(DEQUANTIZELINEAR, CONSTANT, REST))
#define OPTIONAL_WEIGHTS EITHER(ABSENT, WEIGHTS)
/* p, or a constant added to it */
#define MAYBE_BIAS(p) EITHER(AS("add", NODE(ADD, p, AS("bias", CONSTANT))), p)
#define CONV_NODE AS("conv", NODE(CONV, DATA, WEIGHTS, OPTIONAL_WEIGHTS))
#define NORM(p) \
	AS("bn", \
	    NODE(BATCHNORMALIZATION, p, CONSTANT, CONSTANT, CONSTANT, \
	        CONSTANT))
#define MAYBE_NORM(p) EITHER(NORM(p), p)
#define FLATTENED \
	EITHER(AS("flat", NODE(FLATTEN, VARIABLE)), \
	    AS("flat", NODE(RESHAPE, VARIABLE, REST)), VARIABLE)
#define FC_NODE \
	EITHER(AS("fc", NODE(GEMM, FLATTENED, WEIGHTS, OPTIONAL_WEIGHTS)), \
	    AS("fc", NODE(MATMUL, FLATTENED, WEIGHTS)))

const struct rule mrvl_rules[NRULES] =
    {
        [RULE_CONV] =
            {
                .name = "mrvl.conv2d_nhwc2nhwc",
                .pattern = MAYBE(RELU, MAYBE_NORM(MAYBE_BIAS(CONV_NODE))),
                .accepts = conv_ok,
            },
        [RULE_FC] =
            {
                .name = "mrvl.fc_ni2no",
                .pattern = MAYBE(RELU, MAYBE_BIAS(FC_NODE)),
                .accepts = fc_ok,
            },
        [RULE_MAXPOOL] =
            {
                .name = "mrvl.maxpool2d_nhwc2nhwc",
                .pattern = AS("pool", NODE(MAXPOOL, DATA)),
                .accepts = maxpool_ok,
            },
        [RULE_AVGPOOL] =
            {
                .name = "mrvl.avgpool2d_nhwc2nhwc",
                .pattern = AS("pool", NODE(AVERAGEPOOL, DATA)),
                .accepts = avgpool_ok,
            },
        [RULE_GLOBALAVGPOOL] =
            {
                .name = "mrvl.globalavgpool2d_nhwc2nhwc",
                .pattern = NODE(GLOBALAVERAGEPOOL, VARIABLE),
                .accepts = globalavg_ok,
            },
        [RULE_GLOBALMAXPOOL] =
            {
                .name = "mrvl.globalmaxpool2d_nhwc2nhwc",
                .pattern = NODE(GLOBALMAXPOOL, VARIABLE),
                .accepts = globalmax_ok,
            },
        [RULE_SUM] =
            {
                .name = "mrvl.sum",
                .pattern = MAYBE(RELU,
                    EITHER(AS("sum", NODE(ADD, ANY, ANY)),
                        AS("sum", NODE(SUM, ANY, REST)))),
                .accepts = sum_ok,
            },
        [RULE_CONCAT] =
            {
                .name = "mrvl.concat",
                .pattern = NODE(CONCAT, REST),
                .accepts = concat_ok,
            },
        [RULE_LAYOUT] =
            {
                .name = "mrvl.layout_transform_nchw2nhwc",
                .pattern = NODE(TRANSPOSE, VARIABLE),
                .accepts = layout_ok,
            },
        [RULE_RESHAPE] =
            {
                .name = "mrvl.reshape",
                .pattern = NODE(RESHAPE, VARIABLE, REST),
                .accepts = reshape_ok,
            },
        [RULE_FLATTEN] =
            {
                .name = "mrvl.batch_flatten",
                .pattern = NODE(FLATTEN, VARIABLE),
                .accepts = flatten_ok,
            },
        [RULE_SQUEEZE] =
            {
                .name = "mrvl.squeeze",
                .pattern = NODE(SQUEEZE, VARIABLE, REST),
                .accepts = squeeze_ok,
            },
        [RULE_QCONV] =
            {
                .name = "mrvl.qlinearconv",
                .pattern =
                    AS("conv", NODE(QLINEARCONV, VARIABLE, CONSTANT, CONSTANT, REST)),
                .accepts = qconv_ok,
            },
        [RULE_QUANTIZE] =
            {
                .name = "mrvl.quantize",
                .pattern =
                    NODE(QUANTIZELINEAR, VARIABLE, CONSTANT, OPTIONAL_CONSTANT),
                .accepts = crossing_ok,
            },
        [RULE_DEQUANTIZE] =
            {
                .name = "mrvl.dequantize",
                .pattern =
                    NODE(DEQUANTIZELINEAR, VARIABLE, CONSTANT,
                        OPTIONAL_CONSTANT),
                .accepts = crossing_ok,
            },
};
