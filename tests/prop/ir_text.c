/* Random graphs print, parse back and print the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text.h"
#include "tests/support/support.h"

#define CASES 2000u

struct maker {
	struct rng rng;
	struct arena *a;
};

static uint32_t
below(struct maker *m, uint32_t n)
{
	return rng_below(&m->rng, n);
}

static struct string_view
make_string(struct maker *m)
{
	static const char alphabet[] = "abc\"\\ \n\t\x01\xc3\xbf%[]";
	uint32_t n = below(m, 8);
	char *s = arena_alloc(m->a, n + 1);

	for (uint32_t i = 0; i < n; i++)
		s[i] = alphabet[below(m, sizeof alphabet - 1)];
	return (struct string_view){s, n};
}

static int64_t
make_dim(struct maker *m, struct graph *g)
{
	static const char *const name[] = {"N", "seq len", "2*N+1"};
	uint32_t k = below(m, 6);

	if (k < 3)
		return k;
	if (k == 3)
		return DIM_UNKNOWN;
	return DIM_SYMBOL(graph_symbol(g, name[below(m, 3)]));
}

static enum dtype
make_dtype(struct maker *m)
{
	static const enum dtype some[] = {DT_FLOAT, DT_INT64, DT_BOOL,
	    DT_FLOAT16, DT_INT4, DT_UINT8, DT_COMPLEX128};

	return some[below(m, sizeof some / sizeof some[0])];
}

static struct type
make_type(struct maker *m, struct graph *g, uint32_t depth)
{
	static const enum type_kind kind[] = {TYPE_TENSOR, TYPE_TENSOR,
	    TYPE_TENSOR, TYPE_UNKNOWN, TYPE_OPAQUE, TYPE_SEQUENCE,
	    TYPE_OPTIONAL};
	struct type t = {.kind = kind[below(m, depth < 3 ? 7 : 5)]};
	int64_t *dim;

	if (t.kind == TYPE_SEQUENCE || t.kind == TYPE_OPTIONAL) {
		struct type *elem = arena_new(m->a, struct type, 1);

		*elem = make_type(m, g, depth + 1);
		t.elem = elem;
	}
	if (t.kind != TYPE_TENSOR)
		return t;
	t.dtype = below(m, 9) ? make_dtype(m) : DT_UNDEFINED;
	t.rank = below(m, 5) ? below(m, 4) : RANK_UNKNOWN;
	if (t.rank == RANK_UNKNOWN)
		return t;
	dim = arena_new(m->a, int64_t, t.rank);
	for (uint32_t i = 0; i < t.rank; i++)
		dim[i] = make_dim(m, g);
	t.dim = dim;
	return t;
}

static struct tensor
make_tensor(struct maker *m)
{
	enum dtype dtype = make_dtype(m);
	uint32_t rank = below(m, 3);
	int64_t *dim = arena_new(m->a, int64_t, rank);
	unsigned char *data = arena_alloc(m->a, 4096);
	struct tensor t;

	for (uint32_t i = 0; i < rank; i++)
		dim[i] = below(m, 4);
	for (uint32_t i = 0; i < 256; i++)
		data[i] = (unsigned char)below(m, 256);
	t = tensor_view(dtype, rank, dim, data);
	if (dtype_bits(dtype) >= 8 && below(m, 2))
		t = tensor_fill(dtype, rank, dim, data);
	if (below(m, 8) == 0) {
		struct string_view *s =
		    arena_new(m->a, struct string_view, t.count);

		for (size_t i = 0; i < t.count; i++)
			s[i] = make_string(m);
		t.dtype = DT_STRING;
		t.kind = TENSOR_STRINGS;
		t.string = s;
	}
	return t;
}

static struct graph *make_graph(
    struct maker *m, uint32_t slots, uint32_t depth);

/* One list entry (or more) of each kind. */
static struct attr
make_attr(struct maker *m, struct graph *g, uint32_t slots, uint32_t depth)
{
	struct attr a = {.kind = (enum attr_kind)(1 + below(m, 14))};
	bool list =
	    a.kind > ATTR_GRAPH && a.kind != ATTR_SPARSE && a.kind != ATTR_TYPE;
	float *floats = arena_new(m->a, float, 3);
	int64_t *ints = arena_new(m->a, int64_t, 3);
	struct string_view *strings = arena_new(m->a, struct string_view, 3);
	struct tensor *tensors = arena_new(m->a, struct tensor, 3);
	struct graph **graphs = arena_new(m->a, struct graph *, 3);
	struct type *types = arena_new(m->a, struct type, 3);

	if (depth > 2 && (a.kind == ATTR_GRAPH || a.kind == ATTR_GRAPHS))
		a.kind = list ? ATTR_INTS : ATTR_INT;
	a.n = list ? below(m, 4) : 1;
	for (uint32_t i = 0; i < a.n; i++) {
		uint64_t bits = rng_next(&m->rng);

		memcpy(&floats[i], &bits, sizeof floats[i]);
		ints[i] = (int64_t)bits;
		strings[i] = make_string(m);
		tensors[i] = make_tensor(m);
		types[i] = make_type(m, g, 0);
		if (a.kind == ATTR_GRAPH || a.kind == ATTR_GRAPHS)
			graphs[i] = make_graph(m, slots, depth + 1);
	}
	a.name = arena_printf(m->a, "a%u", below(m, 100));
	if (a.kind == ATTR_FLOAT || a.kind == ATTR_FLOATS)
		a.floats = floats;
	else if (a.kind == ATTR_INT || a.kind == ATTR_INTS)
		a.ints = ints;
	else if (a.kind == ATTR_STRING || a.kind == ATTR_STRINGS)
		a.strings = strings;
	else if (a.kind == ATTR_GRAPH || a.kind == ATTR_GRAPHS)
		a.graphs = graphs;
	else if (a.kind == ATTR_TYPE || a.kind == ATTR_TYPES)
		a.types = types;
	else
		a.tensors = tensors;
	return a;
}

