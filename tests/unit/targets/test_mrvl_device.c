/* The reader of a package's mod.json and mod.params: every rule of TVM's graph
 * executor and of the driver, each broken once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "targets/mrvl/device_read.h"

/* x -> a(x, p0) -> b -> c: a and c share storage 2, b is the output. */
static const char graph[] =
    "{\"nodes\":["
    "{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]},"
    "{\"op\":\"null\",\"name\":\"p0\",\"inputs\":[]},"
    "{\"op\":\"tvm_op\",\"name\":\"a\",\"attrs\":{\"func_name\":\"a\","
    "\"flatten_data\":\"0\",\"num_inputs\":\"2\",\"num_outputs\":\"1\"},"
    "\"inputs\":[[0,0,0],[1,0,0]]},"
    "{\"op\":\"tvm_op\",\"name\":\"b\",\"attrs\":{\"func_name\":\"b\","
    "\"flatten_data\":\"0\",\"num_inputs\":\"1\",\"num_outputs\":\"1\","
    "\"Compiler\":\"mrvl\"},\"inputs\":[[2,0,0]]},"
    "{\"op\":\"tvm_op\",\"name\":\"c\",\"attrs\":{\"func_name\":\"c\","
    "\"flatten_data\":\"0\",\"num_inputs\":\"1\",\"num_outputs\":\"1\"},"
    "\"inputs\":[[3,0,0]]},"
    "{\"op\":\"tvm_op\",\"name\":\"d\",\"attrs\":{\"func_name\":\"d\","
    "\"flatten_data\":\"0\",\"num_inputs\":\"1\",\"num_outputs\":\"1\"},"
    "\"inputs\":[[4,0,0]]}],"
    "\"arg_nodes\":[0,1],\"heads\":[[5,0,0]],"
    "\"attrs\":{\"shape\":[\"list_shape\",[[2,3],[3],[2,3],[6],[6],[6]]],"
    "\"storage_id\":[\"list_int\",[0,1,2,3,2,4]],"
    "\"device_index\":[\"list_int\",[1,1,1,1,1,1]],"
    "\"dltype\":[\"list_str\",[\"float32\",\"float32\",\"float32\","
    "\"float32\",\"float32\",\"float32\"]]},"
    "\"node_row_ptr\":[0,1,2,3,4,5,6]}";

static struct arena arena;
static struct buf params;
static struct device_facts facts;
static struct err err;

static void
put_name(struct buf *b, const char *name)
{
	buf_u64(b, strlen(name));
	buf_str(b, name);
}

static void
put_array(struct buf *b, uint64_t n)
{
	buf_u64(b, UINT64_C(0xDD5E40F096B4A13F));
	buf_u64(b, 0);
	buf_u32(b, 1);
	buf_u32(b, 0);
	buf_u32(b, 1);
	buf_u32(b, 0x00012002);
	buf_u64(b, n);
	buf_u64(b, 4 * n);
	for (uint64_t i = 0; i < n; i++)
		buf_u32(b, 0x3f800000);
}

static int
setup(void **state)
{
	(void)state;
	arena_init(&arena);
	buf_init(&params);
	err = (struct err){.kind = ERR_NONE};
	buf_u64(&params, UINT64_C(0xF7E58D4F05049CB7));
	buf_u64(&params, 0);
	buf_u64(&params, 1);
	put_name(&params, "p0");
	buf_u64(&params, 1);
	put_array(&params, 3);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	buf_release(&params);
	arena_release(&arena);
	return 0;
}

static bool
check(const char *json)
{
	err = (struct err){.kind = ERR_NONE};
	return device_check(
	    &facts, json, strlen(json), params.data, params.n, &err);
}

/* The graph with the first `from` made `to`. */
static const char *
with(const char *from, const char *to)
{
	const char *at = strstr(graph, from);

	assert_non_null(at);
	return arena_printf(&arena, "%.*s%s%s", (int)(at - graph), graph, to,
	    at + strlen(from));
}

static void
test_facts(void **state)
{
	(void)state;
	assert_true(check(graph));
	assert_int_equal(facts.ninputs, 1);
	assert_int_equal(facts.nparams, 1);
	assert_int_equal(facts.noutputs, 1);
	assert_int_equal(facts.nfunctions, 4);
	assert_int_equal(facts.nregions, 1);
	assert_int_equal(facts.nstorage, 5);
	assert_int_equal(facts.param_bytes, 12);
	assert_int_equal(facts.pool_bytes, 24 + 12 + 24 + 24 + 24);
}

