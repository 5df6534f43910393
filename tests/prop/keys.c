/* Keys of random candidates: what a model's author may change without changing
 * what is computed leaves the key alone; what changes the price changes it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/key.h"
#include "ir/base/hash.h"
#include "tests/support/support.h"

#define NODES_MAX 10

static const struct rule rules[] = {{.name = "fake.a"}, {.name = "fake.b"}};
static const struct target_kind kind = {
    .name = "fake", .rule = rules, .nrules = 2};
static const struct target target = {.kind = &kind, .text = "fake"};

/* One random case: a graph, and a candidate of all its nodes. */
struct subject {
	struct arena *a;
	struct graph *g;
	struct mix mix;
	struct candidate c;
};

static const int64_t shape[] = {1, 8, 6, 6}, weights[] = {8, 8, 3, 3};

static struct type
float_type(uint32_t rank, const int64_t *dim)
{
	return (struct type){
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = rank, .dim = dim};
}

static value_id
add_weights(struct subject *s, uint64_t seed)
{
	struct tensor *t = arena_new(s->a, struct tensor, 1);
	float *x = arena_new(s->a, float, 8 * 8 * 3 * 3);
	struct rng r = rng_seeded(seed);

	for (int i = 0; i < 8 * 8 * 3 * 3; i++)
		x[i] = (float)rng_below(&r, 1000);
	*t = tensor_view(DT_FLOAT, 4, weights, x);
	return graph_add_constant(s->g, "w", t);
}

static value_id
add_scalar(struct subject *s, float x)
{
	struct tensor *t = arena_new(s->a, struct tensor, 1);

	*t = tensor_view(DT_FLOAT, 0, NULL, arena_copy(s->a, &x, sizeof x));
	return graph_add_constant(s->g, "limit", t);
}

static const struct attr *
add_ints(struct subject *s, const char *name, uint32_t n, const int64_t *x)
{
	struct attr *a = arena_new(s->a, struct attr, 1);

	*a = (struct attr){
	    .name = name,
	    .kind = ATTR_INTS,
	    .n = n,
	    .ints = arena_copy(s->a, x, n * sizeof *x),
	};
	return a;
}

static struct attr *
add_int(struct subject *s, const char *name, int64_t x)
{
	struct attr *a = arena_new(s->a, struct attr, 1);

	*a = *add_ints(s, name, 1, &x);
	a->kind = ATTR_INT;
	return a;
}

static struct attr *
add_float(struct subject *s, const char *name, float x)
{
	struct attr *a = arena_new(s->a, struct attr, 1);

	*a = (struct attr){.name = name,
	    .kind = ATTR_FLOAT,
	    .n = 1,
	    .floats = arena_copy(s->a, &x, sizeof x)};
	return a;
}

/* A node over values chosen so far; the value it makes. */
static value_id
add_node(struct subject *s, struct rng *r, const value_id *have, uint32_t n)
{
	static const int64_t pads[] = {1, 1, 1, 1};
	struct node node = {.domain = "", .name = "", .opset = 13};
	struct type type = float_type(4, shape);
	value_id *port = arena_new(s->a, value_id, 4);

	node.input = port;
	node.output = port + 3;
	node.noutputs = 1;
	port[0] = have[rng_below(r, n)];
	switch (rng_below(r, 7)) {
	case 0:
		node.op = OP_CONV;
		node.op_type = "Conv";
		node.ninputs = 2;
		port[1] = add_weights(s, rng_next(r));
		node.nattrs = 1;
		node.attr = add_ints(s, "pads", 4, pads);
		break;
	case 1:
		node.op = OP_ADD;
		node.op_type = "Add";
		node.ninputs = 2;
		port[1] = have[rng_below(r, n)];
		break;
	case 2:
		node.op = OP_CLIP;
		node.op_type = "Clip";
		node.ninputs = 3;
		port[1] = VALUE_NONE;
		port[2] = add_scalar(s, (float)rng_below(r, 8));
		break;
	case 3:
		node.op = OP_SOFTMAX;
		node.op_type = "Softmax";
		node.ninputs = 1;
		node.nattrs = 1;
		node.attr = add_int(s, "axis", rng_below(r, 4));
		break;
	case 4:
		node.op = OP_CELU;
		node.op_type = "Celu";
		node.ninputs = 1;
		break;
	case 5:
		node.op = OP_LEAKYRELU;
		node.op_type = "LeakyRelu";
		node.ninputs = 1;
		break;
	default:
		node.op = OP_RELU;
		node.op_type = "Relu";
		node.ninputs = 1;
		break;
	}
	port[3] = graph_add_value(s->g, "y", &type);
	graph_add_node(s->g, &node);
	return port[3];
}

