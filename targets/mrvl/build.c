#include "targets/mrvl/build.h"

#include <assert.h>
#include <string.h>

#include "targets/dequantized.h"
#include "targets/mrvl/rule_ids.h"
#include "targets/mrvl/window.h"

static const uint32_t to_nhwc[] = {0, 2, 3, 1};

struct layer_builder {
	const struct graph *graph;
	const struct match *match;
	struct arena *arena;
	struct layer *layer;
	bool
	    is_priced; /* only sizes are asked for: weights are not worked out */
};

/* ---- parts of a layer ---- */

static const struct node *
captured(const struct layer_builder *b, const char *name)
{
	node_id id = match_node(b->match, name);

	return id == NODE_NONE ? NULL : graph_node(b->graph, id);
}

/* As the layer sees a value: channels last when it has rank 4. */
static struct dims
seen(const struct graph *g, value_id v)
{
	struct dims d = dims_of(&graph_value(g, v)->type);

	return d.rank == 4 ? dims_permuted(&d, to_nhwc) : d;
}

static const struct packed *
keep(const struct layer_builder *b, const struct packed *k)
{
	return (const struct packed *)arena_copy(b->arena, k, sizeof *k);
}

static void
set_operands(struct layer_builder *b, const value_id *v, uint32_t n)
{
	struct dims *in = arena_new(b->arena, struct dims, n);

	for (uint32_t i = 0; i < n; i++)
		in[i] = seen(b->graph, v[i]);
	b->layer->ninputs = n;
	b->layer->in = in;
	b->layer->operand =
	    (const value_id *)arena_copy(b->arena, v, n * sizeof *v);
}

/* What weights and biases are: floats, or what stands for floats. */
static struct packed
weights_of(struct layer_builder *b, value_id v)
{
	const struct value *value = graph_value(b->graph, v);
	struct tensor *t;

	if (value->constant)
		return packed_of(b->graph, v);
	t = arena_new(b->arena, struct tensor, 1);
	*t = tensor_view(DT_FLOAT, value->type.rank, value->type.dim,
	    b->is_priced ? NULL : packable_floats(b->graph, v, b->arena));
	return packed_of_tensor(t, v);
}

static void
set_own_scales(struct layer_builder *b, const struct tensor *scale)
{
	b->layer->own_scale = tensor_data(scale, b->arena);
	b->layer->nown_scales = (uint32_t)scale->count;
}

/* Scales of a kernel that the model keeps as integers. */
static void
keep_own_scales(struct layer_builder *b, value_id kernel)
{
	const struct value *v = graph_value(b->graph, kernel);

	if (!v->constant)
		set_own_scales(b,
		    node_in(b->graph, graph_node(b->graph, v->producer), 1)
		        ->constant);
}

/* integers * scale, a scale for each of the first dimension or one. */
static struct packed
scaled(struct layer_builder *b, value_id v, const float *scale, uint32_t n)
{
	const struct tensor *q = graph_value(b->graph, v)->constant;
	const size_t each = q->dim[0] ? q->count / (size_t)q->dim[0] : 1;
	float *to = b->is_priced ? NULL : arena_new(b->arena, float, q->count);
	struct tensor *t = arena_new(b->arena, struct tensor, 1);

	for (size_t i = 0; to && i < q->count; i++)
		to[i] = (float)tensor_real(q, i) * scale[n == 1 ? 0 : i / each];
	*t = tensor_view(DT_FLOAT, q->rank, q->dim, to);
	return packed_of_tensor(t, v);
}

/* A constant in NCHW terms, its dimensions moved to NHWC. */
static struct packed
channels_last(const struct graph *g, value_id v)
{
	struct packed k = packed_of(g, v), wide = k;
	uint32_t skip = 4 - k.dims.rank;

	assert(k.dims.rank <= 4);
	wide.dims.rank = 4;
	for (uint32_t i = 0; i < 4; i++) {
		wide.dims.dim[i] = i < skip ? 1 : k.dims.dim[i - skip];
		wide.stride[i] = i < skip ? 0 : k.stride[i - skip];
	}
	return packed_permuted(&wide, to_nhwc);
}

static void
leave_unmade(struct layer_builder *b)
{
	b->layer->unmade = true;
	b->layer->refused = "nothing can be made of what is assumed";
}

