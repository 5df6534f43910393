#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
/* Writing: what is written reads back as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "ir/base/file.h"
#include "ir/onnx_read.h"
#include "ir/onnx_write.h"
#include "tests/support/build.h"
#include "tests/support/scratch.h"
#include "tests/support/support.h"

static const struct onnx_opset opset[] = {{"", 13}, {"own", 1}};

struct fixture {
	struct arena a;
	struct model m;
	struct err err;
	char *bytes;
	size_t n;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	arena_init(&f->a);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	arena_release(&f->a);
	free(f->bytes);
	free(f);
	return 0;
}

/* Write and read again; the model read. */
static const struct graph *
through(struct fixture *f, const struct onnx_out *out)
{
	FILE *file = open_memstream(&f->bytes, &f->n);

	assert_true(onnx_write(file, out, &f->err));
	fclose(file);
	if (!onnx_read_bytes(&f->m, f->bytes, f->n, NULL, &f->a, &f->err))
		fail_msg("%s", f->err.text);
	graph_verify(f->m.graph);
	return f->m.graph;
}

static struct onnx_out
out_of(const struct graph *g)
{
	return (struct onnx_out){
	    .graph = g, .ir_version = 10, .nopsets = 2, .opset = opset};
}

static void
set_outputs(struct graph *g, value_id v)
{
	value_id *out = arena_new(g->arena, value_id, 1);

	out[0] = v;
	g->output = out;
	g->noutputs = 1;
	graph_value(g, v)->flags |= VALUE_OUTPUT;
}

/* y = LeakyRelu(x + w), all attribute kinds that fit on the way. */
static struct graph *
small_graph(struct arena *a)
{
	struct graph *g = graph_new(a, "small");
	const int64_t n[] = {DIM_SYMBOL(0), 3};
	value_id io[2];

	graph_symbol(g, "batch");
	io[0] = build_input(g, "x", DT_FLOAT, n, 2);
	io[1] = build_zeros(g, DT_FLOAT, DIMS(1, 3));
	io[0] = build_node(g, OP_ADD, 13, io, 2);
	io[0] = build_node(g, OP_LEAKYRELU, 13, io, 1);
	build_float(g, "alpha", 0.25f);
	set_outputs(g, io[0]);
	return g;
}

static void
graphs_read_back_as_they_were(void **state)
{
	struct fixture *f = *state;
	struct graph *g = small_graph(&f->a);
	const struct onnx_out out = out_of(g);
	const struct graph *again = through(f, &out);
	const struct tensor *w =
	    graph_value(again, again->node[0].input[1])->constant;

	assert_int_equal(again->nnodes, 2);
	assert_string_equal(again->name, "small");
	assert_float_equal(attr_float_or(&again->node[1], "alpha", 0), 0.25, 0);
	assert_string_equal(again->symbol[0], "batch");
	assert_int_equal(
	    graph_value(again, again->input[0])->type.dim[0], DIM_SYMBOL(0));
	assert_int_equal(w->count, 3);
	assert_float_equal(tensor_real(w, 2), 0, 0);
	assert_int_equal(f->m.ir_version, 10);
	assert_int_equal(f->m.nopsets, 2);
}

/* Of a file alone nothing says that so few numbers are a weight's. */
static void
small_weights_without_content_are_read_again(void **state)
{
	struct fixture *f = *state;
	struct graph *g = small_graph(&f->a);
	const value_id w = g->node[0].input[1];
	struct tensor *bare = arena_copy(
	    &f->a, g->value[w].constant, sizeof *g->value[w].constant);
	const struct onnx_out out = out_of(g);
	const struct graph *again;

	bare->made_up = true;
	g->value[w].constant = bare;
	again = through(f, &out);
	assert_true(again->value[again->node[0].input[1]].constant->made_up);
	assert_int_equal(f->m.nmeta, 1);
	assert_string_equal(f->m.meta[0].key, MARK_WEIGHTS);
}

static void
what_is_never_looked_into_goes_out_as_it_came(void **state)
{
	/* TypeProto: map_type (5) {key_type (1): STRING, value_type (2):
	 * tensor_type (1) {elem_type (1): FLOAT}} */
	static const char map[] = {0x2a, 8, 0x08, 8, 0x12, 4, 0x0a, 2, 0x08, 1};
	const struct string_view packed = {map, sizeof map};
	struct fixture *f = *state;
	struct graph *g = small_graph(&f->a);
	struct type *t = &graph_value(g, g->output[0])->type;
	const struct onnx_out out = out_of(g);
	const struct graph *again;

	*t = (struct type){
	    .kind = TYPE_OPAQUE, .rank = RANK_UNKNOWN, .proto = &packed};
	again = through(f, &out);
	t = &graph_value(again, again->output[0])->type;
	assert_int_equal(t->kind, TYPE_OPAQUE);
	assert_int_equal(t->proto->n, sizeof map);
	assert_memory_equal(t->proto->s, map, sizeof map);
}