/* The candidate's ports, worked out from the graph. */
static void
find_ports(struct subject *s)
{
	struct uses uses = graph_uses(s->g, s->a);
	struct port *in = arena_new(s->a, struct port, s->g->nvalues);
	struct port *out = arena_new(s->a, struct port, s->g->nvalues);
	node_id *all = arena_new(s->a, node_id, s->g->nnodes);

	s->c.input = in;
	s->c.output = out;
	s->c.ninputs = s->c.noutputs = 0;
	for (value_id v = 0; v < s->g->nvalues; v++) {
		if (s->g->value[v].constant)
			continue;
		if (s->g->value[v].producer == NODE_NONE)
			in[s->c.ninputs++] = (struct port){v, 1};
		else if (uses.start[v] == uses.start[v + 1])
			out[s->c.noutputs++] = (struct port){v, 1};
	}
	for (node_id i = 0; i < s->g->nnodes; i++)
		all[i] = i;
	s->c.node = all;
	s->c.nnodes = s->g->nnodes;
}

static struct subject
make(struct arena *a, uint64_t seed)
{
	struct subject s = {.a = a, .mix = {.target = &target, .n = 1}};
	struct rng r = rng_seeded(seed);
	value_id have[NODES_MAX + 2];
	uint32_t n = 0, nodes = 1 + rng_below(&r, NODES_MAX);
	struct type type = float_type(4, shape);

	formats_init(&s.mix.formats);
	format_intern(&s.mix.formats,
	    (struct format){SPACE_HOST, LAYOUT_NHWC, DT_UNDEFINED});
	s.g = graph_new(a, "case");
	have[n++] = graph_add_value(s.g, "x0", &type);
	have[n++] = graph_add_value(s.g, "x1", &type);
	for (uint32_t i = 0; i < nodes; i++) {
		value_id made = add_node(&s, &r, have, n);

		have[n++] = made;
	}
	s.c = (struct candidate){.implementation_name = "direct"};
	find_ports(&s);
	return s;
}

static struct hash128
key(const struct subject *s)
{
	struct arena scratch;
	struct keys keys;
	struct hash128 h;
	struct buf b;

	arena_init(&scratch);
	buf_init(&b);
	keys_init(&keys, s->g, &s->mix, &scratch);
	key_candidate(&keys, &b, &s->c, KEY_FULL, &scratch);
	h = hash128(b.data, b.n);
	buf_release(&b);
	arena_release(&scratch);
	return h;
}

static bool
same(struct hash128 a, struct hash128 b)
{
	return memcmp(a.byte, b.byte, sizeof a.byte) == 0;
}

/* ---- changes that change nothing ---- */

static void
rename_all(struct subject *s, struct rng *r)
{
	for (value_id v = 0; v < s->g->nvalues; v++)
		s->g->value[v].name =
		    arena_printf(s->a, "n%u", rng_below(r, 1000));
	for (node_id i = 0; i < s->g->nnodes; i++)
		s->g->node[i].name = "renamed";
	s->g->name = "renamed";
}

/* Another order in which producers still come first: repeatedly swap
 * neighbours that do not depend on each other. */
static void
reorder_nodes(struct subject *s, struct rng *r)
{
	struct graph *g = s->g;

	for (uint32_t swap = 0; swap < 4 * g->nnodes; swap++) {
		uint32_t i = rng_below(r, g->nnodes);
		struct node *x, *y, kept;
		bool depends = false;

		if (i + 1 >= g->nnodes)
			continue;
		x = &g->node[i];
		y = &g->node[i + 1];
		for (uint32_t k = 0; k < y->ninputs; k++)
			depends |= y->input[k] == x->output[0];
		if (depends)
			continue;
		kept = *x;
		*x = *y;
		*y = kept;
		g->value[x->output[0]].producer = i;
		g->value[y->output[0]].producer = i + 1;
	}
}

static void
renumber_values(struct subject *s, struct rng *r)
{
	struct graph *g = s->g;
	value_id *to = arena_new(s->a, value_id, g->nvalues);
	struct value *moved = arena_new(s->a, struct value, g->nvalues);

	for (value_id v = 0; v < g->nvalues; v++)
		to[v] = v;
	for (value_id v = g->nvalues; v-- > 1;) {
		uint32_t k = rng_below(r, v + 1);
		value_id kept = to[v];

		to[v] = to[k];
		to[k] = kept;
	}
	for (value_id v = 0; v < g->nvalues; v++)
		moved[to[v]] = g->value[v];
	g->value = moved;
	g->value_cap = g->nvalues;
	for (node_id i = 0; i < g->nnodes; i++) {
		struct node *n = &g->node[i];

		for (uint32_t k = 0; k < n->ninputs; k++)
			if (n->input[k] != VALUE_NONE)
				n->input[k] = to[n->input[k]];
		n->output[0] = to[n->output[0]];
	}
	find_ports(s);
}

