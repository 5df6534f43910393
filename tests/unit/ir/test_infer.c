/* Shapes, operator by operator: each case is one node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/infer.h"
#include "ir/infer/early.h"
#include "ir/lenient.h"
#include "tests/support/build.h"

struct fixture {
	struct arena a;
	struct graph *g;
	struct err err;
	struct notes notes;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	arena_init(&f->a);
	f->g = graph_new(&f->a, "t");
	notes_init(&f->notes, &f->a);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->a);
	free(f);
	return 0;
}

static bool
run(struct fixture *f)
{
	struct infer_options o = {.notes = &f->notes};

	return infer(f->g, &o, &f->err);
}

static void
expect(struct fixture *f, value_id v, const char *type)
{
	if (f->err.kind != ERR_NONE)
		fail_msg("%s", f->err.text);
	assert_string_equal(
	    type_text(&graph_value(f->g, v)->type, f->g->symbol, &f->a), type);
}

/* Inference fails with a message that contains `words`. */
static void
expect_fault(struct fixture *f, const char *words)
{
	assert_false(run(f));
	assert_int_equal(f->err.kind, ERR_INPUT);
	if (!strstr(f->err.text, words))
		fail_msg("'%s' not in '%s'", words, f->err.text);
}

static value_id
conv(struct fixture *f, const int64_t *x, uint32_t nx, const int64_t *w,
    uint32_t nw)
{
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, x, nx),
	    build_zeros(f->g, DT_FLOAT, w, nw)};

	return build_node(f->g, OP_CONV, 9, in, 2);
}

static void
conv_explicit_pads(void **state)
{
	struct fixture *f = *state;
	value_id y = conv(f, DIMS(1, 3, 224, 224), DIMS(64, 3, 7, 7));

	build_list(f->g, "strides", DIMS(2, 2));
	build_list(f->g, "pads", DIMS(3, 3, 3, 3));
	run(f);
	expect(f, y, "float32[1,64,112,112]");
}

static void
conv_same_and_dilated(void **state)
{
	struct fixture *f = *state;
	value_id y = conv(f, DIMS(2, 4, 15, 16), DIMS(8, 2, 3, 3)), z;

	build_string(f->g, "auto_pad", "SAME_UPPER");
	build_list(f->g, "strides", DIMS(2, 2));
	build_int(f->g, "group", 2);
	z = conv(f, DIMS(2, 4, 15, 16), DIMS(8, 4, 3, 3));
	build_list(f->g, "dilations", DIMS(2, 3));
	run(f);
	expect(f, y, "float32[2,8,8,8]");
	expect(f, z, "float32[2,8,11,10]");
}

static void
conv_faults(void **state)
{
	struct fixture *f = *state;

	conv(f, DIMS(1, 1, 8, 8), DIMS(1, 1, 3, 3));
	build_list(f->g, "strides", DIMS(0, 0));
	expect_fault(f, "strides[0] is 0");
}

static void
conv_kernel_too_large(void **state)
{
	struct fixture *f = *state;

	conv(f, DIMS(1, 1, 2, 2), DIMS(1, 1, 3, 3));
	expect_fault(f, "node 'n0' (#0, Conv): kernel covers 3");
}

static void
conv_rank_mismatch(void **state)
{
	struct fixture *f = *state;

	conv(f, DIMS(1, 1, 8, 8), DIMS(1, 1, 3, 3, 3));
	expect_fault(f, "w has rank 5 but x has 4");
}

