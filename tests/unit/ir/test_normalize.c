/* Normalisation: what goes, what stays, and every ONNX node accounted for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/normalize.h"
#include "targets/host/host.h"
#include "tests/support/build.h"

struct fixture {
	struct arena a;
	struct graph *g;
	struct err err;
};

static struct fixture f;

static int
setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof f);
	arena_init(&f.a);
	f.g = graph_new(&f.a, "t");
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&f.a);
	return 0;
}

/* Each node of g (and of its bodies) comes from an ONNX node of its own. */
static void
give_origins(struct graph *g, struct onnx_nodes *table)
{
	g->origin_table = table;
	for (node_id id = 0; id < g->nnodes; id++) {
		struct node *n = &g->node[id];
		struct origin *o = arena_new(&f.a, struct origin, 1);

		table->node = arena_grow(&f.a, table->node, &table->cap,
		    table->n + 1, sizeof *table->node);
		table->node[table->n] = (struct onnx_node){
		    .path = "",
		    .index = id,
		    .name = n->name,
		    .op_type = n->op_type,
		    .domain = "",
		};
		*o = (struct origin){.onnx = table->n++};
		n->origin = o;
		n->norigins = 1;
		for (uint32_t i = 0; i < n->nattrs; i++)
			if (n->attr[i].kind == ATTR_GRAPH)
				give_origins(n->attr[i].graphs[0], table);
	}
}

static void
set_outputs(struct graph *g, const value_id *v, uint32_t n)
{
	g->output = arena_copy(&f.a, v, n * sizeof *v);
	g->noutputs = n;
	for (uint32_t i = 0; i < n; i++)
		graph_value(g, v[i])->flags |= VALUE_OUTPUT;
}

static void
run_with(node_eval eval, uint32_t covered, uint32_t folded, uint32_t dropped)
{
	const struct infer_options o = {.eval = eval};
	uint32_t count[3];

	give_origins(f.g, f.g->origin_table);
	if (!normalize(f.g, &o, &f.err))
		fail_msg("%s", f.err.text);
	graph_conservation(f.g, count);
	assert_int_equal(count[FATE_COVERED], covered);
	assert_int_equal(count[FATE_FOLDED], folded);
	assert_int_equal(count[FATE_DROPPED], dropped);
}

static void
run(uint32_t covered, uint32_t folded, uint32_t dropped)
{
	run_with(NULL, covered, folded, dropped);
}

static value_id
input(const char *name)
{
	return build_input(f.g, name, DT_FLOAT, DIMS(2, 3));
}

static value_id
unary(struct graph *g, enum op op, value_id x)
{
	return build_node(g, op, 13, &x, 1);
}

static void
identity_goes(void **state)
{
	value_id y = unary(f.g, OP_RELU, unary(f.g, OP_IDENTITY, input("x")));

	(void)state;
	set_outputs(f.g, &y, 1);
	run(1, 0, 1);
	assert_int_equal(f.g->nnodes, 1);
	assert_int_equal(f.g->node[0].input[0], f.g->input[0]);
}

static void
output_keeps_its_name(void **state)
{
	value_id relu = unary(f.g, OP_RELU, input("x"));
	value_id y = unary(f.g, OP_DROPOUT, relu);

	(void)state;
	graph_value(f.g, y)->name = "prob";
	set_outputs(f.g, &y, 1);
	run(1, 0, 1);
	assert_string_equal(graph_value(f.g, f.g->output[0])->name, "prob");
	assert_int_equal(f.g->node[0].op, OP_RELU);
}

static value_id
cast(value_id x, enum dtype to)
{
	const value_id y = unary(f.g, OP_CAST, x);

	build_int(f.g, "to", to);
	return y;
}

/* PyTorch's exporter of quantised models writes a Cast of bytes to bytes behind
 * each quantiser. */
static void
cast_to_its_own_type_goes(void **state)
{
	value_id in[2] = {input("x"), 0}, y;

	(void)state;
	in[1] = in[0] = unary(f.g, OP_RELU, cast(in[0], DT_FLOAT));
	y = cast(build_node(f.g, OP_CASTLIKE, 15, in, 2), DT_INT8);
	y = cast(y, DT_INT8);
	set_outputs(f.g, &y, 1);
	run(2, 0, 3);
	assert_int_equal(f.g->nnodes, 2);
	assert_int_equal(f.g->node[0].input[0], f.g->input[0]);
	assert_int_equal(f.g->node[1].op, OP_CAST);
	assert_int_equal(graph_value(f.g, f.g->output[0])->type.dtype, DT_INT8);
}

