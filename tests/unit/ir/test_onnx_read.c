/* Importing: what is read, what is refused and with which words. Models come
 * from the fuzz corpus (made by ourselves) or are written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/base/file.h"
#include "ir/onnx_read.h"
#include "ir/onnx_write.h"
#include "ir/wire_out.h"
#include "tests/support/build.h"
#include "tests/support/support.h"

struct fixture {
	struct arena a;
	struct model m;
	struct err err;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	arena_init(&f->a);
	*state = f;
	return f ? 0 : -1;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	model_close(&f->m);
	arena_release(&f->a);
	free(f);
	return 0;
}

static bool
read_with(struct fixture *f, const char *name, const struct onnx_options *o)
{
	char path[512];

	snprintf(path, sizeof path, "tests/fuzz/corpus/fuzz_onnx/%s", name);
	return onnx_read(&f->m, source_path(path), o, &f->a, &f->err);
}

static const struct graph *
read_ok(struct fixture *f, const char *name)
{
	if (!read_with(f, name, NULL))
		fail_msg("%s: %s", name, f->err.text);
	graph_verify(f->m.graph);
	return f->m.graph;
}

static const struct value *
value_named(const struct graph *g, const char *name)
{
	for (value_id v = 0; v < g->nvalues; v++)
		if (strcmp(g->value[v].name, name) == 0)
			return &g->value[v];
	fail_msg("no value '%s'", name);
	return NULL;
}

static void
header_and_graph_are_read(void **state)
{
	struct fixture *f = *state;
	const struct graph *g = read_ok(f, "add");

	assert_int_equal(f->m.ir_version, 8);
	assert_int_equal(f->m.nopsets, 1);
	assert_string_equal(f->m.opset[0].domain, "");
	assert_int_equal(f->m.opset[0].version, 13);
	assert_int_equal(g->nnodes, 1);
	assert_int_equal(g->node[0].op, OP_ADD);
	assert_int_equal(g->node[0].opset, 13);
	assert_string_equal(g->node[0].name, "n");
	assert_int_equal(g->ninputs, 1);
	assert_int_equal(value_named(g, "y")->flags, VALUE_OUTPUT);
	assert_int_equal(g->origin_table->n, 1);
	assert_int_equal(g->node[0].origin[0].role, ROLE_KEPT);
}

static void
payloads_stay_in_the_file(void **state)
{
	struct fixture *f = *state;
	const struct tensor *t;
	const char *bytes;
	char path[512];
	size_t n;

	snprintf(path, sizeof path, "tests/fuzz/corpus/fuzz_onnx/add");
	assert_true(file_read(
	    &bytes, &n, source_path(path), LIMIT_READ_TENSOR, &f->a, &f->err));
	assert_true(onnx_read_bytes(&f->m, bytes, n, NULL, &f->a, &f->err));
	t = value_named(f->m.graph, "w")->constant;
	assert_int_equal(t->kind, TENSOR_VIEW);
	assert_true((const char *)t->data > bytes);
	assert_true((const char *)t->data + t->bytes <= bytes + n);
	assert_float_equal(tensor_real(t, 3), 3, 0);
}

static void
initialisers_that_are_inputs_can_be_overridden(void **state)
{
	const struct graph *g = read_ok(*state, "overridable");

	assert_int_equal(g->ninputs, 1);
	assert_string_equal(graph_value(g, g->input[0])->name, "x");
	assert_int_equal(value_named(g, "w")->flags, VALUE_OVERRIDABLE);
	assert_non_null(value_named(g, "w")->constant);
	assert_int_equal(g->nsymbols, 1);
	assert_int_equal(value_named(g, "x")->type.dim[0], DIM_SYMBOL(0));
}

static void
dimensions_are_bound_by_name_or_by_input(void **state)
{
	struct fixture *f = *state;
	const int64_t seven[] = {7};
	const struct bind_dim dim = {"N", 5};
	const struct bind_shape shape = {.value = "x", .rank = 1, .dim = seven};

	assert_true(read_with(
	    f, "overridable", &(struct onnx_options){.ndims = 1, .dim = &dim}));
	assert_int_equal(value_named(f->m.graph, "x")->type.dim[0], 5);
	model_close(&f->m);
	assert_true(read_with(f, "overridable",
	    &(struct onnx_options){.nshapes = 1, .shape = &shape}));
	assert_int_equal(value_named(f->m.graph, "x")->type.dim[0], 7);
}

static void
bindings_must_mean_something(void **state)
{
	struct fixture *f = *state;
	const int64_t seven[] = {7};
	const struct bind_dim dim = {"M", 5};
	const struct bind_shape shape = {.value = "x", .rank = 1, .dim = seven};

	assert_false(read_with(
	    f, "overridable", &(struct onnx_options){.ndims = 1, .dim = &dim}));
	assert_int_equal(f->err.kind, ERR_USAGE);
	assert_non_null(strstr(f->err.text, "no dimension 'M'"));
	err_clear(&f->err);
	assert_false(read_with(
	    f, "add", &(struct onnx_options){.nshapes = 1, .shape = &shape}));
	assert_int_equal(f->err.kind, ERR_USAGE);
	assert_non_null(strstr(
	    f->err.text, "dimension 0 of input 'x' is 4 in the model, 7"));
}

static void
sub_graphs_capture_outer_values(void **state)
{
	const struct graph *g = read_ok(*state, "if"), *then, *other;
	const struct node *n = &g->node[0];

	assert_int_equal(n->op, OP_IF);
	assert_int_equal(n->ninputs, 1);
	assert_int_equal(n->nimplicit, 2);
	then = node_attr(n, "then_branch")->graphs[0];
	other = node_attr(n, "else_branch")->graphs[0];
	assert_int_equal(then->ncaptures, 1);
	assert_int_equal(other->ncaptures, 1);
	assert_string_equal(
	    graph_value(g, n->input[1 + then->capture[0].slot])->name, "x");
	assert_string_equal(
	    graph_value(g, n->input[1 + other->capture[0].slot])->name, "w");
	/* a constant is known inside as well */
	assert_non_null(graph_value(other, other->capture[0].inner)->constant);
	assert_ptr_equal(then->origin_table, g->origin_table);
	assert_int_equal(g->origin_table->n, 3);
	assert_string_equal(g->origin_table->node[1].path, "If_0/else_branch");
}

