/* Makers of what moves, joins or resizes tensors, and of recurrent layers. */
#include <string.h>

#include "tests/fuzz/candidates/generate.h"

static void
transpose(struct generator *g)
{
	value_id x = take(g, 0);
	const uint32_t rank = type_of(g, x)->rank;
	struct attributes at = {.n = 0};
	int64_t perm[8];

	for (uint32_t i = 0; i < rank; i++)
		perm[i] = i;
	for (uint32_t i = rank; i-- > 1;) {
		uint32_t k = rng_below(&g->r, i + 1);
		int64_t p = perm[i];

		perm[i] = perm[k];
		perm[k] = p;
	}
	if (!one_in(g, 4))
		add_ints(g, &at, "perm", perm, rank);
	add_node(g, OP_TRANSPOSE, (const value_id[]){x, VALUE_LAST}, &at);
}

static void
pad(struct generator *g)
{
	value_id x = take(g, 0);
	const uint32_t rank = type_of(g, x)->rank;
	struct attributes at = {.n = 0};
	int64_t pads[17];

	for (uint32_t i = 0; i < 2 * rank; i++)
		pads[i] = one_in(g, 2) ? 0 : (int64_t)upto(g, 3) - one_in(g, 8);
	pads[2 * rank] = INTS_END;
	add_from_table(g, &at, OP_PAD);
	if (g->m.opset < 11) {
		add_ints(g, &at, "pads", pads, 2 * rank);
		add_node(g, OP_PAD, (const value_id[]){x, VALUE_LAST}, &at);
		return;
	}
	add_node(g, OP_PAD,
	    (const value_id[]){x, make_ints(&g->m, pads),
	        one_in(g, 2) ? VALUE_LAST : make_scalar(&g->m, 0.25f),
	        VALUE_LAST},
	    &at);
}

static void
concat(struct generator *g)
{
	value_id x = take(g, 0), y;
	const struct type t = *type_of(g, x);
	const uint32_t axis =
	    one_in(g, 2) && t.rank > 1 ? 1 : rng_below(&g->r, t.rank);
	struct attributes at = {.n = 0};
	int64_t dim[8];

	for (uint32_t i = 0; i < t.rank; i++)
		dim[i] = t.dim[i];
	dim[axis] = any_dim(g);
	y = one_in(g, 3) ? x : new_tensor(g, dim, t.rank);
	add_int(g, &at, "axis",
	    one_in(g, 3) ? (int64_t)axis - t.rank : (int64_t)axis);
	add_node(g, OP_CONCAT,
	    (const value_id[]){x, y, one_in(g, 3) ? x : VALUE_LAST, VALUE_LAST},
	    &at);
}

static value_id
scales(struct generator *g, const struct type *t, bool whole)
{
	static const float factor[] = {2, 1, 3, 4, 1.5f, 0.5f};
	struct tensor *c = arena_new(g->m.arena, struct tensor, 1);
	float *x = arena_new(g->m.arena, float, t->rank);
	int64_t *dim = arena_new(g->m.arena, int64_t, 1);

	dim[0] = t->rank;
	for (uint32_t i = 0; i < t->rank; i++)
		x[i] = i < 2 && !one_in(g, 20)
		    ? 1
		    : factor[rng_below(&g->r, whole ? 4 : 6)];
	*c = tensor_view(DT_FLOAT, 1, dim, x);
	return graph_add_constant(g->m.graph,
	    arena_printf(g->m.arena, "s%u", (unsigned)g->m.graph->nvalues), c);
}

static void
resize(struct generator *g)
{
	static const char *const mode[] = {"nearest", "linear", "cubic"};
	value_id x = take(g, one_in(g, 5) ? 3 : 4), s;
	const struct type t = *type_of(g, x);
	const bool nearest = one_in(g, 2);
	struct attributes at = {.n = 0};

	add_from_table(g, &at, OP_RESIZE);
	add_text(g, &at, "mode", mode[nearest ? 0 : 1 + one_in(g, 6)]);
	s = scales(g, &t, nearest);
	if (g->m.opset >= 18 && one_in(g, 4)) {
		add_ints(g, &at, "axes", (const int64_t[]){2, t.rank - 1},
		    t.rank - 2);
		s = scales(
		    g, &(const struct type){.rank = t.rank - 2}, nearest);
	}
	if (g->m.opset < 10 && g->m.opset >= 9)
		add_node(g, OP_UPSAMPLE, (const value_id[]){x, s, VALUE_LAST},
		    &(struct attributes){{at.item[at.n - 1]}, 1});
	else if (g->m.opset == 10)
		add_node(g, OP_RESIZE, (const value_id[]){x, s, VALUE_LAST},
		    &(struct attributes){{at.item[at.n - 1]}, 1});
	else if (g->m.opset > 10)
		add_node(g, OP_RESIZE,
		    (const value_id[]){x,
		        g->m.opset >= 13 ? VALUE_NONE : scales(g, &t, true), s,
		        VALUE_LAST},
		    &at);
}