static value_id
reshaped(value_id x, int64_t a, int64_t b)
{
	const value_id in[2] = {x, build_ints(f.g, (int64_t[]){a, b}, 2)};

	return build_node(f.g, OP_RESHAPE, 13, in, 2);
}

/* Exporters with dynamic shapes write such, which hide what lies on either side from
 * each other. */
static void
move_to_its_own_shape_goes(void **state)
{
	value_id x = unary(f.g, OP_RELU, input("x")), y;

	(void)state;
	y = reshaped(unary(f.g, OP_NEG, reshaped(x, 2, -1)), 3, 2);
	set_outputs(f.g, &y, 1);
	run(3, 0, 1);
	assert_int_equal(f.g->nnodes, 3);
	assert_int_equal(f.g->node[1].input[0], f.g->node[0].output[0]);
	assert_int_equal(f.g->node[2].op, OP_RESHAPE);
}

/* An output that is an input needs its Identity. */
static void
output_of_input_stays(void **state)
{
	value_id y = unary(f.g, OP_IDENTITY, input("x"));

	(void)state;
	set_outputs(f.g, &y, 1);
	run(1, 0, 0);
}

static void
training_dropout_stays(void **state)
{
	static const unsigned char yes = 1;
	struct tensor *mode = arena_new(&f.a, struct tensor, 1);
	value_id in[3] = {input("x"), VALUE_NONE, VALUE_NONE}, y;

	(void)state;
	*mode = tensor_fill(DT_BOOL, 0, NULL, &yes);
	in[2] = graph_add_constant(f.g, "mode", mode);
	y = build_node(f.g, OP_DROPOUT, 13, in, 3);
	set_outputs(f.g, &y, 1);
	run(1, 0, 0);
}

static void
dead_and_folded(void **state)
{
	value_id x = input("x"), y, shape, in[2];

	(void)state;
	unary(f.g, OP_SIGMOID, x); /* nobody reads it */
	shape = unary(f.g, OP_SHAPE, x);
	in[0] = x;
	in[1] = shape;
	y = build_node(f.g, OP_RESHAPE, 13, in, 2);
	set_outputs(f.g, &y, 1);
	run(1, 1, 1);
	assert_non_null(graph_value(f.g, f.g->node[0].input[1])->constant);
}

static value_id
a_half(const char *name)
{
	const float half = 0.5f;
	struct tensor *t = arena_new(&f.a, struct tensor, 1);

	*t = tensor_fill(
	    DT_FLOAT, 0, NULL, (const unsigned char *)(const void *)&half);
	return graph_add_constant(f.g, name, t);
}

/* Two read it, one of them twice, and the caller: three dequantisers, of one ONNX
 * node; what is computed stays, and names are nobody else's. */
static void
dequantisers_part(void **state)
{
	value_id in[2] = {build_input(f.g, "x", DT_UINT8, DIMS(2, 3)), 0};
	value_id d, out[3], twice[2];

	(void)state;
	in[1] = a_half("d/1");
	d = build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 2);
	graph_value(f.g, d)->name = "d";
	twice[0] = twice[1] = d;
	out[0] = d;
	out[1] = unary(f.g, OP_RELU, d);
	out[2] = build_node(f.g, OP_MUL, 13, twice, 2);
	set_outputs(f.g, out, 3);
	run(3, 0, 0);
	assert_int_equal(f.g->nnodes, 5);
	for (node_id id = 0; id < 5; id++) {
		const struct node *n = &f.g->node[id];

		if (n->op == OP_MUL)
			assert_int_equal(n->input[0], n->input[1]);
		if (n->op == OP_MUL || n->op == OP_RELU)
			assert_int_not_equal(n->input[0], f.g->output[0]);
	}
	for (value_id v = 0; v < f.g->nvalues; v++)
		for (value_id u = 0; u < v; u++)
			assert_string_not_equal(graph_value(f.g, u)->name,
			    graph_value(f.g, v)->name);
}

/* The first of two readers reads it twice, and nobody else does: the dequantiser
 * that was there is its own. */
static void
dequantisers_part_for_one_that_reads_twice(void **state)
{
	value_id in[2] = {build_input(f.g, "x", DT_UINT8, DIMS(2, 3)), 0};
	value_id d, out[2], twice[2];

	(void)state;
	in[1] = a_half("scale");
	d = build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 2);
	twice[0] = twice[1] = d;
	out[0] = build_node(f.g, OP_MUL, 13, twice, 2);
	out[1] = unary(f.g, OP_RELU, d);
	set_outputs(f.g, out, 2);
	run(3, 0, 0);
	assert_int_equal(f.g->nnodes, 4);
	for (node_id id = 0; id < 4; id++) {
		const struct node *n = &f.g->node[id];

		if (n->op == OP_MUL)
			assert_int_equal(n->input[0], n->input[1]);
		if (n->op == OP_RELU)
			assert_int_not_equal(n->input[0], d);
	}
}