/* The layer's bias: the operator's own, and a constant added behind it. */
static void
set_bias(
    struct layer_builder *b, value_id own, float scale, const struct dims *to)
{
	const struct node *add = captured(b, "add");
	const struct packed *bias = NULL;
	struct packed k;

	if (own != VALUE_NONE) {
		k = weights_of(b, own);
		k.scale = scale;
		if (!packed_broadcast(&k, to)) {
			leave_unmade(b);
			return;
		}
		bias = keep(b, &k);
	}
	if (add) {
		value_id v = match_value(b->match, "bias");

		k = to->rank == 4 ? channels_last(b->graph, v)
		                  : packed_of(b->graph, v);
		if (!packed_broadcast(&k, to))
			k.plus = NULL; /* compat: any constant, as it is */
		else
			k.plus = bias;
		bias = keep(b, &k);
	}
	b->layer->constant[CONST_BIAS] = bias;
}

static void
set_norm(struct layer_builder *b)
{
	const struct node *bn = captured(b, "bn");

	if (!bn)
		return;
	b->layer->epsilon = attr_float_or(bn, "epsilon", 1e-5f);
	for (uint32_t i = 0; i < 4; i++) {
		struct packed k = packed_of(b->graph, bn->input[1 + i]);

		b->layer->constant[CONST_GAMMA + i] = keep(b, &k);
	}
}

static void
set_window(struct layer_builder *b, const struct node *n)
{
	const struct node *pad = captured(b, "pad");
	struct layer *l = b->layer;
	struct padding p;
	struct mrvl_window w;
	bool ok;

	ok = window_of(&w, b->graph, n, node_in(b->graph, n, 0)->type.dim);
	assert(ok);
	memcpy(l->kernel, w.kernel, sizeof l->kernel);
	memcpy(l->stride, w.stride, sizeof l->stride);
	memcpy(l->dilation, w.dilation, sizeof l->dilation);
	memcpy(l->pad, w.pad, sizeof l->pad);
	if (!pad)
		return;
	ok = padding_of(&p, b->graph, pad);
	assert(ok);
	l->pad[0] = p.before[2];
	l->pad[1] = p.before[3];
	l->pad[2] = p.after[2];
	l->pad[3] = p.after[3];
	/* a Pad's zeros count in an average */
	l->count_include_pad = true;
}

static value_id
data_of(const struct layer_builder *b, const struct node *anchor)
{
	const struct node *pad = captured(b, "pad");

	return pad ? pad->input[0] : anchor->input[0];
}

/* ---- can it be made at all? ---- */

/* What holds of whatever the predicates accept, and need not of what is accepted
 * because a condition is assumed. */

static bool
has_dims(const struct graph *g, value_id v)
{
	const struct type *t = &graph_value(g, v)->type;

	return t->kind == TYPE_TENSOR && type_is_static(t)
	    && t->rank <= DIMS_MAX;
}

static bool
all_have_dims(const struct graph *g, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE && !has_dims(g, n->input[i]))
			return false;
	for (uint32_t i = 0; i < n->noutputs; i++)
		if (n->output[i] != VALUE_NONE && !has_dims(g, n->output[i]))
			return false;
	return true;
}

static bool
has_rank(const struct layer_builder *b, value_id v, uint32_t rank)
{
	return graph_value(b->graph, v)->type.rank == rank;
}

/* Its inputs from..to-1 that are there. */
static bool
are_constant(const struct layer_builder *b, const struct node *n, uint32_t from,
    uint32_t to)
{
	for (uint32_t i = from; i < to && i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && !graph_value(b->graph, n->input[i])->constant)
			return false;
	return true;
}

static bool
has_window(const struct layer_builder *b, const struct node *n)
{
	const struct node *pad = captured(b, "pad");
	struct mrvl_window w;
	struct padding p;

	return has_rank(b, n->input[0], 4) && has_rank(b, n->output[0], 4)
	    && window_of(&w, b->graph, n, node_in(b->graph, n, 0)->type.dim)
	    && (!pad || (padding_of(&p, b->graph, pad) && p.rank == 4));
}

