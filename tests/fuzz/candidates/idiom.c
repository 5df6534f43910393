/* Makers of what exporters spell out, and of chains that read themselves. */
#include "tests/fuzz/candidates/generate.h"

static value_id
scalar(struct generator *g, float x)
{
	return make_scalar(&g->m, x);
}

static void
swish(struct generator *g)
{
	value_id x = take(g, 0);

	NODE_OF(g, MUL, x, NODE_OF(g, SIGMOID, x));
}

static void
hard_swish(struct generator *g)
{
	value_id x = take(g, 0);
	struct attributes at = {.n = 0};

	add_from_table(g, &at, OP_HARDSIGMOID);
	NODE_OF(g, MUL, x,
	    add_node(
	        g, OP_HARDSIGMOID, (const value_id[]){x, VALUE_LAST}, &at));
}

static void
mish(struct generator *g)
{
	value_id x = take(g, 0);

	NODE_OF(g, MUL, x, NODE_OF(g, TANH, NODE_OF(g, SOFTPLUS, x)));
}

static void
gelu(struct generator *g)
{
	value_id x = take(g, 0), bell;

	bell = one_in(g, 2) ? NODE_OF(g, DIV, x, scalar(g, 1.41421356f))
	                    : NODE_OF(g, MUL, x, scalar(g, 0.70710678f));
	bell = NODE_OF(g, ADD, NODE_OF(g, ERF, bell), scalar(g, 1));
	switch (rng_below(&g->r, 3)) {
	case 0:
		NODE_OF(g, MUL, NODE_OF(g, MUL, x, bell), scalar(g, 0.5f));
		break;
	case 1:
		NODE_OF(g, MUL, x, NODE_OF(g, MUL, bell, scalar(g, 0.5f)));
		break;
	default:
		NODE_OF(g, MUL, NODE_OF(g, MUL, x, scalar(g, 0.5f)), bell);
	}
}

static value_id
mean(struct generator *g, value_id x)
{
	struct attributes at = {.n = 0};
	const int64_t last = -1;

	if (g->m.opset < 18) {
		add_ints(g, &at, "axes", &last, 1);
		return add_node(
		    g, OP_REDUCEMEAN, (const value_id[]){x, VALUE_LAST}, &at);
	}
	return NODE_OF(g, REDUCEMEAN, x, make_ints(&g->m, INTS(-1)));
}

static void
layer_norm(struct generator *g)
{
	value_id x = take(g, one_in(g, 2) ? 3 : 0), d, s;
	const struct type t = *type_of(g, x);

	d = NODE_OF(g, SUB, x, mean(g, x));
	s = one_in(g, 2) ? NODE_OF(g, POW, d, scalar(g, 2))
	                 : NODE_OF(g, MUL, d, d);
	s = NODE_OF(g, SQRT, NODE_OF(g, ADD, mean(g, s), scalar(g, 1e-3f)));
	d = NODE_OF(g, DIV, d, s);
	if (g->failed || one_in(g, 4))
		return;
	d = NODE_OF(
	    g, MUL, d, new_constant(g, t.dim + t.rank - 1, 1, 0.5f, 1.5f));
	NODE_OF(g, ADD, d, new_constant(g, t.dim + t.rank - 1, 1, -1, 1));
}

/* y and something made of y, joined again: what a pattern binds from outside
 * may turn out to lie inside. */
static void
joins_itself(struct generator *g)
{
	static const enum op join[] = {OP_ADD, OP_MUL, OP_SUB, OP_SUM, OP_MAX};
	value_id y, z;

	if (one_in(g, 2))
		make_window(g);
	else
		make_product(g);
	if (g->failed || g->n == 0)
		return;
	y = g->pool[g->n - 1];
	make_pointwise(g);
	if (g->failed)
		return;
	z = g->pool[g->n - 1];
	add_node(g, join[rng_below(&g->r, 5)],
	    (const value_id[]){
	        one_in(g, 2) ? y : z, one_in(g, 2) ? z : y, VALUE_LAST},
	    NULL);
}

/* Convolution, normalisation, activation; or two convolutions as MobileNet has
 * them. */
static void
block(struct generator *g)
{
	value_id x = take(g, 4), y;
	const struct type t = *type_of(g, x);
	const int64_t c = one_in(g, 2) ? t.dim[1] : any_channels(g);
	struct attributes at = {.n = 0};

	y = NODE_OF(g, CONV, x,
	    new_constant(g, (int64_t[]){c, t.dim[1], 1, 1}, 4, -0.5f, 0.5f),
	    new_constant(g, &c, 1, -1, 1));
	if (one_in(g, 2))
		y = NODE_OF(g, RELU, y);
	if (one_in(g, 2)) {
		add_ints(g, &at, "pads", (int64_t[]){1, 1, 1, 1}, 4);
		add_ints(g, &at, "strides",
		    (int64_t[][2]){{1, 1}, {2, 2}}[one_in(g, 2)], 2);
		add_int(g, &at, "group", c);
		y = add_node(g, OP_CONV,
		    (const value_id[]){y,
		        new_constant(
		            g, (int64_t[]){c, 1, 3, 3}, 4, -0.5f, 0.5f),
		        VALUE_LAST},
		    &at);
		y = one_in(g, 2) ? NODE_OF(g, RELU, y) : y;
	} else if (c == t.dim[1]) {
		y = NODE_OF(g, ADD, one_in(g, 2) ? y : x, one_in(g, 2) ? x : y);
		if (one_in(g, 2))
			NODE_OF(g, RELU, y);
	}
}

void
make_idiom(struct generator *g)
{
	static void (*const maker[])(struct generator *) = {swish, hard_swish,
	    mish, gelu, layer_norm, joins_itself, joins_itself, block, block};

	maker[rng_below(&g->r, sizeof maker / sizeof *maker)](g);
}