/* Two layers with the same weights. */
static void
dequantisers_of_weights_part(void **state)
{
	value_id in[2] = {build_zeros(f.g, DT_INT8, DIMS(3, 3)), 0};
	value_id x, w;

	(void)state;
	in[1] = a_half("scale");
	w = build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 2);
	x = build_node(f.g, OP_MATMUL, 13, (value_id[]){input("x"), w}, 2);
	x = build_node(f.g, OP_MATMUL, 13, (value_id[]){x, w}, 2);
	set_outputs(f.g, &x, 1);
	run(3, 0, 0);
	assert_int_equal(f.g->nnodes, 4);
	for (node_id id = 0; id < 4; id++) {
		const struct node *n = &f.g->node[id];

		if (n->op == OP_MATMUL)
			assert_int_equal(n->input[1] == w, n->output[0] != x);
	}
}

static bool
reads(const struct node *n, value_id v)
{
	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] == v)
			return true;
	return false;
}

/* Two readers far from what both read; one dequantiser is the caller's, too, and one
 * is read by another: these stay. */
static void
dequantisers_stand_before_their_readers(void **state)
{
	value_id in[2] = {build_input(f.g, "x", DT_UINT8, DIMS(2, 3)), 0};
	value_id d, out[3];

	(void)state;
	in[1] = a_half("scale");
	d = build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 2);
	out[2] = build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 2);
	out[0] = unary(f.g, OP_RELU, unary(f.g, OP_ABS, input("y")));
	out[0] = build_node(
	    f.g, OP_MUL, 13, (value_id[]){unary(f.g, OP_RELU, d), out[0]}, 2);
	out[1] = build_node(f.g, OP_ADD, 13, (value_id[]){out[0], d}, 2);
	set_outputs(f.g, out, 3);
	run(7, 0, 0);
	assert_int_equal(f.g->nnodes, 8);
	assert_int_equal(f.g->node[0].output[0], out[2]);
	for (node_id id = 1; id < 7; id++)
		if (f.g->node[id].op == OP_DEQUANTIZELINEAR)
			assert_true(
			    reads(&f.g->node[id + 1], f.g->node[id].output[0]));
	graph_verify(f.g);
}

/* One that makes another's scale stays where it is, before it. */
static void
dequantised_scales_stay_before_their_readers(void **state)
{
	value_id in[2] = {build_input(f.g, "x", DT_UINT8, DIMS(2, 3)), 0};
	value_id y;

	(void)state;
	in[1] = a_half("scale");
	in[1] = build_node(f.g, OP_DEQUANTIZELINEAR, 13,
	    (value_id[]){build_input(f.g, "s", DT_UINT8, DIMS(1)), in[1]}, 2);
	y = build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 2);
	y = build_node(f.g, OP_ADD, 13,
	    (value_id[]){unary(f.g, OP_RELU, input("y")), y}, 2);
	set_outputs(f.g, &y, 1);
	run(4, 0, 0);
	assert_int_equal(f.g->node[0].output[0], in[1]);
	assert_int_equal(f.g->node[2].input[1], in[1]);
	graph_verify(f.g);
}

static value_id
int8s(const int8_t *data, int64_t n)
{
	struct tensor *t = arena_new(&f.a, struct tensor, 1);

	*t = tensor_view(DT_INT8, 1, arena_copy(&f.a, &n, sizeof n), data);
	return graph_add_constant(f.g, "codes", t);
}

/* What `op` makes of n floats and of n dequantised codes, zero being theirs. */
static value_id
of_dequantised(enum op op, value_id codes, int64_t n, value_id zero)
{
	const value_id in[] = {codes, a_half("scale"), zero};
	const value_id x = build_input(f.g, "x", DT_FLOAT, DIMS(n));
	const value_id d = build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 3);

	return build_node(f.g, op, 13, (value_id[]){x, d}, 2);
}

static void
short_constants_settle(void **state)
{
	static const int8_t codes[] = {-128, 3, 7}, zero[] = {3};
	value_id y = of_dequantised(OP_MUL, int8s(codes, 3), 3, int8s(zero, 1));
	const struct tensor *t;

	(void)state;
	set_outputs(f.g, &y, 1);
	run_with(host_eval, 1, 1, 0);
	assert_int_equal(f.g->nnodes, 1);
	t = graph_value(f.g, f.g->node[0].input[1])->constant;
	assert_int_equal(t->dtype, DT_FLOAT);
	assert_true(tensor_real(t, 0) == -65.5);
	assert_true(tensor_real(t, 1) == 0);
	assert_true(tensor_real(t, 2) == 2);
}

