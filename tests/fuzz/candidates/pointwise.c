/* Makers of functions, operations of two tensors, and products. */
#include "tests/fuzz/candidates/generate.h"

/* A shape that broadcasts to t: ones here and there, fewer or more dimensions. */
static uint32_t
broadcast_shape(struct generator *g, const struct type *t, int64_t *dim)
{
	const uint32_t form = rng_below(&g->r, 6);
	uint32_t n = 0, more = one_in(g, 12) && t->rank < 5 ? upto(g, 2) : 0;
	uint32_t skip = one_in(g, 2) ? 0 : rng_below(&g->r, t->rank + 1);

	if (more)
		skip = 0;
	while (n < more)
		dim[n++] = 1;
	for (uint32_t i = skip; i < t->rank; i++) {
		bool one = form == 0 || (form == 1 && i != 1)
		    || (form == 2 && one_in(g, 2))
		    || (form == 3 && i + 1 != t->rank);

		dim[n++] = one ? 1 : t->dim[i];
	}
	return n;
}

static bool
fits(const struct type *t, const struct type *out)
{
	if (t->rank > out->rank)
		return false;
	for (uint32_t i = 0; i < t->rank; i++) {
		int64_t d = out->dim[out->rank - t->rank + i];

		if (t->dim[i] != 1 && t->dim[i] != d)
			return false;
	}
	return true;
}

/* A second operand for x. */
static value_id
other_for(struct generator *g, value_id x)
{
	const struct type *t = type_of(g, x);
	int64_t dim[8];
	uint32_t n;

	if (one_in(g, 12))
		return x;
	for (uint32_t tries = 0; tries < 4 && g->n > 0; tries++) {
		value_id v = g->pool[rng_below(&g->r, g->n)];

		if (v != x && fits(type_of(g, v), t) && one_in(g, 2))
			return v;
	}
	if (one_in(g, 6))
		return make_scalar(&g->m, (float)upto(g, 5) - 2.5f);
	n = broadcast_shape(g, t, dim);
	if (n == 0)
		return make_scalar(&g->m, 0.75f);
	return new_tensor(g, dim, n);
}

static void
operation(struct generator *g)
{
	static const enum op op[] = {OP_ADD, OP_ADD, OP_ADD, OP_SUB, OP_MUL,
	    OP_MUL, OP_DIV, OP_MAX, OP_MIN, OP_SUM};
	const enum op which = op[rng_below(&g->r, 10)];
	value_id x = take(g, 0), y = other_for(g, x);
	bool swap = one_in(g, 3);

	add_node(g, which,
	    (const value_id[]){swap ? y : x, swap ? x : y, VALUE_LAST}, NULL);
}

static void
power(struct generator *g)
{
	static const float e[] = {2, 0.5f, -1, 3, 1, 0};

	NODE_OF(g, POW, take(g, 0), make_scalar(&g->m, e[rng_below(&g->r, 6)]));
}

/* Bounds are attributes before opset 11. */
static void
clip(struct generator *g)
{
	static const float low[] = {-0.5f, 0, -1}, high[] = {0.5f, 6, 1};
	const uint32_t i = rng_below(&g->r, 3), k = rng_below(&g->r, 3);
	struct attributes at = {.n = 2};
	value_id x = take(g, 0);

	if (g->m.opset < 11) {
		at.item[0] = (struct attr){.name = "min",
		    .kind = ATTR_FLOAT,
		    .n = 1,
		    .floats = &low[i]};
		at.item[1] = (struct attr){.name = "max",
		    .kind = ATTR_FLOAT,
		    .n = 1,
		    .floats = &high[k]};
		at.n = rng_below(&g->r, 3);
		add_node(g, OP_CLIP, (const value_id[]){x, VALUE_LAST}, &at);
		return;
	}
	NODE_OF(g, CLIP, x,
	    one_in(g, 3) ? VALUE_NONE : make_scalar(&g->m, low[i]),
	    one_in(g, 3) ? VALUE_LAST : make_scalar(&g->m, high[k]));
}