static void
reshape(struct generator *g)
{
	value_id x = take(g, 0);
	struct attributes at = {.n = 0};

	if (one_in(g, 2)) {
		add_from_table(g, &at, OP_FLATTEN);
		add_node(g, OP_FLATTEN, (const value_id[]){x, VALUE_LAST}, &at);
	} else {
		static const int64_t to[][4] = {{0, -1, INTS_END},
		    {-1, INTS_END}, {0, -1, 1, INTS_END}, {1, 0, -1, INTS_END}};

		add_from_table(g, &at, OP_RESHAPE);
		add_node(g, OP_RESHAPE,
		    (const value_id[]){x,
		        make_ints(&g->m, to[rng_below(&g->r, 4)]), VALUE_LAST},
		    &at);
	}
}

static void
slice(struct generator *g)
{
	value_id x = take(g, 0);
	const uint32_t axis = rng_below(&g->r, type_of(g, x)->rank);
	const int64_t n = type_of(g, x)->dim[axis];
	const int64_t from = rng_below(&g->r, (uint32_t)n);

	if (g->m.opset < 10 || n < 2)
		return;
	NODE_OF(g, SLICE, x, make_ints(&g->m, INTS(from)),
	    make_ints(&g->m, INTS(from + upto(g, 4))),
	    make_ints(&g->m, INTS(axis)));
}

/* Quantised and back, with one scale, one along an axis, or one a block. */
static void
quantised(struct generator *g)
{
	struct attributes at = {.n = 0}, back = {.n = 0};
	value_id s, y, x = take(g, 0);
	const struct type t = *type_of(g, x);
	const uint32_t axis = rng_below(&g->r, t.rank);
	int64_t dim[8], n = t.dim[axis];

	if (g->m.opset < 10)
		return;
	memcpy(dim, t.dim, t.rank * sizeof *dim);
	if (g->m.opset >= 21 && n % 2 == 0 && one_in(g, 3)) {
		dim[axis] /= 2;
		s = new_constant(g, dim, t.rank, 0.01f, 0.05f);
		add_int(g, &at, "block_size", 2);
		add_int(g, &back, "block_size", 2);
	} else if (g->m.opset >= 13 && one_in(g, 2)) {
		s = new_constant(g, &n, 1, 0.01f, 0.05f);
	} else {
		s = make_scalar(&g->m, 0.02f);
	}
	if (g->m.opset >= 13) {
		add_int(g, &at, "axis", axis);
		add_int(g, &back, "axis", axis);
	}
	if (g->m.opset >= 19 && one_in(g, 2))
		add_int(g, &at, "saturate", one_in(g, 2));
	if (g->m.opset >= 21 && one_in(g, 2))
		add_int(g, &at, "output_dtype", 3);
	if (g->m.opset >= 23 && one_in(g, 2))
		add_int(g, &at, "precision", 1);
	y = make_node(&g->m, OP_QUANTIZELINEAR,
	    (const value_id[]){x, s, VALUE_LAST}, at.item, at.n);
	add_node(g, OP_DEQUANTIZELINEAR, (const value_id[]){y, s, VALUE_LAST},
	    &back);
}