/* Weights of products stay codes, and so do long constants and what is an output. */
static void
others_do_not_settle(void **state)
{
	const value_id zero = build_zeros(f.g, DT_INT8, DIMS(1));
	const value_id few = build_zeros(f.g, DT_INT8, DIMS(9));
	const value_id many = build_zeros(f.g, DT_INT8, DIMS(5000));
	value_id y[4];

	(void)state;
	y[0] = of_dequantised(OP_MATMUL, few, 9, zero);
	y[1] = of_dequantised(OP_MUL, many, 5000, zero);
	y[2] = of_dequantised(OP_MUL, few, 9, zero);
	y[3] = f.g->node[f.g->nnodes - 1].input[1];
	set_outputs(f.g, y, 4);
	run_with(host_eval, 6, 0, 0);
}

/* Codes of x, behind an Identity. */
static value_id
coded_again(value_id x)
{
	value_id in[] = {unary(f.g, OP_IDENTITY, x), a_half("scale"),
	    build_zeros(f.g, DT_UINT8, DIMS(1))};

	in[0] = build_node(f.g, OP_QUANTIZELINEAR, 13, in, 3);
	return build_node(f.g, OP_DEQUANTIZELINEAR, 13, in, 3);
}

/* What a layer adds to its sums in 32 bits stays that for it, and is a number for
 * another that is given it in eight bits. Weights behind an Identity stay codes. */
static void
shared_biases_settle(void **state)
{
	static const int32_t sums[] = {-5, 6, 1000};
	static const int64_t three[] = {3};
	struct tensor *t = arena_new(&f.a, struct tensor, 1);
	const value_id x = build_input(f.g, "x", DT_FLOAT, DIMS(1, 2, 4, 4));
	const value_id w = build_zeros(f.g, DT_INT8, DIMS(3, 2, 1, 1));
	value_id codes[] = {w, a_half("scale")}, in[3] = {x}, y[2];
	const struct tensor *bias;

	(void)state;
	in[1] = unary(f.g, OP_IDENTITY,
	    build_node(f.g, OP_DEQUANTIZELINEAR, 13, codes, 2));
	*t = tensor_view(DT_INT32, 1, three, sums);
	codes[0] = graph_add_constant(f.g, "sums", t);
	in[2] = build_node(f.g, OP_DEQUANTIZELINEAR, 13, codes, 2);
	y[0] = build_node(f.g, OP_CONV, 13, in, 3);
	in[2] = coded_again(in[2]);
	y[1] = build_node(f.g, OP_CONV, 13, in, 3);
	set_outputs(f.g, y, 2);
	run_with(host_eval, 4, 2, 2);
	bias = graph_value(f.g, graph_producer(f.g, f.g->output[0])->input[2])
	           ->constant;
	assert_null(bias);
	bias = graph_value(f.g, graph_producer(f.g, f.g->output[1])->input[2])
	           ->constant;
	assert_int_equal(bias->dtype, DT_FLOAT);
	assert_true(tensor_real(bias, 0) == 0);
	assert_true(tensor_real(bias, 1) == 3);
	assert_true(tensor_real(bias, 2) == 127.5);
}

/* A body with one captured value (slot 0) and one unary node. */
static struct graph *
branch(enum op op, const char *inner, const char *result)
{
	struct graph *b = graph_new(&f.a, "b");
	struct capture *c = arena_new(&f.a, struct capture, 1);
	value_id v = graph_add_value(b, inner, NULL), y = unary(b, op, v);

	c->inner = v;
	b->capture = c;
	b->ncaptures = 1;
	graph_value(b, y)->name = result;
	set_outputs(b, &y, 1);
	return b;
}

static value_id
add_if(
    value_id condition, value_id captured, struct graph *yes, struct graph *no)
{
	struct graph **graphs = arena_new(&f.a, struct graph *, 2);
	struct attr *a = arena_new(&f.a, struct attr, 2);
	value_id in[2] = {condition, captured};
	value_id y = build_node(f.g, OP_IF, 13, in, 2);
	struct node *n = graph_node(f.g, f.g->nnodes - 1);

	graphs[0] = yes;
	graphs[1] = no;
	a[0] = (struct attr){"then_branch", ATTR_GRAPH, 1, .graphs = graphs};
	a[1] =
	    (struct attr){"else_branch", ATTR_GRAPH, 1, .graphs = graphs + 1};
	n->attr = a;
	n->nattrs = 2;
	n->ninputs = 1;
	n->nimplicit = 1;
	return y;
}