static bool
has_weights(const struct layer_builder *b, const struct node *n, uint32_t rank)
{
	const struct node *bn = captured(b, "bn"), *add = captured(b, "add");
	const struct value *bias =
	    add ? graph_value(b->graph, match_value(b->match, "bias")) : NULL;

	return has_rank(b, n->input[1], rank)
	    && is_packable(b->graph, n->input[1])
	    && (n->ninputs < 3 || n->input[2] == VALUE_NONE
	        || is_packable(b->graph, n->input[2]))
	    && (!bn || are_constant(b, bn, 1, 5))
	    && (!bias || (bias->constant && bias->type.rank <= 4));
}

static bool
can_be_made(const struct layer_builder *b, enum mrvl_rule rule)
{
	const struct node *root = graph_node(b->graph, b->match->root);

	for (uint32_t i = 0; i < b->match->nnodes; i++)
		if (!all_have_dims(
		        b->graph, graph_node(b->graph, b->match->node[i])))
			return false;
	if (rule == RULE_CONV)
		return has_window(b, captured(b, "conv"))
		    && has_weights(b, captured(b, "conv"), 4);
	if (rule == RULE_QCONV)
		return has_window(b, captured(b, "conv"))
		    && has_rank(b, captured(b, "conv")->input[3], 4)
		    && are_constant(b, captured(b, "conv"), 1, 9);
	if (rule == RULE_FC)
		return has_weights(b, captured(b, "fc"), 2);
	if (rule == RULE_MAXPOOL || rule == RULE_AVGPOOL)
		return has_window(b, captured(b, "pool"));
	if (rule == RULE_GLOBALAVGPOOL || rule == RULE_GLOBALMAXPOOL)
		return has_rank(b, root->input[0], 4);
	return rule != RULE_SUM || captured(b, "sum")->ninputs >= 2;
}

/* ---- kinds of layers ---- */

static void
make_conv(struct layer_builder *b)
{
	const struct node *n = captured(b, "conv");
	value_id x = data_of(b, n);
	struct packed kernel = weights_of(b, n->input[1]);
	struct dims bias = {4, {1, 1, 1, kernel.dims.dim[0]}};

	b->layer->kind = LAYER_CONV;
	b->layer->groups = attr_int_or(n, "group", 1);
	b->layer->channels = kernel.dims.dim[0];
	set_operands(b, &x, 1);
	set_window(b, n);
	b->layer->count_include_pad = false;
	kernel = packed_permuted(&kernel, to_nhwc);
	b->layer->constant[CONST_KERNEL] = keep(b, &kernel);
	keep_own_scales(b, n->input[1]);
	set_bias(b, n->ninputs > 2 ? n->input[2] : VALUE_NONE, 1, &bias);
	set_norm(b);
}

/* QLinearConv: the same with its own scales; a bias is in their steps. */
static void
make_qconv(struct layer_builder *b)
{
	const struct node *n = captured(b, "conv");
	const float x =
	    (float)tensor_real(graph_value(b->graph, n->input[1])->constant, 0);
	struct layer *l = b->layer;
	struct packed kernel, k;
	float *step;

	l->kind = LAYER_CONV;
	l->groups = attr_int_or(n, "group", 1);
	set_operands(b, n->input, 1);
	set_window(b, n);
	l->count_include_pad = false;
	set_own_scales(b, graph_value(b->graph, n->input[4])->constant);
	kernel = scaled(b, n->input[3], l->own_scale, l->nown_scales);
	kernel = packed_permuted(&kernel, to_nhwc);
	l->channels = kernel.dims.dim[0];
	l->constant[CONST_KERNEL] = keep(b, &kernel);
	if (n->ninputs < 9 || n->input[8] == VALUE_NONE)
		return;
	step = arena_new(b->arena, float, l->nown_scales);
	for (uint32_t i = 0; i < l->nown_scales; i++)
		step[i] = x * l->own_scale[i];
	k = scaled(b, n->input[8], step, l->nown_scales);
	if (!packed_broadcast(&k, &(struct dims){4, {1, 1, 1, l->channels}})) {
		leave_unmade(b);
		return;
	}
	l->constant[CONST_BIAS] = keep(b, &k);
}