static void
function(struct generator *g)
{
	static const enum op op[] = {OP_RELU, OP_RELU, OP_RELU, OP_LEAKYRELU,
	    OP_ELU, OP_SIGMOID, OP_TANH, OP_HARDSIGMOID, OP_SOFTPLUS, OP_EXP,
	    OP_SQRT, OP_ABS, OP_NEG, OP_RECIPROCAL, OP_ERF, OP_ROUND, OP_LOG,
	    OP_HARDSWISH, OP_GELU, OP_MISH, OP_SWISH, OP_CELU, OP_SELU,
	    OP_SOFTSIGN, OP_FLOOR, OP_SIN};
	enum op which = op[rng_below(&g->r, sizeof op / sizeof *op)];
	struct attributes at = {.n = 0};

	add_from_table(g, &at, which);
	add_node(g, which, (const value_id[]){take(g, 0), VALUE_LAST}, &at);
}

static void
slopes(struct generator *g)
{
	value_id x = take(g, 0);
	const struct type *t = type_of(g, x);
	int64_t dim[8];
	uint32_t n = 0;

	for (uint32_t i = one_in(g, 2); i < t->rank; i++)
		dim[n++] = i == 1 || one_in(g, 3) ? t->dim[i] : 1;
	if (n > 0)
		NODE_OF(g, PRELU, x, new_constant(g, dim, n, -0.5f, 0.5f));
}

void
make_pointwise(struct generator *g)
{
	switch (rng_below(&g->r, 16)) {
	case 0:
		power(g);
		break;
	case 1:
	case 2:
		clip(g);
		break;
	case 3:
		slopes(g);
		break;
	case 4:
	case 5:
	case 6:
	case 7:
	case 8:
		function(g);
		break;
	default:
		operation(g);
	}
}

static void
gemm(struct generator *g)
{
	struct attributes at = {.n = 0};
	value_id x = take(g, 2), c;
	const struct type t = *type_of(g, x);
	const bool left = one_in(g, 4), right = one_in(g, 2);
	const int64_t m = t.dim[left], k = t.dim[!left], n = any_channels(g);
	const int64_t form[][2] = {
	    {m, n}, {1, n}, {m, 1}, {1, 1}, {n, 0}, {1, 0}};
	const uint32_t f = rng_below(&g->r, 6);
	value_id w;

	add_from_table(g, &at, OP_GEMM);
	if (left)
		add_int(g, &at, "transA", 1);
	if (right)
		add_int(g, &at, "transB", 1);
	w = new_constant(
	    g, (int64_t[]){right ? n : k, right ? k : n}, 2, -0.5f, 0.5f);
	if (one_in(g, 8))
		w = new_input(g, (int64_t[]){right ? n : k, right ? k : n}, 2);
	c = one_in(g, 4) ? new_input(g, form[f], f < 4 ? 2 : 1)
	                 : new_constant(g, form[f], f < 4 ? 2 : 1, -1, 1);
	if (g->m.opset >= 11 && one_in(g, 4))
		c = VALUE_LAST;
	add_node(g, OP_GEMM, (const value_id[]){x, w, c, VALUE_LAST}, &at);
}

static void
matmul(struct generator *g)
{
	value_id x = take(g, one_in(g, 2) ? 3 : one_in(g, 2) ? 2 : 4), w, y;
	const struct type t = *type_of(g, x);
	int64_t dim[6], n = any_channels(g);
	uint32_t rank = one_in(g, 3) ? t.rank : 2;

	for (uint32_t i = 0; i < rank; i++)
		dim[i] = i + 2 < rank ? one_in(g, 3) ? 1 : t.dim[i] : n;
	dim[rank - 2] = t.dim[t.rank - 1];
	w = one_in(g, 4) ? new_input(g, dim, rank)
	                 : new_constant(g, dim, rank, -0.5f, 0.5f);
	y = NODE_OF(g, MATMUL, x, w);
	if (!g->failed && one_in(g, 2))
		NODE_OF(g, ADD, y, new_constant(g, &n, 1, -1, 1));
}

void
make_product(struct generator *g)
{
	if (one_in(g, 2))
		gemm(g);
	else
		matmul(g);
}