static void
known_if_is_inlined(void **state)
{
	value_id x = input("x"), mid = unary(f.g, OP_NEG, x), y;
	value_id cond = build_zeros(f.g, DT_BOOL, NULL, 0);

	(void)state;
	y = add_if(cond, mid, branch(OP_RELU, "v1", "r"),
	    branch(OP_SIGMOID, "v1", "r"));
	graph_value(f.g, y)->name = "y";
	set_outputs(f.g, &y, 1);
	run(2, 0, 2);
	assert_int_equal(f.g->nnodes, 2);
	assert_int_equal(f.g->node[1].op, OP_SIGMOID);
	assert_string_equal(graph_value(f.g, f.g->output[0])->name, "y");
	assert_string_equal(
	    type_text(&graph_value(f.g, f.g->output[0])->type, NULL, &f.a),
	    "float32[2,3]");
}

static void
unknown_if_stays(void **state)
{
	value_id x = input("x"), y;
	value_id cond = build_input(f.g, "c", DT_BOOL, NULL, 0);

	(void)state;
	y = add_if(cond, x, branch(OP_RELU, "v1", "r"),
	    branch(OP_IDENTITY, "v1", "r"));
	set_outputs(f.g, &y, 1);
	run(3, 0, 0);
	assert_int_equal(f.g->nnodes, 1);
	assert_int_equal(f.g->node[0].nimplicit, 1);
}

/* A branch that breaks a rule stays as it was read, with what is nested in it:
 * types found for half of it would contradict the rest. */
static void
impossible_branch_is_as_read(void **state)
{
	static const int64_t perm[] = {1, 0, 2};
	static const struct attr wrong = {"perm", ATTR_INTS, 3, .ints = perm};
	value_id x = input("x"), y, inner[2], nested;
	value_id cond = build_input(f.g, "c", DT_BOOL, NULL, 0);
	struct graph *no = branch(OP_RELU, "v1", "r");
	struct graph *main = f.g;
	struct node *last;

	(void)state;
	f.g = no;
	inner[0] = build_zeros(no, DT_BOOL, NULL, 0);
	inner[1] = no->output[0];
	nested = add_if(inner[0], inner[1], branch(OP_NEG, "v2", "p"),
	    branch(OP_ABS, "v2", "q"));
	y = unary(no, OP_TRANSPOSE, nested);
	last = graph_node(no, no->nnodes - 1);
	last->attr = &wrong;
	last->nattrs = 1;
	graph_value(no, no->output[0])->flags = 0;
	set_outputs(no, &y, 1);
	f.g = main;
	y = add_if(cond, x, branch(OP_RELU, "v1", "r"), no);
	set_outputs(f.g, &y, 1);
	run(7, 0, 0);
	assert_int_equal(no->nnodes, 3);
	assert_int_equal(no->node[1].op, OP_IF);
	for (value_id v = 0; v < no->nvalues; v++)
		assert_true(
		    v == inner[0] || no->value[v].type.kind == TYPE_UNKNOWN);
}

/* A branch that gives a captured value back: the Identity stays only where an
 * output needs a name of its own. */
static void
passthrough_branch(void **state)
{
	value_id x = input("x"), y;
	value_id cond = build_zeros(f.g, DT_BOOL, NULL, 0);
	struct graph *no = branch(OP_RELU, "v1", "r");

	(void)state;
	no->output = arena_copy(&f.a, &no->capture[0].inner, sizeof(value_id));
	y = add_if(cond, x, branch(OP_RELU, "v1", "r"), no);
	y = unary(f.g, OP_RELU, y);
	set_outputs(f.g, &y, 1);
	run(1, 0, 3);
	assert_int_equal(f.g->nnodes, 1);
	assert_int_equal(f.g->node[0].input[0], f.g->input[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    T(dequantisers_part),
	    T(dequantisers_part_for_one_that_reads_twice),
	    T(dequantisers_of_weights_part),
	    T(dequantisers_stand_before_their_readers),
	    T(dequantised_scales_stay_before_their_readers),
	    T(short_constants_settle),
	    T(others_do_not_settle),
	    T(shared_biases_settle),
	    T(identity_goes),
	    T(cast_to_its_own_type_goes),
	    T(move_to_its_own_shape_goes),
	    T(output_keeps_its_name),
	    T(output_of_input_stays),
	    T(training_dropout_stays),
	    T(dead_and_folded),
	    T(known_if_is_inlined),
	    T(unknown_if_stays),
	    T(impossible_branch_is_as_read),
	    T(passthrough_branch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
