#include "tests/fuzz/candidates/generate.h"

#include <string.h>

#include "ir/normalize.h"
#include "ir/schema.h"
#include "targets/host/host.h"
#include "tests/fuzz/candidates/values.h"

/* ---- values of attributes ---- */

static struct attr
attr_of(struct generator *g, const struct attr_values *v)
{
	const uint32_t k = rng_below(&g->r, v->n);
	struct attr a = {.name = v->name, .n = 1};

	if (v->kind == VALUES_INT) {
		a.kind = ATTR_INT;
		a.ints = &v->ints[k];
	} else if (v->kind == VALUES_FLOAT) {
		a.kind = ATTR_FLOAT;
		a.floats = &v->floats[k];
	} else {
		struct string_view *s =
		    arena_new(g->m.arena, struct string_view, 1);

		*s = (struct string_view){v->strings[k], strlen(v->strings[k])};
		a.kind = ATTR_STRING;
		a.strings = s;
	}
	return a;
}

void
add_from_table(struct generator *g, struct attributes *at, enum op op)
{
	for (uint32_t i = 0; i < nvalues; i++) {
		enum attr_kind kind;
		struct attr a;

		if (values[i].op != op || values[i].kind == VALUES_MADE
		    || one_in(g, 2) || at->n == ATTRS_MAX)
			continue;
		a = attr_of(g, &values[i]);
		if (schema_attr(op, g->m.opset, &a, &kind) == ATTR_FITS)
			at->item[at->n++] = a;
	}
}

/* ---- choosing ---- */

uint32_t
upto(struct generator *g, uint32_t n)
{
	return 1 + rng_below(&g->r, n);
}

bool
one_in(struct generator *g, uint32_t n)
{
	return rng_below(&g->r, n) == 0;
}

int64_t
any_dim(struct generator *g)
{
	static const int64_t dim[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17};

	return dim[rng_below(&g->r, sizeof dim / sizeof *dim)];
}

/* More than 64 now and then: kernels for those are others. */
int64_t
any_channels(struct generator *g)
{
	static const int64_t n[] = {1, 2, 3, 4, 6, 7, 8, 8, 9, 12, 16, 16, 17,
	    24, 32, 48, 64, 65, 80, 96, 128, 144};

	return n[rng_below(
	    &g->r, one_in(g, 4) ? (uint32_t)(sizeof n / sizeof *n) : 14)];
}

const struct type *
type_of(const struct generator *g, value_id v)
{
	return &graph_value(g->m.graph, v)->type;
}

/* ---- values ---- */

static const int64_t *
ended(struct generator *g, const int64_t *dim, uint32_t rank)
{
	int64_t *copy = arena_new(g->m.arena, int64_t, rank + 1);

	memcpy(copy, dim, rank * sizeof *dim);
	return copy;
}

static void
remember(struct generator *g, value_id v)
{
	if (g->n < POOL_MAX)
		g->pool[g->n++] = v;
}

value_id
new_input(struct generator *g, const int64_t *dim, uint32_t rank)
{
	value_id v = make_input(&g->m, ended(g, dim, rank));

	remember(g, v);
	return v;
}

value_id
new_constant(struct generator *g, const int64_t *dim, uint32_t rank, float low,
    float high)
{
	return make_constant(&g->m, ended(g, dim, rank), low, high);
}

value_id
new_tensor(struct generator *g, const int64_t *dim, uint32_t rank)
{
	if (one_in(g, 2))
		return new_input(g, dim, rank);
	return new_constant(g, dim, rank, -1, 1);
}

static value_id
fresh(struct generator *g, uint32_t rank)
{
	int64_t dim[6];

	rank = rank ? rank : one_in(g, 2) ? 4 : upto(g, 5);
	for (uint32_t i = 0; i < rank; i++)
		dim[i] = any_dim(g);
	if (rank >= 3) {
		dim[0] = upto(g, 2);
		dim[1] = any_channels(g);
	}
	return new_input(g, dim, rank);
}

/* The value made last most often: chains are what is fused. */
value_id
take(struct generator *g, uint32_t rank)
{
	for (uint32_t tries = 0; g->n > 0 && tries < 8; tries++) {
		value_id v = tries == 0 && !one_in(g, 4)
		    ? g->pool[g->n - 1]
		    : g->pool[rng_below(&g->r, g->n)];

		if (rank == 0 || type_of(g, v)->rank == rank)
			return v;
	}
	return fresh(g, rank);
}

/* ---- nodes ---- */

static void
add_attr(struct attributes *at, struct attr a)
{
	for (uint32_t i = 0; i < at->n; i++)
		if (strcmp(at->item[i].name, a.name) == 0) {
			at->item[i] = a;
			return;
		}
	if (at->n < ATTRS_MAX)
		at->item[at->n++] = a;
}

