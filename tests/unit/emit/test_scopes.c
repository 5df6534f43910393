/* Modules and lines out of what exporters write. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit/scopes.h"

static struct arena arena;

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct scopes
scopes_of(const struct onnx_node *node, uint32_t n)
{
	struct onnx_nodes table = {.node = (struct onnx_node *)arena_copy(
	                               &arena, node, n * sizeof *node),
	    .n = n};
	struct scopes s;

	scopes_init(&s, &table, &arena);
	return s;
}

static const char *
path_of(const char *name)
{
	const struct onnx_node node = {.path = "", .name = name};
	struct scopes s = scopes_of(&node, 1);

	return s.scope[s.of[0].scope].path;
}

static void
test_names(void **state)
{
	(void)state;
	assert_string_equal(
	    path_of("/model/layers.0/attn/MatMul"), "model.layers.0.attn");
	/* torch repeats what a container is called */
	assert_string_equal(
	    path_of("/layer1/layer1.0/conv1/Conv"), "layer1.0.conv1");
	assert_string_equal(path_of("/a/a.0/a.0.0/Conv"), "a.0.0");
	assert_string_equal(path_of("/layer1/layer10/Conv"), "layer1.layer10");
	/* tf2onnx; TFLite joins names */
	assert_string_equal(path_of("model/dense/MatMul"), "model.dense");
	assert_string_equal(path_of("net/a/Relu;net/b/BiasAdd"), "net.a");
	assert_string_equal(path_of("Conv_3"), "");
	assert_string_equal(path_of("/Conv"), "");
	assert_string_equal(path_of("//Conv"), "");
	assert_string_equal(path_of(""), "");
}

static void
test_bodies(void **state)
{
	const struct onnx_node node = {
	    .path = "If_3/then_branch", .name = "Add_1"};
	struct scopes s = scopes_of(&node, 1);

	(void)state;
	assert_string_equal(s.scope[s.of[0].scope].path, "If_3.then_branch");
}

static void
test_torch(void **state)
{
	const struct onnx_meta meta[] = {
	    {"pkg.torch.onnx.name_scopes", "['', 'm', 'm.layers.0', 'add']"},
	    {"pkg.torch.onnx.class_hierarchy",
	        "['Net', \"a.Model\", 'a.It\\'s', 'aten.add']"},
	    {"pkg.torch.onnx.stack_trace",
	        "File \"/u/net.py\", line 35, in forward\n    y = self.m(x)\n"
	        "  File \"/v/site-packages/torch/nn/linear.py\", line 7, in f\n"
	        "    return F.linear(x)"},
	};
	const struct onnx_node node[] = {
	    {.path = "", .name = "node_add", .nmeta = 3, .meta = meta},
	    {.path = "", .name = "node_mul", .nmeta = 3, .meta = meta},
	};
	struct scopes s = scopes_of(node, 2);
	const struct node_source *of = &s.of[0];

	(void)state;
	assert_int_equal(s.n, 3);
	assert_string_equal(s.scope[0].class, "Net");
	assert_string_equal(s.scope[of->scope].path, "m.layers.0");
	assert_string_equal(s.scope[of->scope].name, "layers.0");
	assert_int_equal(s.of[1].scope, of->scope);
	assert_int_equal(s.nlines, 2);
	assert_int_equal(of->nlines, 2);
	assert_int_equal(
	    of->line, of->lines[0]); /* the framework's is not own */
	assert_string_equal(s.line[of->line].file, "/u/net.py");
	assert_int_equal(s.line[of->line].line, 35);
	assert_string_equal(s.line[of->line].function, "forward");
	assert_string_equal(s.line[of->line].text, "y = self.m(x)");
	assert_string_equal(s.line[of->lines[1]].text, "return F.linear(x)");
}

/* What is no list and no trace says nothing; no name makes a path for each of its
 * characters. */
static void
test_garbage(void **state)
{
	static const char *const texts[] = {"", "[", "['", "['a", "[]", "'",
	    "File \"", "File \"a", "File \"a\", line ", "File \"a\", line x",
	    "File \"a\nb\", line 3", "File \"a\", line 99999999999999999999"};
	char deep[20001];

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const struct onnx_meta meta[] = {
		    {"pkg.torch.onnx.name_scopes", texts[i]},
		    {"pkg.torch.onnx.stack_trace", texts[i]}};
		const struct onnx_node node = {
		    .path = "", .name = "x", .nmeta = 2, .meta = meta};
		struct scopes s = scopes_of(&node, 1);

		assert_int_equal(s.of[0].scope, SCOPE_ROOT);
		assert_int_equal(s.of[0].nlines, 0);
		assert_int_equal(s.of[0].line, LINE_NONE);
	}
	for (size_t i = 0; i < 20000; i++)
		deep[i] = i % 2 ? 'a' : '/';
	deep[20000] = '\0';
	assert_int_equal(strlen(path_of(deep)), 2 * 64 - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_names, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bodies, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_torch, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_garbage, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