/* Batches above 8 come here with compat only. */
static void
make_fc(struct layer_builder *b)
{
	static const uint32_t swap[] = {1, 0};
	const struct node *n = captured(b, "fc"), *flat = captured(b, "flat");
	value_id x = flat ? flat->input[0] : n->input[0], own = VALUE_NONE;
	struct packed kernel = weights_of(b, n->input[1]);
	float beta = 1;

	b->layer->kind = LAYER_FC;
	b->layer->flattens = flat != NULL;
	b->layer->has_units = n->op == OP_GEMM;
	b->layer->out_float32 = n->op == OP_MATMUL;
	set_operands(b, &x, 1);
	if (n->op == OP_MATMUL || attr_int_or(n, "transB", 0) == 0)
		kernel = packed_permuted(&kernel, swap);
	if (n->op == OP_GEMM) {
		kernel.scale = attr_float_or(n, "alpha", 1);
		beta = attr_float_or(n, "beta", 1);
		own = n->ninputs > 2 ? n->input[2] : VALUE_NONE;
	}
	keep_own_scales(b, n->input[1]);
	b->layer->channels = kernel.dims.dim[0];
	b->layer->constant[CONST_KERNEL] = keep(b, &kernel);
	struct dims bias = {2, {1, kernel.dims.dim[0]}};
	set_bias(b, own, beta, &bias);
	if (b->layer->in[0].dim[0] > 8)
		b->layer->refused = "the compiler takes batches of at most 8";
}

static void
make_pool(struct layer_builder *b, enum layer_kind kind)
{
	const struct node *n = captured(b, "pool");
	value_id x = data_of(b, n);

	b->layer->kind = kind;
	b->layer->ceil_mode = attr_int_or(n, "ceil_mode", 0) != 0;
	b->layer->count_include_pad =
	    attr_int_or(n, "count_include_pad", 0) != 0;
	set_operands(b, &x, 1);
	set_window(b, n);
}

static void
make_global(struct layer_builder *b, enum layer_kind kind)
{
	const struct node *n = graph_node(b->graph, b->match->root);

	b->layer->kind = kind;
	set_operands(b, n->input, 1);
	b->layer->kernel[0] = b->layer->in[0].dim[1];
	b->layer->kernel[1] = b->layer->in[0].dim[2];
}

static void
make_plain(struct layer_builder *b, enum layer_kind kind, const struct node *n,
    uint32_t noperands)
{
	b->layer->kind = kind;
	set_operands(b, n->input, noperands);
}

/* Constants and broadcasts come here with compat only. */
static void
make_sum(struct layer_builder *b, const struct node *n)
{
	value_id data[2];
	uint32_t count = 0;

	for (uint32_t i = 0; i < 2; i++)
		if (!graph_value(b->graph, n->input[i])->constant)
			data[count++] = n->input[i];
	b->layer->kind = LAYER_SUM;
	set_operands(b, data, count);
	if (count < 2)
		b->layer->refused = "sum with constant operand";
	else if (!dims_equal(&b->layer->in[0], &b->layer->in[1]))
		b->layer->refused = "sum that broadcasts";
}

static void
make_layout(struct layer_builder *b, const struct node *n)
{
	make_plain(b, LAYER_LAYOUT, n, 1);
	b->layer->src_layout = "NCHW";
	b->layer->dst_layout = "NHWC";
}

static void
make(struct layer_builder *b, enum mrvl_rule rule)
{
	const struct graph *g = b->graph;
	const struct match *m = b->match;
	struct layer *out = b->layer;
	const struct node *root = graph_node(g, m->root);

	memset(out, 0, sizeof *out);
	out->result = root->output[0];
	out->nnodes = m->nnodes;
	out->node = m->node;
	if (!can_be_made(b, rule)) {
		leave_unmade(b);
		return;
	}
	out->out = seen(g, out->result);
	out->relu = root->op == OP_RELU;
	switch (rule) {
	case RULE_CONV:
		make_conv(b);
		break;
	case RULE_FC:
		make_fc(b);
		break;
	case RULE_MAXPOOL:
		make_pool(b, LAYER_MAXPOOL);
		break;
	case RULE_AVGPOOL:
		make_pool(b, LAYER_AVGPOOL);
		break;
	case RULE_GLOBALAVGPOOL:
		make_global(b, LAYER_GLOBALAVGPOOL);
		break;
	case RULE_GLOBALMAXPOOL:
		make_global(b, LAYER_GLOBALMAXPOOL);
		break;
	case RULE_SUM:
		make_sum(b, captured(b, "sum"));
		break;
	case RULE_CONCAT:
		make_plain(b, LAYER_CONCAT, root, root->ninputs);
		break;
	case RULE_LAYOUT:
		make_layout(b, root);
		break;
	case RULE_RESHAPE:
		make_plain(b, LAYER_RESHAPE, root, 1);
		break;
	case RULE_FLATTEN:
		make_plain(b, LAYER_FLATTEN, root, 1);
		break;
	case RULE_SQUEEZE:
		make_plain(b, LAYER_SQUEEZE, root, 1);
		break;
	case RULE_QCONV:
		make_qconv(b);
		break;
	case RULE_QUANTIZE:
	case RULE_DEQUANTIZE:
		make_plain(b, LAYER_LAYOUT, root, 1);
		break;
	case NRULES:
		assert(0 && "a rule");
	}
}

