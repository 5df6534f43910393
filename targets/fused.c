#include "targets/fused.h"

#include <math.h>

#include "targets/dequantized.h"

/* Bounds are attributes before opset 11 and inputs since. */
static bool
read_clip(const struct graph *g, const struct node *n, struct step *s)
{
	*s = (struct step){STEP_CLIP, -INFINITY, INFINITY, VALUE_NONE, false};
	if (n->opset < 11) {
		s->alpha = attr_float_or(n, "min", -INFINITY);
		s->beta = attr_float_or(n, "max", INFINITY);
		return true;
	}
	for (uint32_t i = 1; i < n->ninputs && i < 3; i++) {
		if (n->input[i] == VALUE_NONE)
			continue;
		if (!constant_scalar(
		        g, n->input[i], i == 1 ? &s->alpha : &s->beta))
			return false;
	}
	return true;
}

/* Operators without parameters, or with attribute `alpha` only. */
static const struct {
	enum op op;
	enum step_kind kind;
	float alpha, beta; /* alpha: the default of the attribute */
	bool has_alpha;
} simple[] = {
    {OP_RELU, STEP_RELU, 0, 0, false},
    {OP_LEAKYRELU, STEP_RELU, 0.01f, 0, true},
    {OP_ELU, STEP_ELU, 1, 0, true},
    {OP_SIGMOID, STEP_SIGMOID, 0, 0, false},
    {OP_TANH, STEP_TANH, 0, 0, false},
    {OP_HARDSWISH, STEP_HARDSWISH, 0, 0, false},
    {OP_SWISH, STEP_SWISH, 1, 0, true},
    {OP_MISH, STEP_MISH, 0, 0, false},
    {OP_SOFTPLUS, STEP_SOFTPLUS, 0, 0, false},
    {OP_EXP, STEP_EXP, 0, 0, false},
    {OP_LOG, STEP_LOG, 0, 0, false},
    {OP_SQRT, STEP_SQRT, 0, 0, false},
    {OP_ABS, STEP_ABS, 0, 0, false},
    {OP_ROUND, STEP_ROUND, 0, 0, false},
    {OP_NEG, STEP_LINEAR, -1, 0, false},
    {OP_RECIPROCAL, STEP_POW, 1, -1, false},
};

static bool
read_unary(const struct graph *g, const struct node *n, struct step *s)
{
	if (n->op == OP_CLIP)
		return read_clip(g, n, s);
	if (n->op == OP_GELU) {
		struct string_view how = attr_str_or(n, "approximate", "none");

		*s = (struct step){
		    view_is(how, "tanh") ? STEP_GELU_TANH : STEP_GELU_ERF, 0, 0,
		    VALUE_NONE, false};
		return view_is(how, "tanh") || view_is(how, "none");
	}
	for (size_t i = 0; i < sizeof simple / sizeof *simple; i++) {
		if (simple[i].op != n->op)
			continue;
		*s = (struct step){simple[i].kind, simple[i].alpha,
		    simple[i].beta, VALUE_NONE, false};
		if (simple[i].has_alpha)
			s->alpha = attr_float_or(n, "alpha", s->alpha);
		/* 0 * -inf is NaN; Relu of it is 0 */
		return n->op != OP_LEAKYRELU || s->alpha != 0;
	}
	return false;
}

/* A scalar constant operand makes it a unary step. */
static void
fold_scalar(struct step *s, float c)
{
	switch (s->kind) {
	case STEP_ADD:
		*s = (struct step){STEP_LINEAR, 1, c, VALUE_NONE, false};
		break;
	case STEP_SUB:
		*s = (struct step){STEP_LINEAR, s->swapped ? -1.f : 1.f,
		    s->swapped ? c : -c, VALUE_NONE, false};
		break;
	case STEP_MUL:
		*s = (struct step){STEP_LINEAR, c, 0, VALUE_NONE, false};
		break;
	case STEP_DIV:
		if (s->swapped)
			*s = (struct step){STEP_POW, c, -1, VALUE_NONE, false};
		else if (isnormal(1 / c))
			*s = (struct step){
			    STEP_LINEAR, 1 / c, 0, VALUE_NONE, false};
		break;
	case STEP_MAX:
		*s = (struct step){STEP_CLIP, c, INFINITY, VALUE_NONE, false};
		break;
	case STEP_MIN:
		*s = (struct step){STEP_CLIP, -INFINITY, c, VALUE_NONE, false};
		break;
	default:
		break;
	}
}

static bool
binary_kind(const struct node *n, enum step_kind *kind)
{
	switch (n->op) {
	case OP_ADD:
	case OP_SUM:
		*kind = STEP_ADD;
		break;
	case OP_SUB:
		*kind = STEP_SUB;
		break;
	case OP_MUL:
		*kind = STEP_MUL;
		break;
	case OP_DIV:
		*kind = STEP_DIV;
		break;
	case OP_MAX:
		*kind = STEP_MAX;
		break;
	case OP_MIN:
		*kind = STEP_MIN;
		break;
	default:
		return false;
	}
	return n->ninputs == 2;
}