static void
functions_are_inlined_with_origins(void **state)
{
	const struct graph *g = read_ok(*state, "function");

	assert_int_equal(g->nnodes, 3);
	assert_int_equal(g->origin_table->n, 2);
	assert_int_equal(g->node[0].op, OP_ADD);
	assert_int_equal(g->node[1].op, OP_RELU);
	assert_int_equal(g->node[2].op, OP_LEAKYRELU);
	assert_int_equal(g->node[0].origin[0].onnx, 0);
	assert_int_equal(g->node[0].origin[0].role, ROLE_SPLIT);
	assert_int_equal(g->node[2].origin[0].onnx, 1);
	/* the call's attribute reached the body */
	assert_float_equal(attr_float_or(&g->node[2], "alpha", 0), 0.5, 0);
	assert_string_equal(graph_value(g, g->node[1].output[0])->name, "u");
	assert_string_equal(
	    graph_value(g, g->node[0].output[0])->name, "F#0/t");
}

static void
constants_are_folded(void **state)
{
	const struct graph *g = read_ok(*state, "constants");

	assert_int_equal(g->nnodes, 2);
	assert_int_equal(g->origin_table->n, 5);
	assert_int_equal(g->origin_table->node[0].fate, FATE_FOLDED);
	assert_int_equal(g->origin_table->node[3].fate, FATE_COVERED);
	assert_int_equal(value_named(g, "a")->constant->rank, 0);
	assert_int_equal(tensor_int(value_named(g, "b")->constant, 1), 2);
	assert_int_equal(value_named(g, "s")->constant->kind, TENSOR_STRINGS);
	assert_memory_equal(value_named(g, "s")->constant->string[1].s, "q", 1);
}