void
mrvl_layer_of(struct layer *out, const struct graph *g, uint32_t rule,
    const struct match *m, struct arena *a)
{
	struct layer_builder b = {g, m, a, out, false};

	make(&b, (enum mrvl_rule)rule);
}

void
mrvl_layer_sizes_of(struct layer *out, const struct graph *g, uint32_t rule,
    const struct match *m, struct arena *a)
{
	struct layer_builder b = {g, m, a, out, true};

	make(&b, (enum mrvl_rule)rule);
}

/* ---- a region ---- */

/* Where a value is while the region runs: its bytes in channels-last order
 * and/or in the order of its ONNX shape. */
struct layer_operand {
	value_id value;
	bool has_nhwc, has_plain;
	struct layer_ref nhwc, plain;
};

struct assembly {
	const struct region *region;
	struct arena *arena;
	struct err *err;
	struct layer *layer;
	struct layer_operand *place;
	uint32_t nlayers, nplaces;
};

static struct layer_operand *
place_of(struct assembly *s, value_id v)
{
	for (uint32_t i = 0; i < s->nplaces; i++)
		if (s->place[i].value == v)
			return &s->place[i];
	s->place[s->nplaces] = (struct layer_operand){.value = v};
	return &s->place[s->nplaces++];
}

static struct layer_ref
add_layer(struct assembly *s, const struct layer *l)
{
	s->layer[s->nlayers] = *l;
	return (struct layer_ref){false, s->nlayers++};
}

/* A layout_transform in front of the first reader of a region input. */
static void
enter_as_nhwc(struct assembly *s, struct layer_operand *p)
{
	const struct graph *g = s->region->graph;
	struct dims raw = dims_of(&graph_value(g, p->value)->type);
	struct layer l = {.kind = LAYER_LAYOUT,
	    .ninputs = 1,
	    .result = p->value,
	    .src_layout = "NCHW",
	    .dst_layout = "NHWC"};

	l.in = (const struct dims *)arena_copy(s->arena, &raw, sizeof raw);
	l.out = dims_permuted(&raw, to_nhwc);
	l.operand =
	    (const value_id *)arena_copy(s->arena, &p->value, sizeof p->value);
	l.input = (const struct layer_ref *)arena_copy(
	    s->arena, &p->plain, sizeof p->plain);
	p->nhwc = add_layer(s, &l);
	p->has_nhwc = true;
}

static bool
resolve(struct assembly *s, value_id v, bool nhwc, struct layer_ref *out)
{
	struct layer_operand *p = place_of(s, v);

	if (nhwc && !p->has_nhwc && p->has_plain && p->plain.is_input)
		enter_as_nhwc(s, p);
	if (nhwc ? p->has_nhwc : p->has_plain) {
		*out = nhwc ? p->nhwc : p->plain;
		return true;
	}
	return err_set(s->err, ERR_UNSUPPORTED,
	    "mrvl region %u: value '%s' would have to change its layout inside "
	    "the region",
	    s->region->number, graph_value(s->region->graph, v)->name);
}

static bool
rank_is_4(const struct assembly *s, value_id v)
{
	return graph_value(s->region->graph, v)->type.rank == 4;
}

/* Does the composite want this operand channels last? */
static bool
wants_nhwc(const struct assembly *s, const struct candidate *c, value_id v)
{
	const struct formats *f = s->region->target->formats;

	for (uint32_t i = 0; i < c->ninputs; i++)
		if (c->input[i].value == v)
			return f->format[c->input[i].format].layout
			    == LAYOUT_NHWC;
	return rank_is_4(s, v);
}

