/* Attention, as the operator and as exporters spell it. */
#include "tests/fuzz/candidates/generate.h"

#define OPERATOR_SINCE 23

struct heads {
	int64_t batch, q, kv, queries, keys, past, size, value_size;
	bool flat; /* side by side, [batch, length, heads * size] */
};

/* Keys beyond a panel of two vectors now and then. */
static struct heads
any_heads(struct generator *g)
{
	const int64_t kv = upto(g, 3);

	return (struct heads){
	    .batch = upto(g, 2),
	    .kv = kv,
	    .q = kv * (one_in(g, 3) ? 2 : 1),
	    .queries = one_in(g, 4) ? 12 + upto(g, 3) : any_dim(g),
	    .keys = one_in(g, 3) ? 30 + upto(g, 6) : any_dim(g),
	    .past = !one_in(g, 3) ? 0
	        : one_in(g, 3)    ? 60 + upto(g, 9)
	                          : upto(g, 9),
	    .size = any_dim(g),
	    .value_size = one_in(g, 2) ? any_dim(g) : 33,
	    .flat = one_in(g, 3),
	};
}

static value_id
operand(struct generator *g, const struct heads *h, int64_t heads, int64_t rows,
    int64_t size, bool flat)
{
	if (flat)
		return new_input(
		    g, (int64_t[]){h->batch, rows, heads * size}, 3);
	return new_input(g, (int64_t[]){h->batch, heads, rows, size}, 4);
}

/* Each dimension as it is, or 1; the last one's is the keys'. */
static value_id
mask(struct generator *g, const struct heads *h, bool may_be_bool)
{
	const int64_t all[4] = {h->batch, h->q, h->queries, h->keys + h->past};
	const uint32_t rank = upto(g, 4);
	int64_t dim[4];
	value_id v;

	for (uint32_t i = 0; i < rank; i++)
		dim[i] = i + 1 < rank && one_in(g, 3) ? 1 : all[4 - rank + i];
	v = new_tensor(g, dim, rank);
	if (!may_be_bool || !one_in(g, 2))
		return v;
	return MAKE(&g->m, LESSOREQUAL, v, make_scalar(&g->m, 0.3f));
}

static void
attention(struct generator *g, const struct heads *h)
{
	struct attributes at = {.n = 0};
	value_id in[8];

	add_from_table(g, &at, OP_ATTENTION);
	if (h->flat) {
		add_int(g, &at, "q_num_heads", h->q);
		add_int(g, &at, "kv_num_heads", h->kv);
	}
	in[0] = operand(g, h, h->q, h->queries, h->size, h->flat);
	in[1] = operand(g, h, h->kv, h->keys, h->size, h->flat);
	in[2] = operand(g, h, h->kv, h->keys, h->value_size, h->flat);
	in[3] = one_in(g, 2) ? mask(g, h, true) : VALUE_NONE;
	in[4] = VALUE_LAST;
	if (h->past) {
		in[4] = operand(g, h, h->kv, h->past, h->size, false);
		in[5] = operand(g, h, h->kv, h->past, h->value_size, false);
		in[6] = VALUE_LAST;
	}
	add_node(g, OP_ATTENTION, in, &at);
	for (uint32_t more = h->past ? 2 + rng_below(&g->r, 2)
	                             : one_in(g, 4) * 3;
	     more > 0; more--)
		make_more(&g->m);
}

static value_id
turned(struct generator *g, value_id keys)
{
	struct attributes at = {.n = 0};

	add_ints(g, &at, "perm", (int64_t[]){0, 1, 3, 2}, 4);
	return add_node(
	    g, OP_TRANSPOSE, (const value_id[]){keys, VALUE_LAST}, &at);
}

static value_id
transposed(struct generator *g, value_id x, const int64_t *perm, uint32_t n)
{
	struct attributes at = {.n = 0};

	add_ints(g, &at, "perm", perm, n);
	return add_node(
	    g, OP_TRANSPOSE, (const value_id[]){x, VALUE_LAST}, &at);
}