static void
sparse_initialisers_become_dense(void **state)
{
	const struct tensor *t =
	    value_named(read_ok(*state, "sparse"), "w")->constant;
	const double want[] = {1, 0, 0, 0, 0, 2};

	assert_int_equal(t->rank, 2);
	for (size_t i = 0; i < 6; i++)
		assert_float_equal(tensor_real(t, i), want[i], 0);
}

static void
every_dtype_is_decoded(void **state)
{
	const struct graph *g = read_ok(*state, "dtypes");

	assert_float_equal(
	    tensor_real(value_named(g, "t0")->constant, 1), 2, 0);
	assert_int_equal(tensor_int(value_named(g, "t1")->constant, 1), 2);
	assert_int_equal(tensor_int(value_named(g, "t2")->constant, 1), 0);
	assert_float_equal(
	    tensor_real(value_named(g, "t3")->constant, 0), 1, 0);
	assert_int_equal(tensor_int(value_named(g, "t5")->constant, 0), -1);
	assert_int_equal(value_named(g, "t7")->constant->bytes, 16);
}

static void
unsorted_nodes_are_sorted_with_a_warning(void **state)
{
	struct fixture *f = *state;
	const struct graph *g = read_ok(f, "unsorted");

	assert_int_equal(g->node[0].op, OP_RELU);
	assert_int_equal(f->m.notes.n, 1);
	assert_non_null(strstr(f->m.notes.text[0], "topological"));
	assert_int_equal(g->node[0].origin[0].onnx, 1);
}

static void
other_domains_are_opaque(void **state)
{
	const struct graph *g = read_ok(*state, "custom");

	assert_int_equal(g->node[0].op, OP_CUSTOM);
	assert_string_equal(g->node[0].op_type, "Thing");
	assert_string_equal(g->node[0].domain, "e.g");
	assert_int_equal(g->node[0].opset, 3);
	assert_int_equal(g->node[0].nattrs, 2);
}

/* A model of one node of the given type with one output, from wire bytes. */
static bool
read_node_model(struct fixture *f, const struct onnx_options *o,
    const char *const *type, uint32_t n)
{
	struct wire_out model, graph, part;
	char *text = NULL, name[16];
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	bool ok;

	wire_out_init(&model);
	wire_out_init(&graph);
	wire_out_int(&model, 1, 8);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof name, "y%u", i);
		wire_out_init(&part);
		wire_out_str(&part, 1, "nowhere");
		wire_out_str(&part, 2, name);
		wire_out_str(&part, 4, type[i]);
		wire_out_message(&graph, 1, &part);
	}
	wire_out_message(&model, 7, &graph);
	wire_out_init(&part);
	wire_out_int(&part, 2, 13);
	wire_out_message(&model, 8, &part);
	wire_out_write(file, &model, NULL, NULL);
	wire_out_release(&model);
	fclose(file);
	ok = onnx_read_bytes(&f->m, text, size, o, &f->a, &f->err);
	free(text);
	return ok;
}

static void
the_first_fault_is_reported(void **state)
{
	struct fixture *f = *state;

	assert_false(read_node_model(
	    f, NULL, (const char *const[]){"Relu", "Nonsense"}, 2));
	assert_int_equal(f->err.kind, ERR_INPUT);
	assert_string_equal(f->err.text,
	    "node '' (#0, Relu): input 0, 'nowhere', is not defined anywhere");
}