static bool
read_pow(
    const struct graph *g, const struct node *n, value_id x, struct step *s)
{
	float e;

	if (n->input[0] != x || !constant_scalar(g, n->input[1], &e))
		return false;
	*s = e == 2 ? (struct step){STEP_SQUARE, 0, 0, VALUE_NONE, false}
	            : (struct step){STEP_POW, 1, e, VALUE_NONE, false};
	return true;
}

static bool
read_binary(
    const struct graph *g, const struct node *n, value_id x, struct step *s)
{
	float c;

	if (n->op == OP_POW)
		return read_pow(g, n, x, s);
	*s = (struct step){.other = VALUE_NONE};
	if (!binary_kind(n, &s->kind))
		return false;
	s->swapped = n->input[0] != x;
	if (s->swapped && n->input[1] != x)
		return false;
	if (n->input[0] == n->input[1]) {
		s->kind = s->kind == STEP_MUL ? STEP_SQUARE : s->kind;
		return s->kind == STEP_SQUARE;
	}
	s->other = n->input[s->swapped ? 0 : 1];
	if (constant_scalar(g, s->other, &c))
		fold_scalar(s, c);
	return true;
}

static bool
is_pointwise(enum op op)
{
	switch (op) {
	case OP_ADD:
	case OP_SUM:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_MAX:
	case OP_MIN:
	case OP_POW:
	case OP_CLIP:
	case OP_GELU:
	case OP_ERF:
	case OP_HARDSIGMOID:
		return true;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
		if (simple[i].op == op)
			return true;
	return false;
}

/* HardSigmoid is two steps: a line, then clipped to 0..1. */
static bool
read_hardsigmoid(struct fused *f, const struct node *n)
{
	if (n->op != OP_HARDSIGMOID || n->input[0] != f->end
	    || f->nsteps + 2 > STEPS_MAX)
		return false;
	f->step[f->nsteps++] =
	    (struct step){STEP_LINEAR, attr_float_or(n, "alpha", 0.2f),
	        attr_float_or(n, "beta", 0.5f), VALUE_NONE, false};
	f->step[f->nsteps++] =
	    (struct step){STEP_CLIP, 0, 1, VALUE_NONE, false};
	return true;
}

/* What the node does to the end of the chain, as one step or two. */
static bool
read_step(struct fused *f, const struct graph *g, const struct node *n)
{
	if (n->ninputs == 0)
		return false;
	if (read_hardsigmoid(f, n))
		return true;
	if (!read_binary(g, n, f->end, &f->step[f->nsteps])
	    && (n->input[0] != f->end
	        || !read_unary(g, n, &f->step[f->nsteps])))
		return false;
	f->nsteps++;
	return true;
}

/* The nodes of a match that are read already: PATTERN_NODES at most. */
struct fused_reader {
	struct fused *out;
	const struct graph *graph;
	const struct match *match;
	uint64_t taken;
};

static bool
is_taken(const struct fused_reader *r, uint32_t k)
{
	return r->taken >> k & 1;
}

/* The first node that is not taken yet; nnodes when all are. */
static uint32_t
next_node(const struct fused_reader *r)
{
	uint32_t k = 0;

	while (k < r->match->nnodes && is_taken(r, k))
		k++;
	return k;
}

/* Takes an idiom's nodes; false when one is not there, or taken. */
static bool
take_idiom(struct fused_reader *r, const struct idiom_match *found)
{
	uint64_t taken = r->taken;
	uint32_t n = 0;

	for (uint32_t k = 0; k < r->match->nnodes && n < found->nnodes; k++)
		if (r->match->node[k] == found->node[n]) {
			if (is_taken(r, k))
				return false;
			taken |= UINT64_C(1) << k;
			n++;
		}
	if (n < found->nnodes)
		return false;
	r->taken = taken;
	return true;
}

/* The idiom that begins with node k, when an operator stands for it. */
static const struct idiom_match *
idiom_at(const struct fused_reader *r, uint32_t k)
{
	const struct idiom_match *found;

	for (uint32_t i = 0; (found = match_idiom(r->match, i)) != NULL; i++)
		if (found->node[0] == r->match->node[k] && found->as)
			return found;
	return NULL;
}

/* The step that the chain goes on with; an idiom's nodes are one. */
static bool
take_step(struct fused_reader *r, uint32_t k)
{
	const struct idiom_match *found = idiom_at(r, k);
	const struct node *n =
	    found ? found->as : graph_node(r->graph, r->match->node[k]);

	if (!read_step(r->out, r->graph, n) || (found && !take_idiom(r, found)))
		return false;
	r->taken |= UINT64_C(1) << k;
	r->out->end = n->output[0];
	return true;
}

/* What a composite reads has a port, or is a constant; what one of its own
 * nodes makes has neither. */
static bool
comes_from_outside(const struct graph *g, const struct match *m, value_id v)
{
	const node_id n =
	    v == VALUE_NONE ? NODE_NONE : graph_value(g, v)->producer;

	return n == NODE_NONE || !match_has(m, n);
}

/* Weights may be dequantised inside the match: that is done at load time. */
bool
fused_is_fed(
    const struct fused *f, const struct graph *g, const struct match *m)
{
	bool ok = true;

	for (uint32_t i = 1; f->anchor && i < f->anchor->ninputs; i++)
		ok = ok
		    && (comes_from_outside(g, m, f->anchor->input[i])
		        || is_packable(g, f->anchor->input[i]));
	for (uint32_t i = 1; f->norm && i < f->norm->ninputs; i++)
		ok = ok && comes_from_outside(g, m, f->norm->input[i]);
	for (uint32_t i = 0; i < f->nsteps; i++)
		ok = ok && comes_from_outside(g, m, f->step[i].other);
	return ok;
}

static bool
reads_outside_only(
    const struct fused *f, const struct graph *g, const struct match *m)
{
	const value_id first = f->anchor ? f->anchor->input[0] : f->start;

	return (comes_from_outside(g, m, first)
	           || (f->anchor && is_packable(g, first)))
	    && fused_is_fed(f, g, m);
}

/* Where a chain without anchor begins: the non-constant input of its first
 * node; of two, the one that no node of the chain makes, the first. */
static value_id
chain_start(const struct graph *g, const struct node *n)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] != VALUE_NONE
		    && graph_value(g, n->input[i])->constant == NULL)
			return n->input[i];
	return VALUE_NONE;
}

