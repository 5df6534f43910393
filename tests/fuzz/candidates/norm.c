/* Makers of normalisations, distributions and reductions. */
#include "tests/fuzz/candidates/generate.h"

static value_id
channels(struct generator *g, int64_t n, float low, float high)
{
	return new_constant(g, &n, 1, low, high);
}

static value_id
batch_norm(struct generator *g, value_id x)
{
	const int64_t n = type_of(g, x)->dim[1];
	struct attributes at = {.n = 0};

	add_from_table(g, &at, OP_BATCHNORMALIZATION);
	return add_node(g, OP_BATCHNORMALIZATION,
	    (const value_id[]){x, channels(g, n, 0.5f, 1.5f),
	        channels(g, n, -0.5f, 0.5f), channels(g, n, -0.5f, 0.5f),
	        channels(g, n, 0.3f, 1.5f), VALUE_LAST},
	    &at);
}

/* Of a tensor, or of a sum. */
static value_id
to_normalise(struct generator *g)
{
	const value_id x = take(g, 0);

	return one_in(g, 3) ? NODE_OF(g, ADD, x, NODE_OF(g, ABS, x)) : x;
}

static void
layer_norm(struct generator *g)
{
	const bool centred = g->m.opset < 23 || one_in(g, 2);
	const enum op op =
	    centred ? OP_LAYERNORMALIZATION : OP_RMSNORMALIZATION;
	value_id x = to_normalise(g), scale, shift;
	const struct type t = *type_of(g, x);
	const uint32_t axis = rng_below(&g->r, t.rank);
	struct attributes at = {.n = 0};

	if (g->m.opset < 17)
		return;
	add_from_table(g, &at, op);
	add_int(g, &at, "axis",
	    one_in(g, 2) ? (int64_t)axis : (int64_t)axis - t.rank);
	scale = new_constant(g, t.dim + axis, t.rank - axis, 0.5f, 1.5f);
	shift = new_constant(g, t.dim + axis, t.rank - axis, -0.5f, 0.5f);
	add_node(g, op,
	    (const value_id[]){x, scale,
	        !centred || one_in(g, 2) ? VALUE_LAST : shift, VALUE_LAST},
	    &at);
	for (uint32_t more = centred && one_in(g, 4) ? upto(g, 2) : 0; more > 0;
	     more--)
		make_more(&g->m);
}

static void
group_norm(struct generator *g)
{
	value_id x = take(g, one_in(g, 4) ? 3 : 4);
	const int64_t n = type_of(g, x)->dim[1];
	const bool grouped = g->m.opset >= 18 && one_in(g, 2);
	const enum op op =
	    grouped ? OP_GROUPNORMALIZATION : OP_INSTANCENORMALIZATION;
	const int64_t groups = n % 2 == 0 && one_in(g, 2) ? n / 2 : 1;
	const int64_t scales = grouped && g->m.opset < 21 ? groups : n;
	struct attributes at = {.n = 0};

	add_from_table(g, &at, op);
	if (grouped)
		add_int(g, &at, "num_groups", groups);
	add_node(g, op,
	    (const value_id[]){x, channels(g, scales, 0.5f, 1.5f),
	        channels(g, scales, -0.5f, 0.5f), VALUE_LAST},
	    &at);
}

static void
reduction(struct generator *g)
{
	static const enum op op[] = {OP_REDUCEMEAN, OP_REDUCEMEAN, OP_REDUCESUM,
	    OP_REDUCEMAX, OP_REDUCEMIN, OP_REDUCEPROD, OP_REDUCEL1, OP_REDUCEL2,
	    OP_REDUCESUMSQUARE, OP_REDUCELOGSUMEXP};
	const enum op which = op[rng_below(&g->r, 10)];
	const uint32_t since = which == OP_REDUCESUM ? 13 : 18;
	value_id x = take(g, 0);
	const uint32_t rank = type_of(g, x)->rank;
	struct attributes at = {.n = 0};
	int64_t axis[8];
	uint32_t n = 0;

	for (uint32_t i = 0; i < rank; i++)
		if (one_in(g, 2))
			axis[n++] = one_in(g, 3) ? (int64_t)i - rank : i;
	add_from_table(g, &at, which);
	axis[n] = INTS_END;
	if (g->m.opset < since && n > 0)
		add_ints(g, &at, "axes", axis, n);
	add_node(g, which,
	    (const value_id[]){x,
	        g->m.opset >= since && n > 0 ? make_ints(&g->m, axis)
	                                     : VALUE_LAST,
	        VALUE_LAST},
	    &at);
}

static void
response(struct generator *g)
{
	struct attributes at = {.n = 0};

	add_from_table(g, &at, OP_LRN);
	add_int(g, &at, "size", upto(g, 5));
	add_node(g, OP_LRN, (const value_id[]){take(g, 4), VALUE_LAST}, &at);
}

static void
distribution(struct generator *g)
{
	const enum op op = one_in(g, 3) ? OP_LOGSOFTMAX : OP_SOFTMAX;
	struct attributes at = {.n = 0};

	add_from_table(g, &at, op);
	add_node(g, op, (const value_id[]){take(g, 0), VALUE_LAST}, &at);
}

void
make_norm(struct generator *g)
{
	switch (rng_below(&g->r, 8)) {
	case 0:
		layer_norm(g);
		break;
	case 1:
	case 2:
		batch_norm(g, take(g, one_in(g, 4) ? 3 : 4));
		break;
	case 3:
		response(g);
		break;
	case 4:
	case 5:
		distribution(g);
		break;
	case 6:
		group_norm(g);
		break;
	default:
		reduction(g);
	}
}