static void
all_faults_are_found_on_request(void **state)
{
	struct fixture *f = *state;
	const struct onnx_options o = {.collect = true};

	assert_false(read_node_model(
	    f, &o, (const char *const[]){"Relu", "Neg", "Abs"}, 3));
	assert_int_equal(f->m.faults.n, 3);
	assert_non_null(strstr(f->m.faults.text[2], "#2, Abs"));
	assert_string_equal(f->err.text, f->m.faults.text[0]);
}

/* A graph `y = x + w` with a weight of n floats. */
static struct graph *
add_graph(struct arena *a, int64_t n)
{
	struct graph *g = graph_new(a, "g");
	value_id io[2];
	value_id *out = arena_new(a, value_id, 1);

	io[0] = build_input(g, "x", DT_FLOAT, DIMS(1));
	io[1] = build_zeros(g, DT_FLOAT, &n, 1);
	out[0] = build_node(g, OP_ADD, 13, io, 2);
	g->output = out;
	g->noutputs = 1;
	return g;
}

/* Leaves a hole in the file instead of writing the content. */
static bool
skip_content(FILE *f, const void *context, value_id v)
{
	const struct graph *g = context;

	return fseeko(f, (off_t)graph_value(g, v)->constant->bytes, SEEK_CUR)
	    == 0;
}

static void
models_above_two_gigabytes_are_read(void **state)
{
	struct fixture *f = *state;
	char path[] = "/tmp/marq-test-XXXXXX";
	struct graph *g = add_graph(&f->a, (int64_t)5 << 27);
	const struct onnx_opset opset = {"", 13};
	const struct onnx_out out = {.graph = g,
	    .ir_version = 8,
	    .nopsets = 1,
	    .opset = &opset,
	    .any_size = true,
	    .content = skip_content,
	    .context = g};
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "wb");
	bool ok = onnx_write(file, &out, &f->err);

	fclose(file);
	ok = ok && onnx_read(&f->m, path, NULL, &f->a, &f->err);
	unlink(path);
	if (!ok)
		fail_msg("%s", f->err.text);
	assert_int_equal(graph_value(f->m.graph, f->m.graph->node[0].input[1])
	                     ->constant->bytes,
	    (size_t)5 << 29);
}

static void
write_text(const char *folder, const char *name, const void *bytes, size_t n)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "wb");
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void
external_data_is_found_beside_the_model(void **state)
{
	struct fixture *f = *state;
	char folder[] = "/tmp/marq-test-XXXXXX", path[512];
	const float w[] = {1, 2, 3, 4};
	const char *bytes;
	size_t n;
	bool ok;

	assert_true(file_read(&bytes, &n,
	    source_path("tests/fuzz/corpus/fuzz_onnx/external"),
	    LIMIT_READ_TENSOR, &f->a, &f->err));
	assert_non_null(mkdtemp(folder));
	write_text(folder, "m.onnx", bytes, n);
	write_text(folder, "w.bin", w, sizeof w);
	snprintf(path, sizeof path, "%s/m.onnx", folder);
	ok = onnx_read(&f->m, path, NULL, &f->a, &f->err);
	unlink(path);
	snprintf(path, sizeof path, "%s/w.bin", folder);
	unlink(path);
	rmdir(folder);
	if (!ok)
		fail_msg("%s", f->err.text);
	assert_float_equal(
	    tensor_real(value_named(f->m.graph, "w")->constant, 3), 4, 0);
}

static void
add_pair(struct wire_out *w, const char *key, const char *value)
{
	struct wire_out pair;

	wire_out_init(&pair);
	wire_out_str(&pair, 1, key);
	wire_out_str(&pair, 2, value);
	wire_out_message(w, 13, &pair);
}