static void
the_same_graph_gives_the_same_bytes(void **state)
{
	struct fixture *f = *state;
	struct graph *g = small_graph(&f->a);
	const struct onnx_out out = out_of(g);
	char *first;
	size_t n;

	through(f, &out);
	first = f->bytes;
	n = f->n;
	f->bytes = NULL;
	through(f, &out);
	assert_int_equal(f->n, n);
	assert_memory_equal(f->bytes, first, n);
	free(first);
}

static void
light_constants_are_shapes(void **state)
{
	struct fixture *f = *state;
	struct graph *g = graph_new(&f->a, "g");
	struct onnx_out out;
	const struct graph *again;
	value_id io[2];

	io[0] = build_input(g, "x", DT_FLOAT, DIMS(1, 1000));
	io[1] = build_zeros(g, DT_FLOAT, DIMS(1000, 1000));
	set_outputs(g, build_node(g, OP_MATMUL, 13, io, 2));
	out = out_of(g);
	out.light = true;
	again = through(f, &out);
	assert_true(f->n < 1000);
	assert_int_equal(again->nnodes, 2);
	assert_int_equal(again->node[0].op, OP_CONSTANTOFSHAPE);
	assert_int_equal(
	    tensor_int(
	        graph_value(again, again->node[0].input[0])->constant, 1),
	    1000);
}

/* Only the large ones, and only where the operator exists. */
static void
large_fills_are_shapes(void **state)
{
	struct fixture *f = *state;
	struct onnx_opset old = {"", 8};

	for (uint32_t i = 0; i < 3; i++) {
		struct graph *g = graph_new(&f->a, "g");
		struct onnx_out out;
		value_id io[2];

		io[0] = build_input(g, "x", DT_FLOAT, DIMS(1, 100));
		io[1] = build_zeros(g, DT_FLOAT, DIMS(100, 100));
		set_outputs(
		    g, build_node(g, OP_MATMUL, i == 2 ? 1 : 13, io, 2));
		out = out_of(g);
		out.light_bytes = i == 1 ? 40001 : 40000;
		if (i == 2)
			out.opset = &old, out.nopsets = 1;
		free(f->bytes);
		f->bytes = NULL;
		assert_int_equal(through(f, &out)->nnodes, i == 0 ? 2 : 1);
		assert_int_equal(f->n < 1000, i == 0);
		model_close(&f->m);
	}
}