void
add_ints(struct generator *g, struct attributes *at, const char *name,
    const int64_t *x, uint32_t n)
{
	add_attr(at,
	    (struct attr){.name = name,
	        .kind = ATTR_INTS,
	        .n = n,
	        .ints = arena_copy(g->m.arena, x, n * sizeof *x)});
}

void
add_int(struct generator *g, struct attributes *at, const char *name, int64_t x)
{
	add_attr(at,
	    (struct attr){.name = name,
	        .kind = ATTR_INT,
	        .n = 1,
	        .ints = arena_copy(g->m.arena, &x, sizeof x)});
}

void
add_text(struct generator *g, struct attributes *at, const char *name,
    const char *text)
{
	struct string_view *s = arena_new(g->m.arena, struct string_view, 1);

	*s = (struct string_view){text, strlen(text)};
	add_attr(at,
	    (struct attr){
	        .name = name, .kind = ATTR_STRING, .n = 1, .strings = s});
}

/* Small enough for the reference to compute a thousand times. */
static bool
is_usable(const struct type *t)
{
	int64_t n = 1;

	if (t->kind != TYPE_TENSOR || t->dtype != DT_FLOAT || !type_is_static(t)
	    || t->rank > 6)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		n *= t->dim[i];
	return n > 0 && n <= 40000;
}

value_id
add_node(struct generator *g, enum op op, const value_id *in,
    const struct attributes *at)
{
	struct infer_options o = {.eval = NULL};
	struct err err = {.kind = ERR_NONE};
	value_id v =
	    make_node(&g->m, op, in, at ? at->item : NULL, at ? at->n : 0);

	if (!g->failed && op < OP_DYNAMICQUANTIZELSTM
	    && schema_since(op) > g->m.opset)
		g->failed = true;
	if (!g->failed && !infer(g->m.graph, &o, &err))
		g->failed = true;
	if (!g->failed && !is_usable(type_of(g, v)))
		g->failed = true;
	remember(g, v);
	return v;
}

/* ---- models ---- */

static void (*const family[])(struct generator *g) = {make_window, make_window,
    make_window, make_product, make_product, make_pointwise, make_pointwise,
    make_pointwise, make_pointwise, make_norm, make_moved, make_idiom,
    make_idiom};

/* What nothing reads, and now and then something that is read. */
static void
choose_outputs(struct generator *g)
{
	struct graph *m = g->m.graph;
	struct uses u = graph_uses(m, g->m.arena);

	for (value_id v = 0; v < m->nvalues; v++) {
		const struct value *value = graph_value(m, v);
		bool read = u.start[v] != u.start[v + 1];

		if (value->producer == NODE_NONE || (read && !one_in(g, 12)))
			continue;
		if (value->type.kind == TYPE_TENSOR && value->type.rank < 7)
			make_output(&g->m, v);
	}
}

/* SOURCE: ONNX has the operator from opset 23 on, windows from 25. */
static void
begin_with_attention(struct generator *g)
{
	g->m.opset = g->m.opset % 2 ? 25 : g->m.opset;
	make_attention(g);
}

#define CLASSES 32u /* of seeds */

/* Which classes' models begin with what the others seldom have. No number is drawn
 * for it, so that other seeds' models stay what they are. */
static void (*const first[CLASSES])(struct generator *g) = {
    [3] = make_narrow,
    [5] = begin_with_attention,
    [9] = make_quantised_move,
    [13] = make_sequence,
    [17] = make_parts,
    [25] = make_byte_sequence,
};

static bool
has_halves(uint32_t seed)
{
	return seed % CLASSES == 21 || seed % CLASSES == 27;
}

bool
generate(struct generator *g, uint32_t seed, struct arena *a)
{
	static const uint32_t opsets[] = {
	    7, 9, 10, 11, 12, 13, 14, 17, 17, 18, 19, 20, 22, 24};
	struct infer_options o = {.eval = host_eval};
	struct err err = {.kind = ERR_NONE};
	uint32_t steps;

	*g = (struct generator){.r = rng_seeded(seed + 1000003ull)};
	make_begin(&g->m, a);
	g->m.seed = (uint64_t)seed << 20;
	g->m.opset = opsets[rng_below(&g->r, sizeof opsets / sizeof *opsets)];
	steps = upto(g, 5);
	if (first[seed % CLASSES])
		first[seed % CLASSES](g);
	for (uint32_t i = 0; i < steps && !g->failed; i++) {
		if (one_in(g, 20))
			make_sequence(g);
		else
			family[rng_below(
			    &g->r, sizeof family / sizeof *family)](g);
	}
	if (g->failed)
		return false;
	choose_outputs(g);
	g->halves = has_halves(seed);
	if (g->halves)
		make_halves(&g->m);
	else if (one_in(g, 5)) {
		g->was_file = true;
		if (!read_back(g))
			return false;
	}
	return g->m.graph->noutputs > 0 && graph_sort(g->m.graph, &err)
	    && normalize(g->m.graph, &o, &err) && g->m.graph->nnodes > 0;
}