/* What only moves elements, in both forms of its axes. */
static value_id
moved_again(struct generator *g, value_id x, uint32_t rank)
{
	const uint32_t axis = rng_below(&g->r, rank);
	const int64_t one = 1;
	struct attributes at = {.n = 0};
	value_id in[3] = {x, VALUE_LAST, VALUE_LAST};

	switch (rng_below(&g->r, 3)) {
	case 0:
		return MAKE(&g->m, RESHAPE, x, make_ints(&g->m, INTS(0, -1)));
	case 1:
		add_int(g, &at, "axis", axis);
		in[1] = make_ints(&g->m, INTS(0, -1, 0));
		return make_node(&g->m, OP_GATHER, in, at.item, at.n);
	default:
		if (g->m.opset < 13)
			add_ints(g, &at, "axes", &one, 1);
		else
			in[1] = make_ints(&g->m, INTS(1));
		x = make_node(&g->m, OP_UNSQUEEZE, in, at.item, at.n);
		in[0] = x;
		return one_in(g, 2)
		    ? x
		    : make_node(&g->m, OP_SQUEEZE, in, at.item, at.n);
	}
}

/* As bytes and as numbers again. */
static value_id
rounded(struct generator *g, value_id x, float scale)
{
	const value_id s = make_scalar(&g->m, scale);

	return MAKE(
	    &g->m, DEQUANTIZELINEAR, MAKE(&g->m, QUANTIZELINEAR, x, s), s);
}

/* Joined, normalised and spread over a larger image between quantisers; no number is
 * drawn. */
static void
quantised_channels(struct generator *g, value_id x, int64_t channels)
{
	const struct attr one[] = {ATTR_OF_INT("axis", 1)};
	const struct attr twice[] = {ATTR_OF_INTS("strides", 2, 2)};
	const int64_t all = 3 * channels, filters[] = {all, 5, 2, 2, 0};
	struct maker *m = &g->m;
	const value_id twice_there = rounded(g, x, 0.02f);
	value_id y = MAKE_WITH(
	    m, CONCAT, one, twice_there, rounded(g, x, 0.03f), twice_there);

	y = MAKE(m, BATCHNORMALIZATION, rounded(g, y, 0.025f),
	    new_constant(g, &all, 1, 0.5f, 1.5f),
	    new_constant(g, &all, 1, -0.5f, 0.5f),
	    new_constant(g, &all, 1, -0.5f, 0.5f),
	    new_constant(g, &all, 1, 0.3f, 1.5f));
	y = MAKE(m, RELU, y);
	y = MAKE_WITH(m, CONVTRANSPOSE, twice, rounded(g, y, 0.02f),
	    MAKE(m, DEQUANTIZELINEAR, make_int8(m, filters),
	        make_scalar(m, 0.002f)));
	NODE_OF(g, DEQUANTIZELINEAR,
	    MAKE(m, QUANTIZELINEAR, y, make_scalar(m, 0.05f)),
	    make_scalar(m, 0.05f));
}

/* Moved as bytes, once or twice. */
void
make_quantised_move(struct generator *g)
{
	struct maker *m = &g->m;
	const value_id s = make_scalar(m, 0.02f);
	value_id x = take(g, 0);
	const uint32_t rank = type_of(g, x)->rank;

	if (m->opset < 10)
		return;
	if (rank == 4 && type_of(g, x)->dim[1] % 3 == 2) {
		quantised_channels(g, x, type_of(g, x)->dim[1]);
		return;
	}
	x = MAKE(m, DEQUANTIZELINEAR, MAKE(m, QUANTIZELINEAR, x, s), s);
	x = MAKE(m, TRANSPOSE, x);
	if (one_in(g, 2))
		x = MAKE(m, DEQUANTIZELINEAR, MAKE(m, QUANTIZELINEAR, x, s), s);
	if (one_in(g, 2) && rank > 1)
		x = moved_again(g, x, rank);
	NODE_OF(g, DEQUANTIZELINEAR, MAKE(m, QUANTIZELINEAR, x, s), s);
}

static value_id
part_of(struct generator *g, value_id x, uint32_t axis, int64_t from,
    int64_t to, int64_t step)
{
	return MAKE(&g->m, SLICE, x, make_ints(&g->m, INTS(from)),
	    make_ints(&g->m, INTS(to)), make_ints(&g->m, INTS(axis)),
	    make_ints(&g->m, INTS(step)));
}

/* Turned round in a dimension. */
static value_id
rolled(struct generator *g, value_id x, const struct type *t)
{
	const uint32_t axis = rng_below(&g->r, t->rank);
	const int64_t n = t->dim[axis], by = rng_below(&g->r, (uint32_t)n);
	struct attributes at = {.n = 0};

	add_int(g, &at, "axis", axis);
	return add_node(g, OP_CONCAT,
	    (const value_id[]){part_of(g, x, axis, by, n, 1),
	        part_of(g, x, axis, by == 0 ? n - 1 : 0, by == 0 ? n : by, 1),
	        VALUE_LAST},
	    &at);
}