/* More than a file may hold is refused, and nothing is written. */
static void
files_end_at_2_gib(void **state)
{
	struct fixture *f = *state;
	const size_t bytes = (size_t)2200 * 1000 * 1000;
	void *weights = mmap(NULL, bytes, PROT_READ,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	static const int64_t many[] = {1000, 550000};
	struct graph *g = graph_new(&f->a, "g");
	struct onnx_out out;
	value_id io[2];
	FILE *file;

	assert_ptr_not_equal(weights, MAP_FAILED);
	io[0] = build_input(g, "x", DT_FLOAT, DIMS(1, 1000));
	io[1] = build_zeros(g, DT_FLOAT, DIMS(1000, 550000));
	*(struct tensor *)(uintptr_t)graph_value(g, io[1])->constant =
	    tensor_view(DT_FLOAT, 2, many, weights);
	set_outputs(g, build_node(g, OP_MATMUL, 13, io, 2));
	out = out_of(g);
	file = open_memstream(&f->bytes, &f->n);
	assert_false(onnx_write(file, &out, &f->err));
	fclose(file);
	assert_int_equal(f->n, 0);
	assert_int_equal(f->err.kind, ERR_UNSUPPORTED);
	munmap(weights, bytes);
}

static void
functions_carry_their_constants(void **state)
{
	struct fixture *f = *state;
	struct graph *main = graph_new(&f->a, "main");
	const struct onnx_function function = {
	    "Piece", "own", small_graph(&f->a)};
	struct onnx_out out;
	struct node *call;
	const struct graph *again;
	value_id x = build_input(main, "in", DT_FLOAT, DIMS(2, 3));

	set_outputs(main, build_node(main, OP_RELU, 1, &x, 1));
	call = graph_node(main, 0);
	call->op = OP_CUSTOM;
	call->op_type = "Piece";
	call->domain = "own";
	out = out_of(main);
	out.nfunctions = 1;
	out.function = &function;
	again = through(f, &out);
	assert_int_equal(again->nnodes, 2);
	assert_int_equal(again->node[0].op, OP_ADD);
	assert_int_equal(again->node[0].origin[0].role, ROLE_SPLIT);
	assert_non_null(graph_value(again, again->node[0].input[1])->constant);
}

static void
sub_graphs_name_what_they_capture(void **state)
{
	struct fixture *f = *state;
	struct model m;
	struct onnx_out out;
	const struct graph *again;

	if (!onnx_read(&m, source_path("tests/fuzz/corpus/fuzz_onnx/if"), NULL,
	        &f->a, &f->err))
		fail_msg("%s", f->err.text);
	out = out_of(m.graph);
	/* the outer value is renamed: the sub-graph must follow */
	graph_value(m.graph, m.graph->input[0])->name = "renamed";
	again = through(f, &out);
	assert_int_equal(again->node[0].nimplicit, 2);
	assert_string_equal(
	    graph_value(again, again->input[0])->name, "renamed");
	model_close(&m);
}

static void
tensors_of_test_data_read_back(void **state)
{
	struct fixture *f = *state;
	const int64_t dim[] = {3};
	const double x[] = {1.5, -2, 1e300};
	const struct tensor t = tensor_view(DT_DOUBLE, 1, dim, x);
	char path[] = "/tmp/marq-test-XXXXXX";
	struct tensor again;
	FILE *file = fdopen(mkstemp(path), "wb");
	bool ok = onnx_write_tensor(file, "t", &t, &f->err);

	fclose(file);
	ok = ok && onnx_read_tensor(&again, path, &f->a, &f->err);
	remove(path);
	assert_true(ok);
	assert_true(tensor_equal(&again, &t));
}

static void
a_full_disk_is_reported(void **state)
{
	struct fixture *f = *state;
	const struct onnx_out out = out_of(small_graph(&f->a));
	FILE *file = fopen("/dev/full", "wb");

	if (!file)
		skip();
	setvbuf(file, NULL, _IONBF, 0);
	assert_false(onnx_write(file, &out, &f->err));
	assert_int_equal(f->err.kind, ERR_IO);
	fclose(file);
}

/* A weight that is read where it lies, one repeated and one too small. */
static void
weights_beside_the_model_read_back(void **state)
{
	struct fixture *f = *state;
	struct graph *g = graph_new(&f->a, "large");
	float weight[1500];
	const float half = 0.5f;
	const int64_t many = 1500, one = 1;
	const struct tensor parts[] = {
	    tensor_view(DT_FLOAT, 1, &many, weight),
	    tensor_fill(DT_FLOAT, 1, &many, &half),
	    tensor_fill(DT_FLOAT, 1, &one, &half),
	};
	struct onnx_out out = out_of(g);
	const char *path = scratch_path("large.onnx", &f->a);
	FILE *file = fopen(path, "we");
	FILE *beside = fopen(scratch_path("large.bin", &f->a), "we");
	const struct tensor *t;
	value_id x = build_input(g, "x", DT_FLOAT, &many, 1);

	for (uint32_t i = 0; i < 1500; i++)
		weight[i] = (float)i;
	for (uint32_t i = 0; i < 3; i++) {
		const value_id in[] = {x,
		    graph_add_constant(
		        g, i ? i > 1 ? "c" : "b" : "a", &parts[i])};

		x = build_node(g, OP_ADD, 13, in, 2);
	}
	set_outputs(g, x);
	out.beside = "large.bin";
	out.beside_bytes = 6000;
	assert_true(onnx_write(file, &out, &f->err));
	assert_in_range(ftell(file), 100, 1000);
	assert_true(onnx_write_beside(beside, &out, &f->err));
	assert_int_equal(ftell(beside), 8192 + 6000);
	assert_int_equal(fclose(file) + fclose(beside), 0);
	if (!onnx_read(&f->m, path, NULL, &f->a, &f->err))
		fail_msg("%s", f->err.text);
	for (uint32_t i = 0; i < 3; i++) {
		t = graph_value(f->m.graph, f->m.graph->node[i].input[1])
		        ->constant;
		assert_true(tensor_equal(t, &parts[i]));
	}
	model_close(&f->m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(graphs_read_back_as_they_were),
	    TEST(small_weights_without_content_are_read_again),
	    TEST(what_is_never_looked_into_goes_out_as_it_came),
	    TEST(the_same_graph_gives_the_same_bytes),
	    TEST(light_constants_are_shapes),
	    TEST(large_fills_are_shapes),
	    TEST(files_end_at_2_gib),
	    TEST(functions_carry_their_constants),
	    TEST(sub_graphs_name_what_they_capture),
	    TEST(tensors_of_test_data_read_back),
	    TEST(a_full_disk_is_reported),
	    TEST(weights_beside_the_model_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
