#include "targets/idiom.h"

#include <math.h>

/* A position in a match from which nodes are taken one after the other. */
struct cursor {
	const struct graph *graph;
	const struct match *match;
	uint32_t at;
};

/* The next node if it is `op` and reads x alone (its output 0 goes to *out). */
static bool
take_unary(struct cursor *c, enum op op, value_id x, value_id *out)
{
	const struct node *n;

	if (c->at == c->match->nnodes)
		return false;
	n = graph_node(c->graph, c->match->node[c->at]);
	if (n->op != op || n->input[0] != x)
		return false;
	c->at++;
	*out = n->output[0];
	return true;
}

/* The next node if it is `op` over x and y, in either order when it commutes. */
static bool
take_pair(struct cursor *c, enum op op, value_id x, value_id y, value_id *out)
{
	const struct node *n;

	if (c->at == c->match->nnodes)
		return false;
	n = graph_node(c->graph, c->match->node[c->at]);
	if (n->op != op || n->ninputs != 2)
		return false;
	if (!(n->input[0] == x && n->input[1] == y)
	    && !(op_is_commutative(op) && n->input[0] == y && n->input[1] == x))
		return false;
	c->at++;
	*out = n->output[0];
	return true;
}

/* The next node if it is `op` over x and a scalar near `want`. */
static bool
take_scalar(struct cursor *c, enum op op, value_id x, float want, value_id *out)
{
	const struct node *n;
	float got;

	if (c->at == c->match->nnodes)
		return false;
	n = graph_node(c->graph, c->match->node[c->at]);
	if (n->op != op || n->ninputs != 2)
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		if (n->input[i] != x || (i == 1 && !op_is_commutative(op)))
			continue;
		if (!constant_scalar(c->graph, n->input[1 - i], &got)
		    || fabsf(got - want) > 1e-4f * fabsf(want))
			continue;
		c->at++;
		*out = n->output[0];
		return true;
	}
	return false;
}

static bool
swish(struct cursor *c, value_id x, struct step *s)
{
	value_id gate, out;

	*s = (struct step){STEP_SWISH, 1, 0, VALUE_NONE, false};
	return take_unary(c, OP_SIGMOID, x, &gate)
	    && take_pair(c, OP_MUL, x, gate, &out);
}

static bool
hardswish(struct cursor *c, value_id x, struct step *s)
{
	const struct node *n;
	value_id gate, out;

	*s = (struct step){STEP_HARDSWISH, 0, 0, VALUE_NONE, false};
	if (c->at == c->match->nnodes)
		return false;
	n = graph_node(c->graph, c->match->node[c->at]);
	if (!take_unary(c, OP_HARDSIGMOID, x, &gate))
		return false;
	if (fabsf(attr_float_or(n, "alpha", 0.2f) - 1 / 6.f) > 1e-5f
	    || fabsf(attr_float_or(n, "beta", 0.5f) - 0.5f) > 1e-6f)
		return false;
	return take_pair(c, OP_MUL, x, gate, &out);
}

static bool
mish(struct cursor *c, value_id x, struct step *s)
{
	value_id a, b, out;

	*s = (struct step){STEP_MISH, 0, 0, VALUE_NONE, false};
	return take_unary(c, OP_SOFTPLUS, x, &a)
	    && take_unary(c, OP_TANH, a, &b)
	    && take_pair(c, OP_MUL, x, b, &out);
}

/* erf(x / sqrt 2) + 1, then times x and a half in either order. */
static bool
gelu(struct cursor *c, value_id x, struct step *s)
{
	const float root = 1.41421356f;
	value_id a, b, half = VALUE_NONE, out;

	*s = (struct step){STEP_GELU_ERF, 0, 0, VALUE_NONE, false};
	if (!take_scalar(c, OP_DIV, x, root, &a)
	    && !take_scalar(c, OP_MUL, x, 1 / root, &a)) {
		if (!take_scalar(c, OP_MUL, x, 0.5f, &half))
			return false;
		if (!take_scalar(c, OP_DIV, x, root, &a)
		    && !take_scalar(c, OP_MUL, x, 1 / root, &a))
			return false;
	}
	if (!take_unary(c, OP_ERF, a, &b) || !take_scalar(c, OP_ADD, b, 1, &a))
		return false;
	if (half == VALUE_NONE && take_scalar(c, OP_MUL, x, 0.5f, &half))
		return take_pair(c, OP_MUL, half, a, &out);
	if (half != VALUE_NONE)
		return take_pair(c, OP_MUL, half, a, &out);
	if (take_pair(c, OP_MUL, x, a, &b))
		return take_scalar(c, OP_MUL, b, 0.5f, &out);
	return take_scalar(c, OP_MUL, a, 0.5f, &b)
	    && take_pair(c, OP_MUL, x, b, &out);
}

uint32_t
idiom_read(struct step *s, const struct graph *g, const struct match *m,
    uint32_t k, value_id x)
{
	static bool (*const idiom[])(struct cursor *, value_id,
	    struct step *) = {swish, hardswish, mish, gelu};

	for (size_t i = 0; i < sizeof idiom / sizeof *idiom; i++) {
		struct cursor c = {g, m, k};

		if (idiom[i](&c, x, s))
			return c.at - k;
	}
	return 0;
}