void
fused_take_bias(struct fused *f, const struct graph *g, uint32_t axis)
{
	const struct type *out = &graph_value(g, f->end)->type;
	const struct step *s = &f->step[0];
	const struct tensor *t;
	uint32_t back = out->rank - axis; /* from the last dimension, from 1 */

	if (f->nsteps == 0 || s->kind != STEP_ADD || axis >= out->rank)
		return;
	t = graph_value(g, s->other)->constant;
	if (t == NULL || t->rank < back || t->rank > out->rank
	    || t->dim[t->rank - back] != out->dim[axis]
	    || t->count != (size_t)out->dim[axis])
		return;
	f->bias = s->other;
	f->nsteps--;
	for (uint32_t i = 0; i < f->nsteps; i++)
		f->step[i] = f->step[i + 1];
}

/* Dequantised weights, and the anchor or what the steps begin with. */
static void
take_start(struct fused_reader *r)
{
	struct fused *f = r->out;
	const struct idiom_match *found;
	const struct node *n;
	uint32_t k = 0;

	while (k + 1 < r->match->nnodes
	    && is_dequantizing(
	        r->graph, graph_node(r->graph, r->match->node[k])))
		r->taken |= UINT64_C(1) << k++;
	n = graph_node(r->graph, r->match->node[k]);
	found = idiom_at(r, k);
	if (found || is_pointwise(n->op)) {
		f->start = f->end = found ? found->x : chain_start(r->graph, n);
		return;
	}
	f->anchor = n;
	f->end = n->output[0];
	r->taken |= UINT64_C(1) << k;
}

static void
take_norm(struct fused_reader *r)
{
	const uint32_t k = next_node(r);
	const struct node *n;

	if (k == r->match->nnodes)
		return;
	n = graph_node(r->graph, r->match->node[k]);
	if (n->op != OP_BATCHNORMALIZATION || n->input[0] != r->out->end)
		return;
	r->out->norm = n;
	r->out->end = n->output[0];
	r->taken |= UINT64_C(1) << k;
}

bool
fused_read(struct fused *f, const struct graph *g, const struct match *m,
    const char **fault)
{
	struct fused_reader r = {f, g, m, 0};
	uint32_t k;

	*f = (struct fused){
	    .start = VALUE_NONE, .end = VALUE_NONE, .bias = VALUE_NONE};
	take_start(&r);
	take_norm(&r);
	for (k = next_node(&r); k < m->nnodes; k = next_node(&r))
		if (f->nsteps == STEPS_MAX || !take_step(&r, k))
			break;
	*fault = NULL;
	if (k < m->nnodes)
		*fault = "the nodes do not form a chain";
	else if (!reads_outside_only(f, g, m))
		*fault = "a step reads what the chain itself makes";
	return *fault == NULL;
}

/* Nodes are in order, so the second anchor divides the match. */
bool
fused_read_two(struct fused f[2], const struct graph *g, const struct match *m,
    enum op op, const char **fault)
{
	struct match part = *m;
	uint32_t n = 1;

	while (n < m->nnodes && graph_node(g, m->node[n])->op != op)
		n++;
	*fault = "an operator behind an operator is missing";
	if (n == m->nnodes)
		return false;
	part.nnodes = n;
	if (!fused_read(&f[0], g, &part, fault))
		return false;
	part.node = m->node + n;
	part.nnodes = m->nnodes - n;
	if (!fused_read(&f[1], g, &part, fault))
		return false;
	*fault = "one does not read the other";
	if (!f[0].anchor || !f[1].anchor || f[1].anchor->input[0] != f[0].end)
		return false;
	*fault = "a step reads what is inside";
	return fused_is_fed(&f[1], g, m);
}