/* A model whose output is an external tensor of one float. */
static void
write_external(FILE *f, const char *location, const char *offset)
{
	struct wire_out model, graph, part;

	wire_out_init(&model);
	wire_out_init(&graph);
	wire_out_int(&model, 1, 8);
	wire_out_init(&part);
	wire_out_int(&part, 1, 1);
	wire_out_int(&part, 2, DT_FLOAT);
	wire_out_str(&part, 8, "w");
	add_pair(&part, "location", location);
	add_pair(&part, "offset", offset);
	wire_out_int(&part, 14, 1);
	wire_out_message(&graph, 5, &part);
	wire_out_init(&part);
	wire_out_str(&part, 1, "w");
	wire_out_message(&graph, 12, &part);
	wire_out_message(&model, 7, &graph);
	wire_out_init(&part);
	wire_out_int(&part, 2, 13);
	wire_out_message(&model, 8, &part);
	wire_out_write(f, &model, NULL, NULL);
	wire_out_release(&model);
}

static void
external_data_above_four_gigabytes_is_read(void **state)
{
	struct fixture *f = *state;
	char folder[] = "/tmp/marq-test-XXXXXX", model[512], data[512];
	const off_t at = (off_t)5 << 30;
	float x = 7;
	FILE *file;
	bool ok;

	assert_non_null(mkdtemp(folder));
	snprintf(model, sizeof model, "%s/m.onnx", folder);
	snprintf(data, sizeof data, "%s/w.bin", folder);
	file = fopen(model, "wb");
	write_external(file, "w.bin", "5368709120");
	fclose(file);
	file = fopen(data, "wb");
	ok = fseeko(file, at, SEEK_SET) == 0
	    && fwrite(&x, sizeof x, 1, file) == 1;
	fclose(file);
	ok = ok && onnx_read(&f->m, model, NULL, &f->a, &f->err);
	unlink(model);
	unlink(data);
	rmdir(folder);
	if (!ok)
		fail_msg("%s", f->err.text);
	assert_float_equal(
	    tensor_real(value_named(f->m.graph, "w")->constant, 0), 7, 0);
}

static void
bytes_alone_have_no_external_data(void **state)
{
	struct fixture *f = *state;
	const char *bytes;
	size_t n;

	assert_true(file_read(&bytes, &n,
	    source_path("tests/fuzz/corpus/fuzz_onnx/external"),
	    LIMIT_READ_TENSOR, &f->a, &f->err));
	assert_false(onnx_read_bytes(&f->m, bytes, n, NULL, &f->a, &f->err));
	assert_int_equal(f->err.kind, ERR_UNSUPPORTED);
}

static void
sequences_of_test_data_are_read(void **state)
{
	struct fixture *f = *state;
	const struct type type = {.kind = TYPE_SEQUENCE};
	struct tensor t;

	if (!onnx_read_value(&t, &type,
	        source_path("tests/fuzz/corpus/fuzz_wire/sequence"), &f->a,
	        &f->err))
		fail_msg("%s", f->err.text);
	assert_int_equal(t.kind, TENSOR_SEQUENCE);
	assert_int_equal(t.nitems, 2);
	assert_float_equal(tensor_real(&t.item[1], 2), 2, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(header_and_graph_are_read),
	    TEST(payloads_stay_in_the_file),
	    TEST(initialisers_that_are_inputs_can_be_overridden),
	    TEST(dimensions_are_bound_by_name_or_by_input),
	    TEST(bindings_must_mean_something),
	    TEST(sub_graphs_capture_outer_values),
	    TEST(functions_are_inlined_with_origins),
	    TEST(constants_are_folded),
	    TEST(sparse_initialisers_become_dense),
	    TEST(every_dtype_is_decoded),
	    TEST(unsorted_nodes_are_sorted_with_a_warning),
	    TEST(other_domains_are_opaque),
	    TEST(the_first_fault_is_reported),
	    TEST(all_faults_are_found_on_request),
	    TEST(models_above_two_gigabytes_are_read),
	    TEST(external_data_is_found_beside_the_model),
	    TEST(external_data_above_four_gigabytes_is_read),
	    TEST(bytes_alone_have_no_external_data),
	    TEST(sequences_of_test_data_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