static bool
add_composite(struct assembly *s, const struct candidate *c)
{
	struct layer l;
	struct layer_ref *ref, out;
	struct layer_operand *place;

	mrvl_layer_of(&l, s->region->graph, c->rule, c->match, s->arena);
	if (l.refused)
		return err_set(s->err, ERR_UNSUPPORTED,
		    "%s: upstream's code generator gives up on it", l.refused);
	if (c->rule == RULE_QUANTIZE || c->rule == RULE_DEQUANTIZE) {
		bool nhwc = wants_nhwc(s, c, l.operand[0]);

		if (!resolve(s, l.operand[0], nhwc, &out))
			return false;
		place = place_of(s, l.result);
		*(nhwc ? &place->nhwc : &place->plain) = out;
		*(nhwc ? &place->has_nhwc : &place->has_plain) = true;
		return true;
	}
	if (c->rule == RULE_LAYOUT) {
		/* NHWC bytes are what the transposed tensor looks like */
		if (!resolve(s, l.operand[0], true, &out))
			return false;
		place = place_of(s, l.result);
		place->plain = out;
		place->has_plain = true;
		return true;
	}
	ref = arena_new(s->arena, struct layer_ref, l.ninputs);
	for (uint32_t i = 0; i < l.ninputs; i++)
		if (!resolve(s, l.operand[i], wants_nhwc(s, c, l.operand[i]),
		        &ref[i]))
			return false;
	if (l.ninputs == 1 && !wants_nhwc(s, c, l.operand[0])
	    && rank_is_4(s, l.operand[0])) {
		struct dims raw =
		    dims_of(&graph_value(s->region->graph, l.operand[0])->type);

		l.in =
		    (const struct dims *)arena_copy(s->arena, &raw, sizeof raw);
	}
	l.input = ref;
	out = add_layer(s, &l);
	place = place_of(s, l.result);
	if (rank_is_4(s, l.result)) {
		place->nhwc = out;
		place->has_nhwc = true;
	} else {
		place->plain = out;
		place->has_plain = true;
	}
	return true;
}

static void
add_inputs(struct assembly *s, struct layers *out)
{
	const struct region *r = s->region;
	struct region_input *in =
	    arena_new(s->arena, struct region_input, r->ninputs);

	for (uint32_t i = 0; i < r->ninputs; i++) {
		value_id v = r->input[i].value;
		struct layer_operand *p = place_of(s, v);

		in[i].dims = dims_of(&graph_value(r->graph, v)->type);
		in[i].value = v;
		in[i].place = i;
		p->plain = (struct layer_ref){true, i};
		p->has_plain = true;
	}
	out->ninputs = r->ninputs;
	out->input = in;
}

static void
add_outputs(struct assembly *s, struct layers *out)
{
	const struct region *r = s->region;
	struct region_output *o =
	    arena_new(s->arena, struct region_output, r->noutputs);

	for (uint32_t i = 0; i < r->noutputs; i++) {
		struct layer_operand *p = place_of(s, r->output[i].value);

		o[i].value = p->value;
		o[i].from = p->has_nhwc ? p->nhwc : p->plain;
		o[i].channels_last = p->has_nhwc;
	}
	out->noutputs = r->noutputs;
	out->output = o;
}

bool
mrvl_layers(struct layers *out, const struct region *r, struct arena *a,
    struct err *err)
{
	struct assembly s = {.region = r, .arena = a, .err = err};
	size_t most = 2 * (size_t)r->ninputs + r->noutputs;

	for (uint32_t i = 0; i < r->ncandidates; i++)
		most += 2 + r->candidate[i]->ninputs;
	s.layer = arena_new(a, struct layer, most);
	s.place = arena_new(a, struct layer_operand, most);
	*out = (struct layers){
	    .number = r->number, .symbol = mrvl_symbol(r->number, a)};
	if (r->target->quantises)
		out->held = r->target->formats;
	add_inputs(&s, out);
	for (uint32_t i = 0; i < r->ncandidates; i++)
		if (!add_composite(&s, r->candidate[i]))
			return false;
	add_outputs(&s, out);
	out->layer = s.layer;
	out->nlayers = s.nlayers;
	return true;
}