static void
pool_ceil(void **state)
{
	struct fixture *f = *state;
	value_id x = build_input(f->g, "x", DT_FLOAT, DIMS(1, 1, 112, 112));
	value_id y = build_node(f->g, OP_MAXPOOL, 12, &x, 1), z;

	build_list(f->g, "kernel_shape", DIMS(3, 3));
	build_list(f->g, "strides", DIMS(2, 2));
	build_int(f->g, "ceil_mode", 1);
	x = build_input(f->g, "x2", DT_FLOAT, DIMS(1, 1, 2, 2));
	z = build_node(f->g, OP_MAXPOOL, 12, &x, 1);
	build_list(f->g, "kernel_shape", DIMS(1, 1));
	build_list(f->g, "strides", DIMS(2, 2));
	build_int(f->g, "ceil_mode", 1);
	run(f);
	expect(f, y, "float32[1,1,56,56]");
	expect(f, z, "float32[1,1,1,1]");
}

static void
reshape_copies_and_infers(void **state)
{
	struct fixture *f = *state;
	int64_t n = DIM_SYMBOL(graph_symbol(f->g, "N"));
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, DIMS(n, 12, 4, 4)),
	    build_ints(f->g, DIMS(0, 3, -1))};
	value_id y = build_node(f->g, OP_RESHAPE, 13, in, 2), z;

	in[1] = build_ints(f->g, DIMS(-1, 192));
	z = build_node(f->g, OP_RESHAPE, 13, in, 2);
	run(f);
	expect(f, y, "float32[N,3,64]");
	expect(f, z, "float32[N,192]");
}

static void
reshape_faults(void **state)
{
	struct fixture *f = *state;
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, DIMS(4)),
	    build_ints(f->g, DIMS(3, -1))};

	build_node(f->g, OP_RESHAPE, 13, in, 2);
	expect_fault(f, "4 elements are not a multiple of 3");
}

/* A shape chain: x.shape[0] beside a constant, through three operators. */
static void
shape_chain(void **state)
{
	struct fixture *f = *state;
	int64_t n = DIM_SYMBOL(graph_symbol(f->g, "N"));
	value_id x = build_input(f->g, "x", DT_FLOAT, DIMS(n, 6, 5));
	value_id shape = build_node(f->g, OP_SHAPE, 13, &x, 1);
	value_id at[2] = {shape, build_ints(f->g, DIMS(0))};
	value_id first = build_node(f->g, OP_GATHER, 13, at, 2);
	value_id join[2] = {first, build_ints(f->g, DIMS(-1))};
	value_id target, y, in[2];

	target = build_node(f->g, OP_CONCAT, 13, join, 2);
	build_int(f->g, "axis", 0);
	in[0] = x;
	in[1] = target;
	y = build_node(f->g, OP_RESHAPE, 13, in, 2);
	run(f);
	expect(f, y, "float32[N,30]");
}

/* ConstantOfShape of a terabyte of constants costs nothing... */
static void
fill_is_virtual(void **state)
{
	struct fixture *f = *state;
	value_id dims = build_ints(f->g, DIMS(1 << 15, 1 << 15));
	value_id y = build_node(f->g, OP_CONSTANTOFSHAPE, 9, &dims, 1);

	run(f);
	expect(f, y, "float32[32768,32768]");
	assert_non_null(graph_value(f->g, y)->constant);
	assert_int_equal(graph_value(f->g, y)->constant->kind, TENSOR_FILL);
}

/* ... and one that cannot exist is refused. */
static void
bomb_is_refused(void **state)
{
	struct fixture *f = *state;
	value_id dims = build_ints(f->g, DIMS(1 << 20, 1 << 20));

	build_node(f->g, OP_CONSTANTOFSHAPE, 9, &dims, 1);
	expect_fault(f, "too large");
}

static void
broadcast_keeps_symbols(void **state)
{
	struct fixture *f = *state;
	int64_t n = DIM_SYMBOL(graph_symbol(f->g, "N"));
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, DIMS(n, 1, 5)),
	    build_input(f->g, "y", DT_FLOAT, DIMS(n, 3, 1))};
	value_id y = build_node(f->g, OP_ADD, 13, in, 2);

	run(f);
	expect(f, y, "float32[N,3,5]");
}