/* One of three that one product made, [batch, rows, 3 * heads * size]. */
static value_id
third(struct generator *g, const struct heads *h, value_id all, int64_t i)
{
	value_id x = MAKE(&g->m, SLICE, all, make_ints(&g->m, INTS(i)),
	    make_ints(&g->m, INTS(i + 1)), make_ints(&g->m, INTS(0)));

	return MAKE(&g->m, RESHAPE, x,
	    make_ints(&g->m, INTS(h->batch, h->q, h->keys, h->size)));
}

static void
thirds(struct generator *g, struct heads *h, value_id out[3])
{
	value_id x;

	h->queries = h->keys;
	h->value_size = h->size;
	x = operand(g, h, 3 * h->q, h->keys, h->size, true);
	x = MAKE(&g->m, RESHAPE, x,
	    make_ints(&g->m, INTS(h->batch, h->keys, 3, h->q, h->size)));
	x = transposed(g, x, (int64_t[]){2, 0, 3, 1, 4}, 5);
	for (int64_t i = 0; i < 3; i++)
		out[i] = third(g, h, x, i);
}

/* Each image has a mask of its own, as windows of one image have. */
static value_id
windowed(struct generator *g, const struct heads *h, value_id scores)
{
	const int64_t *all = INTS(h->batch, h->q, h->queries, h->keys);
	value_id masks = make_constant(&g->m,
	    DIMS(1, h->batch, one_in(g, 2) ? h->q : 1, h->queries, h->keys), -1,
	    1);
	value_id s = MAKE(&g->m, RESHAPE, scores,
	    make_ints(&g->m, INTS(1, h->batch, h->q, h->queries, h->keys)));

	return MAKE(
	    &g->m, RESHAPE, NODE_OF(g, ADD, s, masks), make_ints(&g->m, all));
}

/* Behind those of the past. */
static value_id
behind_past(
    struct generator *g, const struct heads *h, value_id now, int64_t size)
{
	struct attributes at = {.n = 0};
	value_id past = operand(g, h, h->q, h->past, size, false);

	add_int(g, &at, "axis", one_in(g, 2) ? 2 : -2);
	return add_node(
	    g, OP_CONCAT, (const value_id[]){past, now, VALUE_LAST}, &at);
}

static void
spelled(struct generator *g, struct heads *h)
{
	const bool moved = g->m.opset >= 10 && one_in(g, 2);
	struct attributes at = {.n = 0};
	value_id x[3], s;

	if (moved) {
		thirds(g, h, x);
	} else {
		x[0] = operand(g, h, h->q, h->queries, h->size, false);
		x[1] = operand(g, h, h->q, h->keys, h->size, false);
		x[2] = operand(g, h, h->q, h->keys, h->value_size, false);
	}
	if (h->past) {
		x[1] = behind_past(g, h, x[1], h->size);
		x[2] = behind_past(g, h, x[2], h->value_size);
	}
	add_int(g, &at, "axis", one_in(g, 2) ? 3 : -1);
	s = NODE_OF(g, MATMUL, x[0], turned(g, x[1]));
	if (!one_in(g, 4))
		s = one_in(g, 2) ? NODE_OF(g, MUL, s, make_scalar(&g->m, 0.4f))
		                 : NODE_OF(g, DIV, s, make_scalar(&g->m, 2));
	if (one_in(g, 2))
		s = NODE_OF(g, ADD, s, mask(g, h, false));
	if (moved && !h->past && one_in(g, 2))
		s = windowed(g, h, s);
	s = add_node(g, OP_SOFTMAX, (const value_id[]){s, VALUE_LAST}, &at);
	s = NODE_OF(g, MATMUL, s, x[2]);
	if (!moved)
		return;
	s = transposed(g, s, (int64_t[]){0, 2, 1, 3}, 4);
	NODE_OF(g, RESHAPE, s,
	    make_ints(&g->m, INTS(h->batch, h->queries, h->q * h->size)));
}

void
make_attention(struct generator *g)
{
	struct heads h = any_heads(g);

	if (g->m.opset >= OPERATOR_SINCE) {
		attention(g, &h);
		return;
	}
	spelled(g, &h);
}