static const struct {
	const char *from, *to, *words;
} broken[] = {
    {"\"nodes\"", "\"knots\"", "knots"},
    {"\"op\":\"null\"", "\"op\":\"conv\"", "op must be null or tvm_op"},
    {"\"name\":\"p0\"", "\"name\":\"x\"", "names must differ"},
    {"\"name\":\"p0\"", "\"name\":1", "name"},
    {"\"inputs\":[]", "\"inputs\":[[0,0,0]]", "has no inputs"},
    {"\"num_inputs\":\"2\"", "\"num_inputs\":\"3\"", "num_inputs must be"},
    {"\"num_inputs\":\"2\"", "\"num_inputs\":2", "must be strings"},
    {"\"num_inputs\":\"2\"", "\"num_inputs\":\"2x\"", "in decimals"},
    {"\"num_outputs\":\"1\"", "\"num_outputs\":\"0\"", "must have outputs"},
    {"\"num_outputs\":\"1\"", "\"num_outputs\":\"2\"", "node_row_ptr"},
    {"\"func_name\":\"a\",", "", "func_name"},
    {"\"Compiler\":\"mrvl\"", "\"Compiler\":\"ethos\"", "Compiler must be"},
    {"[[0,0,0],[1,0,0]]", "[[2,0,0],[1,0,0]]", "node 'a': an input"},
    {"[[0,0,0],[1,0,0]]", "[[0,1,0],[1,0,0]]", "node 'a': an input"},
    {"[[0,0,0],[1,0,0]]", "[[0,0,0],[1,0]]", "a list of 3"},
    {"[[0,0,0],[1,0,0]]", "[[-1,0,0],[1,0,0]]", "whole number"},
    {"\"arg_nodes\":[0,1]", "\"arg_nodes\":[1,0]", "in order"},
    {"\"arg_nodes\":[0,1]", "\"arg_nodes\":[0]", "a list of 2"},
    {"\"heads\":[[5,0,0]]", "\"heads\":[[0,0,0]]", "must be written"},
    {"\"heads\":[[5,0,0]]", "\"heads\":[]", "no heads"},
    {"\"heads\":[[5,0,0]]", "\"heads\":[[5,0,0],[5,0,0]]", "for itself"},
    {"\"heads\":[[5,0,0]]", "\"heads\":[[4,0,0]]", "share no storage"},
    {"list_shape", "list_int", "must be a list_shape"},
    {"[2,3],[3]", "[2,3,1,1,1,1,1,1,1],[3]", "at most 8"},
    {"[2,3],[3]", "[2,-3],[3]", "no size"},
    {"[2,3],[3]", "[2147483647,2147483647],[3]", "too large"},
    {"[2,3],[3]", "[2,3],[4]", "of its shape"},
    {"[2,3],[3]", "[2,3],[3,1]", "of its rank"},
    {"[0,1,2,3,2,4]", "[0,1,2,2,3,4]", "still read"},
    {"[0,1,2,3,2,4]", "[0,1,0,3,2,4]", "share no storage"},
    {"[0,1,2,3,2,4]", "[0,1,2,3,2,3]", "share no storage"},
    {"[0,1,2,3,2,4]", "[0,1,2,3,2,5]", "is not used"},
    {"[0,1,2,3,2,4]", "[0,1,2,3,2]", "a list of 6"},
    {"[0,1,2,3,2,4]", "[0,1,2,3,2,9]", "storage_id"},
    {"[\"list_int\",[1,1,1", "[\"list_int\",[1,2,1", "the CPU"},
    {"\"float32\",\"float32\"", "\"float32\",\"int32\"", "element type"},
    {"\"float32\",\"float32\"", "\"float32\",\"floaty\"", "element type"},
    {"\"float32\",\"float32\"", "\"float32\",\"string\"", "element type"},
    {"[0,1,2,3,4,5,6]", "[0,1,2,3,4,5,7]", "node_row_ptr"},
    {"[0,1,2,3,4,5,6]", "[0,1,2,4,4,5,6]", "node_row_ptr[3] must be 3"},
    {"\"attrs\":{\"shape\"", "\"attrs\":{\"x\":1,\"shape\"", "'x'"},
};

static void
test_every_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		const char *json = with(broken[i].from, broken[i].to);

		if (check(json) || err.kind != ERR_INPUT
		    || !strstr(err.text, broken[i].words))
			fail_msg("%s -> %s: '%s' lacks '%s'", broken[i].from,
			    broken[i].to, err.text, broken[i].words);
	}
}

/* Every byte of mod.params but those of its figures is looked at, and no
 * beginning of it will do. */
static void
test_params(void **state)
{
	size_t figures = params.n - 12;

	(void)state;
	for (size_t n = 0; n < params.n; n++) {
		err = (struct err){.kind = ERR_NONE};
		assert_false(device_check(
		    &facts, graph, strlen(graph), params.data, n, &err));
		assert_int_equal(err.kind, ERR_INPUT);
	}
	for (size_t i = 0; i < params.n; i++) {
		params.data[i] = (char)(params.data[i] ^ 0x40);
		assert_int_equal(check(graph), i >= figures);
		params.data[i] = (char)(params.data[i] ^ 0x40);
	}
	buf_u8(&params, 0);
	assert_false(check(graph));
	assert_non_null(strstr(err.text, "1 bytes after the last array"));
}

/* Graphs that are too much: functions, inputs. */
static void
test_limits(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b);
	buf_str(&b, "{\"nodes\":[");
	for (int i = 0; i < 513; i++)
		buf_printf(&b,
		    "%s{\"op\":\"tvm_op\",\"name\":\"f%d\",\"attrs\":{"
		    "\"func_name\":\"f\",\"flatten_data\":\"0\","
		    "\"num_inputs\":\"0\",\"num_outputs\":\"1\"},"
		    "\"inputs\":[]}",
		    i ? "," : "", i);
	buf_str(&b, "]}");
	assert_false(check(b.data));
	assert_non_null(strstr(err.text, "node 'f512'"));
	assert_non_null(strstr(err.text, "at most 512"));
	buf_release(&b);
	assert_false(check("[]"));
	assert_false(check("{"));
	assert_false(check("{\"nodes\":[]}"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_facts, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_every_rule, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_params, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