static void
keep_going_reports_all(void **state)
{
	struct fixture *f = *state;
	struct infer_options o = {.notes = &f->notes, .keep_going = true};

	conv(f, DIMS(1, 1, 2, 2), DIMS(1, 1, 3, 3));
	conv(f, DIMS(1, 1, 8, 8), DIMS(1, 1, 3, 3, 3));
	assert_false(infer(f->g, &o, &f->err));
	assert_int_equal(f->notes.n, 2);
}

/* A node over one float input. */
static value_id
over(struct fixture *f, enum op op, uint32_t opset, const int64_t *dim,
    uint32_t rank)
{
	value_id x = build_input(f->g, "x", DT_FLOAT, dim, rank);

	return build_node(f->g, op, opset, &x, 1);
}

/* ... and a constant list. */
static value_id
over_list(struct fixture *f, enum op op, uint32_t opset, const int64_t *dim,
    uint32_t rank, const int64_t *list, uint32_t n)
{
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, dim, rank),
	    build_ints(f->g, list, n)};

	return build_node(f->g, op, opset, in, 2);
}

static void
conv_symbolic(void **state)
{
	struct fixture *f = *state;
	int64_t h = DIM_SYMBOL(graph_symbol(f->g, "H"));
	value_id y = conv(f, DIMS(1, 3, h, h), DIMS(8, 3, 3, 3)), z;

	z = conv(f, DIMS(1, 3, h, h), DIMS(8, 3, 3, 3));
	build_list(f->g, "strides", DIMS(2, 2));
	build_list(f->g, "pads", DIMS(1, 1, 1, 1));
	run(f);
	expect(f, y, "float32[1,8,H-2,H-2]");
	expect(f, z, "float32[1,8,floor((H+1)/2),floor((H+1)/2)]");
}

static void
convtranspose_shapes(void **state)
{
	struct fixture *f = *state;
	value_id in[2] = {build_input(f->g, "x", DT_FLOAT, DIMS(1, 4, 5, 5)),
	    build_zeros(f->g, DT_FLOAT, DIMS(4, 3, 3, 3))};
	value_id y = build_node(f->g, OP_CONVTRANSPOSE, 11, in, 2);

	build_list(f->g, "strides", DIMS(2, 2));
	build_list(f->g, "pads", DIMS(1, 1, 1, 1));
	build_list(f->g, "output_padding", DIMS(1, 1));
	run(f);
	expect(f, y, "float32[1,3,10,10]");
}

static void
reductions(void **state)
{
	struct fixture *f = *state;
	value_id a = over(f, OP_REDUCEMEAN, 13, DIMS(2, 3, 4)), b, c;

	build_list(f->g, "axes", DIMS(-1));
	b = over_list(f, OP_REDUCESUM, 13, DIMS(2, 3, 4), DIMS(0, 2));
	build_int(f->g, "keepdims", 0);
	c = over(f, OP_ARGMAX, 13, DIMS(2, 3, 4));
	build_int(f->g, "axis", 1);
	run(f);
	expect(f, a, "float32[2,3,1]");
	expect(f, b, "float32[3]");
	expect(f, c, "int64[2,1,4]");
}

/* The axes moved from an attribute to an input. */
static void
squeeze_by_opset(void **state)
{
	struct fixture *f = *state;
	value_id old = over(f, OP_SQUEEZE, 11, DIMS(1, 3, 1)), now, all;

	build_list(f->g, "axes", DIMS(0));
	now = over_list(f, OP_SQUEEZE, 13, DIMS(1, 3, 1), DIMS(-1));
	all = over(f, OP_SQUEEZE, 13, DIMS(1, 3, 1));
	run(f);
	expect(f, old, "float32[3,1]");
	expect(f, now, "float32[1,3]");
	expect(f, all, "float32[3]");
}

static void
squeeze_fault(void **state)
{
	struct fixture *f = *state;

	over_list(f, OP_SQUEEZE, 13, DIMS(1, 3), DIMS(1));
	expect_fault(f, "axis 1 has size 3, 1 is needed");
}