/* Parts of one tensor joined again: turned round, or every second element. */
void
make_parts(struct generator *g)
{
	value_id x = take(g, 0), part[5];
	const struct type t = *type_of(g, x);
	const uint32_t a = rng_below(&g->r, t.rank);
	const uint32_t b = rng_below(&g->r, t.rank);
	struct attributes at = {.n = 0};

	if (g->m.opset < 10)
		return;
	if (one_in(g, 2) || a == b || t.dim[a] % 2 || t.dim[b] % 2) {
		x = rolled(g, x, &t);
		if (one_in(g, 2))
			rolled(g, x, type_of(g, x));
		return;
	}
	for (int64_t i = 0; i < 4; i++)
		part[i] = part_of(g, part_of(g, x, a, i % 2, t.dim[a], 2), b,
		    i / 2, t.dim[b], 2);
	part[4] = VALUE_LAST;
	add_int(g, &at, "axis", rng_below(&g->r, t.rank));
	add_node(g, OP_CONCAT, part, &at);
}

/* A product of x, quantised by its own range, with weights kept as integers. */
static void
dynamic_product(struct generator *g, value_id x, value_id w, int64_t out)
{
	struct maker *m = &g->m;
	struct attributes to = {.n = 0};
	value_id s, z, y = MAKE(m, DYNAMICQUANTIZELINEAR, x);

	s = make_more(m);
	z = make_more(m);
	y = one_in(g, 2)
	    ? MAKE(m, MATMULINTEGER, y, w, z)
	    : MAKE(m, MATMULINTEGER, y, w, z,
	        make_int8(m, (const int64_t[]){out % 2 ? out : 0, 0}));
	add_int(g, &to, "to", DT_FLOAT);
	add_from_table(g, &to, OP_CAST);
	y = make_node(
	    m, OP_CAST, (const value_id[]){y, VALUE_LAST}, to.item, to.n);
	s = MAKE(m, MUL, s, make_scalar(m, 0.01f));
	y = NODE_OF(g, MUL, y, s);
	if (one_in(g, 2))
		NODE_OF(g, ADD, y, new_constant(g, &out, 1, -1, 1));
}

/* A product with weights kept as integers, with one scale, one a column, or one
 * a block. */
static void
quantised_weights(struct generator *g)
{
	value_id w, s, x = take(g, one_in(g, 2) ? 2 : 3);
	const struct type t = *type_of(g, x);
	const int64_t in = t.dim[t.rank - 1], out = any_dim(g);
	struct attributes at = {.n = 0};
	int64_t dim[2] = {out, 0};

	w = make_int8(&g->m, (const int64_t[]){in, out, 0});
	if (g->m.opset >= 11 && out % 3 == 0) { /* no number is drawn */
		dynamic_product(g, x, w, out);
		return;
	}
	if (g->m.opset >= 21 && in % 2 == 0 && one_in(g, 2)) {
		dim[0] = in / 2;
		dim[1] = out;
		add_int(g, &at, "axis", 0);
		add_int(g, &at, "block_size", 2);
		s = new_constant(g, dim, 2, 0.001f, 0.02f);
	} else if (g->m.opset >= 13 && one_in(g, 2)) {
		add_int(g, &at, "axis", one_in(g, 2) ? 1 : -1);
		s = new_constant(g, dim, 1, 0.001f, 0.02f);
	} else {
		s = make_scalar(&g->m, 0.01f);
	}
	if (g->m.opset >= 23)
		add_int(g, &at, "output_dtype", 1);
	w = add_node(
	    g, OP_DEQUANTIZELINEAR, (const value_id[]){w, s, VALUE_LAST}, &at);
	NODE_OF(g, MATMUL, x, w);
}

void
make_moved(struct generator *g)
{
	static void (*const maker[])(struct generator *) = {transpose, pad,
	    concat, concat, resize, resize, reshape, slice, quantised,
	    quantised_weights};

	maker[rng_below(&g->r, sizeof maker / sizeof *maker)](g);
}