static void
change_weights(struct subject *s, struct rng *r)
{
	for (node_id i = 0; i < s->g->nnodes; i++)
		if (s->g->node[i].op == OP_CONV)
			s->g->node[i].input[1] = add_weights(s, rng_next(r));
	find_ports(s);
}

static void
raise_opset(struct subject *s, struct rng *r)
{
	uint32_t opset = 14 + rng_below(r, 8);

	for (node_id i = 0; i < s->g->nnodes; i++)
		s->g->node[i].opset = opset;
}

static void
write_defaults_out(struct subject *s, struct rng *r)
{
	static const int64_t one = 1, two[] = {1, 1}, three[] = {3, 3};

	(void)r;
	for (node_id i = 0; i < s->g->nnodes; i++) {
		struct node *n = &s->g->node[i];
		struct attr *list = arena_new(s->a, struct attr, 5);

		if (n->op == OP_CELU || n->op == OP_LEAKYRELU) {
			n->attr =
			    add_float(s, "alpha", n->op == OP_CELU ? 1 : 0.01f);
			n->nattrs = 1;
		}
		if (n->op != OP_CONV)
			continue;
		list[0] = *add_ints(s, "strides", 2, two);
		list[1] = *add_ints(s, "group", 1, &one);
		list[1].kind = ATTR_INT;
		list[2] = *add_ints(s, "kernel_shape", 2, three);
		list[3] = n->attr[0];
		list[4] = *add_ints(s, "dilations", 2, two);
		n->attr = list;
		n->nattrs = 5;
	}
}

/* Padding of one around a window of three is SAME, by either word. */
static void
say_padding_in_a_word(struct subject *s, struct rng *r)
{
	static const struct string_view words[] = {
	    {"SAME_UPPER", 10}, {"SAME_LOWER", 10}};

	for (node_id i = 0; i < s->g->nnodes; i++) {
		struct node *n = &s->g->node[i];
		struct attr *list =
		    arena_copy(s->a, n->attr, n->nattrs * sizeof *n->attr);

		for (uint32_t k = 0; n->op == OP_CONV && k < n->nattrs; k++)
			if (strcmp(list[k].name, "pads") == 0)
				list[k] = (struct attr){.name = "auto_pad",
				    .kind = ATTR_STRING,
				    .n = 1,
				    .strings = &words[rng_below(r, 2)]};
		n->attr = list;
	}
}

static void
count_axes_from_the_back(struct subject *s, struct rng *r)
{
	(void)r;
	for (node_id i = 0; i < s->g->nnodes; i++) {
		struct node *n = &s->g->node[i];

		if (n->op == OP_SOFTMAX)
			n->attr = add_int(s, "axis", n->attr[0].ints[0] - 4);
	}
}

/* As before opset 11. */
static void
make_limits_attributes(struct subject *s, struct rng *r)
{
	(void)r;
	for (node_id i = 0; i < s->g->nnodes; i++) {
		struct node *n = &s->g->node[i];

		if (n->op != OP_CLIP)
			continue;
		n->attr = add_float(s, "max",
		    (float)tensor_real(s->g->value[n->input[2]].constant, 0));
		n->nattrs = 1;
		n->ninputs = 1;
		n->opset = 6;
	}
	find_ports(s);
}

/* ---- changes that change the price ---- */

static struct node *
find_op(struct subject *s, enum op op)
{
	for (node_id i = 0; i < s->g->nnodes; i++)
		if (s->g->node[i].op == op)
			return &s->g->node[i];
	return NULL;
}

static bool
change_attribute(struct subject *s)
{
	static const int64_t pads[] = {1, 1, 1, 2};
	struct node *n = find_op(s, OP_CONV);

	if (n)
		n->attr = add_ints(s, "pads", 4, pads);
	return n;
}

static bool
change_axis(struct subject *s)
{
	struct node *n = find_op(s, OP_SOFTMAX);

	if (n)
		n->attr = add_int(s, "axis", (n->attr[0].ints[0] + 1) % 4);
	return n;
}

static bool
change_slope(struct subject *s)
{
	struct node *n = find_op(s, OP_CELU);

	if (n) {
		n->attr = add_float(s, "alpha", 2);
		n->nattrs = 1;
	}
	return n;
}

static bool
change_dimension(struct subject *s)
{
	static const int64_t wider[] = {1, 8, 6, 7};

	s->g->value[s->c.output[0].value].type.dim = wider;
	return true;
}