static void
split_uneven(void **state)
{
	struct fixture *f = *state;
	value_id a = over(f, OP_SPLIT, 18, DIMS(7)), b;

	build_int(f->g, "num_outputs", 2);
	b = build_output(f->g);
	run(f);
	expect(f, a, "float32[4]");
	expect(f, b, "float32[3]");
}

static void
split_fault(void **state)
{
	struct fixture *f = *state;

	over(f, OP_SPLIT, 13, DIMS(7));
	build_output(f->g);
	expect_fault(f, "7 does not split into 2 equal parts");
}

static void
slice_backwards(void **state)
{
	struct fixture *f = *state;
	value_id in[5] = {build_input(f->g, "x", DT_FLOAT, DIMS(10, 4)),
	    build_ints(f->g, DIMS(-1)), build_ints(f->g, DIMS(INT64_MIN)),
	    build_ints(f->g, DIMS(0)), build_ints(f->g, DIMS(-3))};
	value_id y = build_node(f->g, OP_SLICE, 13, in, 5);

	run(f);
	expect(f, y, "float32[4,4]");
}

static void
slice_step_zero(void **state)
{
	struct fixture *f = *state;
	value_id zero = build_ints(f->g, DIMS(0));
	value_id in[5] = {build_input(f->g, "x", DT_FLOAT, DIMS(10)), zero,
	    build_ints(f->g, DIMS(5)), zero, zero};

	build_node(f->g, OP_SLICE, 13, in, 5);
	expect_fault(f, "steps[0] is 0");
}

static void
pad_by_opset(void **state)
{
	struct fixture *f = *state;
	value_id y = over(f, OP_PAD, 2, DIMS(2, 3)), z;

	build_list(f->g, "pads", DIMS(0, 1, 2, -1));
	z = over_list(f, OP_PAD, 13, DIMS(2, 3), DIMS(0, 1, 0, 1));
	run(f);
	expect(f, y, "float32[4,3]");
	expect(f, z, "float32[2,5]");
}

static void
gather_fault(void **state)
{
	struct fixture *f = *state;

	over_list(f, OP_GATHER, 13, DIMS(3, 2), DIMS(0, -4));
	expect_fault(f, "index -4 is outside an axis of 3");
}

static void
matmul_broadcasts(void **state)
{
	struct fixture *f = *state;
	value_id in[2] = {build_input(f->g, "a", DT_FLOAT, DIMS(5, 1, 2, 3)),
	    build_input(f->g, "b", DT_FLOAT, DIMS(4, 3, 6))};
	value_id y = build_node(f->g, OP_MATMUL, 13, in, 2), z;

	in[0] = build_input(f->g, "v", DT_FLOAT, DIMS(3));
	z = build_node(f->g, OP_MATMUL, 13, in, 2);
	run(f);
	expect(f, y, "float32[5,4,2,6]");
	expect(f, z, "float32[4,6]");
}

static void
lstm_shapes(void **state)
{
	struct fixture *f = *state;
	value_id in[3] = {build_input(f->g, "x", DT_FLOAT, DIMS(7, 2, 5)),
	    build_zeros(f->g, DT_FLOAT, DIMS(2, 12, 5)),
	    build_zeros(f->g, DT_FLOAT, DIMS(2, 12, 3))};
	value_id y = build_node(f->g, OP_LSTM, 14, in, 3), h, c;

	build_int(f->g, "hidden_size", 3);
	build_string(f->g, "direction", "bidirectional");
	h = build_output(f->g);
	c = build_output(f->g);
	run(f);
	expect(f, y, "float32[7,2,2,3]");
	expect(f, h, "float32[2,2,3]");
	expect(f, c, "float32[2,2,3]");
}