static value_id
make_value(struct maker *m, struct graph *g)
{
	struct type t = make_type(m, g, 0);

	return graph_add_value(g, arena_printf(m->a, "v %u", g->nvalues), &t);
}

static void
make_node(struct maker *m, struct graph *g, uint32_t depth)
{
	enum op op = (enum op)(1 + below(m, NOP - 1));
	struct node n = {.op = op, .op_type = op_get(op)->type};
	struct attr *attr = arena_new(m->a, struct attr, 3);
	uint32_t known = g->nvalues;

	n.domain = below(m, 4) ? "" : "com.example";
	if (n.domain[0])
		n.op = OP_CUSTOM;
	n.opset = below(m, 30);
	n.name = arena_printf(m->a, "node\"%u", g->nnodes);
	n.ninputs = below(m, 4);
	n.nimplicit = below(m, 3);
	n.noutputs = 1 + below(m, 2);
	n.input = arena_new(m->a, value_id, n.ninputs + n.nimplicit);
	n.output = arena_new(m->a, value_id, n.noutputs);
	for (uint32_t i = 0; i < n.ninputs + n.nimplicit; i++)
		n.input[i] =
		    below(m, 5) && known ? below(m, known) : VALUE_NONE;
	for (uint32_t i = 0; i < n.noutputs; i++)
		n.output[i] = below(m, 6) ? make_value(m, g) : VALUE_NONE;
	n.nattrs = below(m, 4);
	for (uint32_t i = 0; i < n.nattrs; i++)
		attr[i] = make_attr(m, g, n.nimplicit, depth);
	n.attr = attr;
	graph_add_node(g, &n);
}

static struct graph *
make_graph(struct maker *m, uint32_t slots, uint32_t depth)
{
	struct graph *g = graph_new(m->a, "g {");
	struct capture *capture = arena_new(m->a, struct capture, slots);
	value_id *out = arena_new(m->a, value_id, 4);
	value_id *in = arena_new(m->a, value_id, 4);

	for (uint32_t i = 0; i < slots; i++)
		capture[g->ncaptures++] = (struct capture){i, make_value(m, g)};
	g->capture = capture;
	for (uint32_t i = below(m, 4); i-- > 0;)
		in[g->ninputs++] = make_value(m, g);
	for (uint32_t i = below(m, 3); i-- > 0;) {
		struct tensor *t = arena_new(m->a, struct tensor, 1);

		*t = make_tensor(m);
		graph_add_constant(g, arena_printf(m->a, "c%u", g->nvalues), t);
	}
	for (uint32_t i = below(m, depth ? 3 : 6); i-- > 0;)
		make_node(m, g, depth);
	for (uint32_t i = g->nvalues ? below(m, 4) : 0; i-- > 0;)
		out[g->noutputs++] = below(m, g->nvalues);
	g->input = in;
	g->output = out;
	return g;
}

static char *
printed(const struct graph *g, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	graph_print(f, g);
	fclose(f);
	return text;
}

static bool
run_case(uint64_t seed)
{
	struct maker m = {.rng = rng_seeded(seed)};
	struct err err = {.kind = ERR_NONE};
	struct graph *again;
	struct arena a;
	char *first, *second = NULL;
	size_t n, n2 = 0;
	bool ok;

	arena_init(&a);
	m.a = &a;
	first = printed(make_graph(&m, 0, 0), &n);
	ok = graph_parse(&again, first, n, "text", &a, &err);
	if (!ok) {
		printf("%s\n%s\n", err.text, first);
	} else {
		graph_verify(again);
		second = printed(again, &n2);
		ok = n == n2 && memcmp(first, second, n) == 0;
		if (!ok)
			printf("%s\n--- is not\n%s\n", first, second);
	}
	free(first);
	free(second);
	arena_release(&a);
	return ok;
}

int
main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint32_t cases = argc > 1 ? 1 : CASES;

	for (uint64_t seed = first; seed < first + cases; seed++)
		if (!run_case(seed)) {
			printf("seed %" PRIu64 " fails\n", seed);
			return 1;
		}
	printf("%u graphs print and parse\n", cases);
	return 0;
}