static bool
change_dtype(struct subject *s)
{
	s->g->value[s->c.output[0].value].type.dtype = DT_FLOAT16;
	return true;
}

static bool
change_format(struct subject *s)
{
	struct port *out =
	    arena_copy(s->a, s->c.output, s->c.noutputs * sizeof *s->c.output);

	out[0].format = FORMAT_PLAIN;
	s->c.output = out;
	return true;
}

static bool
change_implementation(struct subject *s)
{
	s->c.implementation_name = "winograd";
	return true;
}

static bool
change_rule(struct subject *s)
{
	s->c.rule = 1;
	return true;
}

static bool
change_operator(struct subject *s)
{
	struct node *n = find_op(s, OP_RELU);

	if (!n)
		return false;
	n->op = OP_SIGMOID;
	n->op_type = "Sigmoid";
	return true;
}

static bool
change_scalar_that_is_read(struct subject *s)
{
	struct node *n = find_op(s, OP_CLIP);

	if (n)
		n->input[2] = add_scalar(s, 99);
	return n;
}

static bool
make_weights_variable(struct subject *s)
{
	struct node *n = find_op(s, OP_CONV);

	if (!n)
		return false;
	s->g->value[n->input[1]].constant = NULL;
	find_ports(s);
	return true;
}

static bool
leave_a_value_used_outside(struct subject *s)
{
	struct port *out = arena_new(s->a, struct port, s->c.noutputs + 1);
	value_id v = s->g->node[0].output[0];

	for (uint32_t i = 0; i < s->c.noutputs; i++) {
		out[i] = s->c.output[i];
		if (out[i].value == v)
			return false;
	}
	out[s->c.noutputs++] = (struct port){v, 1};
	s->c.output = out;
	return true;
}

static bool
split_an_edge(struct subject *s)
{
	struct type type = float_type(4, shape);
	struct node *n = find_op(s, OP_ADD);

	if (!n || n->input[0] != n->input[1])
		return false;
	n->input[1] = graph_add_value(s->g, "new", &type);
	find_ports(s);
	return true;
}

static const struct {
	const char *name;
	void (*change)(struct subject *s, struct rng *r);
} harmless[] = {
    {"renaming", rename_all},
    {"reordering nodes", reorder_nodes},
    {"renumbering values", renumber_values},
    {"changing weights", change_weights},
    {"raising the opset", raise_opset},
    {"writing defaults out", write_defaults_out},
    {"padding in a word", say_padding_in_a_word},
    {"axes from the back", count_axes_from_the_back},
    {"limits as attributes", make_limits_attributes},
};

static const struct {
	const char *name;
	bool (*change)(struct subject *s);
} costly[] = {
    {"an attribute", change_attribute},
    {"an axis", change_axis},
    {"a slope", change_slope},
    {"a dimension", change_dimension},
    {"a dtype", change_dtype},
    {"a boundary format", change_format},
    {"the implementation", change_implementation},
    {"the rule", change_rule},
    {"an operator", change_operator},
    {"a scalar a kernel reads", change_scalar_that_is_read},
    {"weights that are not constant", make_weights_variable},
    {"a value used outside", leave_a_value_used_outside},
    {"an input that is no longer shared", split_an_edge},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

int
main(int argc, char **argv)
{
	uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
	uint64_t failed = 0, applied[COUNT(costly)] = {0};

	for (uint64_t seed = 1; seed <= cases; seed++) {
		struct arena a;
		struct subject s;
		struct hash128 before;
		struct rng r = rng_seeded(seed ^ 0x5555);

		arena_init(&a);
		s = make(&a, seed);
		before = key(&s);
		for (size_t i = 0; i < COUNT(harmless); i++) {
			harmless[i].change(&s, &r);
			if (same(before, key(&s)))
				continue;
			printf("seed %" PRIu64 ": %s changed the key\n", seed,
			    harmless[i].name);
			failed++;
			break;
		}
		for (size_t i = 0; i < COUNT(costly); i++) {
			s = make(&a, seed);
			if (!costly[i].change(&s))
				continue;
			applied[i]++;
			if (!same(before, key(&s)))
				continue;
			printf("seed %" PRIu64 ": %s left the key alone\n",
			    seed, costly[i].name);
			failed++;
		}
		arena_release(&a);
	}
	for (size_t i = 0; i < COUNT(costly); i++)
		if (applied[i] < cases / 50) {
			printf("%s was tried %" PRIu64 " times only\n",
			    costly[i].name, applied[i]);
			failed++;
		}
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", cases, failed);
	return failed != 0;
}