static void
lstm_fault(void **state)
{
	struct fixture *f = *state;
	value_id in[3] = {build_input(f->g, "x", DT_FLOAT, DIMS(7, 2, 5)),
	    build_zeros(f->g, DT_FLOAT, DIMS(1, 12, 5)),
	    build_zeros(f->g, DT_FLOAT, DIMS(1, 12, 3))};

	build_node(f->g, OP_LSTM, 14, in, 3);
	build_int(f->g, "hidden_size", 4);
	expect_fault(f, "hidden_size and r: 4 and 3");
}

static void
einsum_shapes(void **state)
{
	struct fixture *f = *state;
	value_id in[2] = {build_input(f->g, "a", DT_FLOAT, DIMS(2, 3, 4)),
	    build_input(f->g, "b", DT_FLOAT, DIMS(2, 4, 5))};
	value_id y = build_node(f->g, OP_EINSUM, 12, in, 2), z;

	build_string(f->g, "equation", "...ij, ...jk -> ...ik");
	z = build_node(f->g, OP_EINSUM, 12, in, 2);
	build_string(f->g, "equation", "bij,bjk");
	run(f);
	expect(f, y, "float32[2,3,5]");
	expect(f, z, "float32[3,5]");
}

static void
einsum_fault(void **state)
{
	struct fixture *f = *state;

	over(f, OP_EINSUM, 12, DIMS(2, 3));
	build_string(f->g, "equation", "ijk->i");
	expect_fault(f, "rank 2 but 3 letters");
}

static void
resize_by_scales(void **state)
{
	/* 0.7 as a float is less, and 10 times that is 7 as a float */
	static const float scale[] = {1, 0.7f, 2, 0.5f};
	struct fixture *f = *state;
	struct tensor *t = arena_new(&f->a, struct tensor, 1);
	static const int64_t four = 4;
	value_id in[3] = {build_input(f->g, "x", DT_FLOAT, DIMS(1, 10, 5, 5)),
	    VALUE_NONE, VALUE_NONE};
	value_id y;

	*t = tensor_view(DT_FLOAT, 1, &four, scale);
	in[2] = graph_add_constant(f->g, "scales", t);
	y = build_node(f->g, OP_RESIZE, 13, in, 3);
	run(f);
	expect(f, y, "float32[1,7,10,2]");
}

static void
topk_too_many(void **state)
{
	struct fixture *f = *state;

	over_list(f, OP_TOPK, 11, DIMS(2, 3), DIMS(4));
	build_output(f->g);
	expect_fault(f, "k is 4 but the axis has 3");
}

/* What no version takes is refused; what a later one takes is noted. */
static void
dtype_by_opset(void **state)
{
	struct fixture *f = *state;
	value_id in[2] = {build_input(f->g, "a", DT_FLOAT, DIMS(2)),
	    build_input(f->g, "b", DT_FLOAT, DIMS(2))};

	build_node(f->g, OP_EQUAL, 10, in, 2);
	assert_true(run(f));
	assert_int_equal(f->notes.n, 2); /* each input */
	in[0] = in[1] = build_input(f->g, "c", DT_INT8, DIMS(2, 2));
	build_node(f->g, OP_MATMUL, 13, in, 2);
	expect_fault(f, "input 0 is int8; opset 13 takes float32");
}

static void
mixed_dtypes(void **state)
{
	struct fixture *f = *state;
	value_id in[2] = {build_input(f->g, "a", DT_FLOAT, DIMS(2)),
	    build_input(f->g, "b", DT_DOUBLE, DIMS(2))};

	build_node(f->g, OP_ADD, 13, in, 2);
	expect_fault(f, "input 1 is float64 but float32 is needed");
}

/* Names like "None" and "?" do not make two dimensions equal. */
static void
anonymous_dims(void **state)
{
	struct fixture *f = *state;
	int64_t none = DIM_SYMBOL(graph_symbol(f->g, "None"));
	value_id y = over(f, OP_RELU, 13, DIMS(none, none));

	run(f);
	expect(f, y, "float32[?,?]");
}

/* What the model states fills in what inference cannot know. */
static void
stated_shapes(void **state)
{
	struct fixture *f = *state;
	value_id y = over(f, OP_NONZERO, 13, DIMS(2, 3)), z;
	static const int64_t three[] = {2, 3}, wrong[] = {5};
	struct type t = {.kind = TYPE_TENSOR, .dtype = DT_INT64, .rank = 2};

	t.dim = three;
	graph_value(f->g, y)->type = t;
	z = over(f, OP_RELU, 13, DIMS(4));
	t = (struct type){
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 1, .dim = wrong};
	graph_value(f->g, z)->type = t;
	run(f);
	expect(f, y, "int64[2,3]");
	expect(f, z, "float32[4]");
	assert_int_equal(f->notes.n, 1);
}

static void
stated_output_contradicts(void **state)
{
	struct fixture *f = *state;
	value_id y = over(f, OP_RELU, 13, DIMS(4));
	static const int64_t wrong[] = {5};

	graph_value(f->g, y)->type = (struct type){
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 1, .dim = wrong};
	graph_value(f->g, y)->flags |= VALUE_OUTPUT;
	expect_fault(f, "is declared float32[5] but is float32[4]");
}

/* One output of an operator over x[dim], stated as float32[stated]. */
static void
stated_otherwise(struct fixture *f, enum op op, int64_t dim, int64_t stated)
{
	value_id y = over(f, op, 13, DIMS(dim));

	graph_value(f->g, y)->type = (struct type){
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 1, .dim = &stated};
	graph_value(f->g, y)->flags |= VALUE_OUTPUT;
	assert_true(run(f));
	assert_int_equal(graph_value(f->g, y)->type.dim[0], dim);
}

static void
stated_output_harmless(void **state)
{
	static const struct {
		enum op op;
		int64_t dim, stated;
		const char *rule; /* NULL: no warning */
	} row[] = {
	    {OP_DROPOUT, 4, 5, "dropout-output"},
	    {OP_DROPOUT, 4, 4, NULL},
	    {OP_RELU, 0, 5, "empty-output"},
	    {OP_RELU, 4, 1, "batch-output"},
	};
	struct fixture *f = *state;
	struct err err = {0};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		notes_init(&f->notes, f->notes.arena);
		stated_otherwise(f, row[i].op, row[i].dim, row[i].stated);
		assert_int_equal(
		    lenient_refuse(&f->notes, &err), row[i].rule == NULL);
		if (row[i].rule)
			assert_string_equal(f->notes.rule, row[i].rule);
		err_clear(&err);
	}
}

static void
open_output_harmless(void **state)
{
	static const int64_t stated[] = {DIM_UNKNOWN, 1};
	struct fixture *f = *state;
	value_id y = over(f, OP_RELU, 13, DIMS(4));

	graph_value(f->g, y)->type = (struct type){
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 2, .dim = stated};
	graph_value(f->g, y)->flags |= VALUE_OUTPUT;
	assert_true(run(f));
	assert_int_equal(graph_value(f->g, y)->type.rank, 1);
	assert_string_equal(f->notes.rule, "open-output");
}

/* A branch that is a constant of those dimensions. */
static struct graph *
constant_branch(struct fixture *f, const int64_t *dim, uint32_t rank)
{
	struct graph *g = graph_new(&f->a, "branch");
	value_id *out = arena_new(&f->a, value_id, 1);

	out[0] = build_zeros(g, DT_FLOAT, dim, rank);
	g->output = out;
	g->noutputs = 1;
	return g;
}

/* Relu of an If's output, stated as one branch makes it where the other is. */
static void
output_behind_a_branch_harmless(void **state)
{
	static const int64_t stated[] = {6};
	struct fixture *f = *state;
	struct graph *branch[] = {
	    constant_branch(f, DIMS(6)), constant_branch(f, DIMS(2, 3))};
	const struct attr attr[] = {
	    {"then_branch", ATTR_GRAPH, 1, .graphs = &branch[0]},
	    {"else_branch", ATTR_GRAPH, 1, .graphs = &branch[1]}};
	value_id no = build_zeros(f->g, DT_BOOL, NULL, 0);
	value_id y = build_node(f->g, OP_IF, 13, &no, 1);

	graph_node(f->g, 0)->attr = attr;
	graph_node(f->g, 0)->nattrs = 2;
	y = build_node(f->g, OP_RELU, 13, &y, 1);
	graph_value(f->g, y)->type = (struct type){
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 1, .dim = stated};
	graph_value(f->g, y)->flags |= VALUE_OUTPUT;
	assert_true(run(f));
	expect(f, y, "float32[2,3]");
	assert_string_equal(f->notes.rule, "body-output");
}

static void
expect_early(
    struct fixture *f, const struct graph *g, value_id v, const char *type)
{
	assert_string_equal(
	    type_text(&graph_value(g, v)->type, g->symbol, &f->a), type);
	assert_int_equal(graph_value(f->g, v)->type.kind, TYPE_UNKNOWN);
}

/* Types while a graph grows: the graph itself stays as it was read, and a node
 * that breaks a rule is nobody's affair yet. */
static void
types_so_far(void **state)
{
	struct fixture *f = *state;
	value_id x = build_input(f->g, "x", DT_FLOAT, DIMS(2, 3, 4));
	value_id r = build_node(f->g, OP_RELU, 13, &x, 1), s, bad, t[20];
	struct early *early = NULL;

	expect_early(f, early_types(&early, f->g, &f->a), r, "float32[2,3,4]");
	s = build_node(f->g, OP_SHAPE, 13, &r, 1);
	bad = build_node(f->g, OP_SQUEEZE, 13,
	    (value_id[]){x, build_ints(f->g, DIMS(0))}, 2);
	for (uint32_t i = 0; i < 20; i++)
		t[i] = build_node(
		    f->g, OP_RESHAPE, 13, (value_id[]){i ? t[i - 1] : r, s}, 2);
	expect_early(f, early_types(&early, f->g, &f->a), s, "int64[3]");
	expect_early(f, early_types(&early, f->g, &f->a), bad, "unknown");
	expect_early(
	    f, early_types(&early, f->g, &f->a), t[19], "float32[2,3,4]");
	assert_ptr_equal(graph_value(f->g, s)->constant, NULL);
	early_release(early);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	    T(types_so_far),
	    T(open_output_harmless),
	    T(output_behind_a_branch_harmless),
	    T(conv_explicit_pads),
	    T(conv_same_and_dilated),
	    T(conv_faults),
	    T(conv_kernel_too_large),
	    T(conv_rank_mismatch),
	    T(pool_ceil),
	    T(reshape_copies_and_infers),
	    T(reshape_faults),
	    T(shape_chain),
	    T(fill_is_virtual),
	    T(bomb_is_refused),
	    T(broadcast_keeps_symbols),
	    T(keep_going_reports_all),
	    T(conv_symbolic),
	    T(convtranspose_shapes),
	    T(reductions),
	    T(squeeze_by_opset),
	    T(squeeze_fault),
	    T(split_uneven),
	    T(split_fault),
	    T(slice_backwards),
	    T(slice_step_zero),
	    T(pad_by_opset),
	    T(gather_fault),
	    T(matmul_broadcasts),
	    T(lstm_shapes),
	    T(lstm_fault),
	    T(einsum_shapes),
	    T(einsum_fault),
	    T(resize_by_scales),
	    T(topk_too_many),
	    T(dtype_by_opset),
	    T(mixed_dtypes),
	    T(anonymous_dims),
	    T(stated_shapes),
	    T(stated_output_contradicts),
	    T(stated_output_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
